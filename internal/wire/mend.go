package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A Kind is what a definition defines.
type Kind string

// The kinds of definitions that MCP lists.
const (
	KindTool     Kind = "tool"
	KindPrompt   Kind = "prompt"
	KindResource Kind = "resource"
	KindTemplate Kind = "resource template"
)

// Mend returns a definition that is valid by the published schema of a version of
// MCP: clients that decode strictly refuse a whole list because of one member.
// Optional members that are not valid are removed, and of members with the same
// name all but one; a required member gets the value that the definition suggests.
// The reasons are those of all changes. A definition that is valid is returned as
// it is, without a copy. One that cannot be made valid is an error.
func Mend(definition json.RawMessage, kind Kind, version string) (mended json.RawMessage, reasons []string, err error) {
	m := mender{version: version}
	mended, err = m.mend(definition, shapes()[kind])
	return mended, m.reasons, err
}

// MendResult is [Mend] for the result of a method about a subject, the URI or name
// in its params. A result that cannot be made valid, or of another method, stays as
// it is.
func MendResult(result json.RawMessage, method, subject, version string) json.RawMessage {
	return mendMessage(result, resultShapes()[method], subject, version)
}

// MendParams is [Mend] for the params of a request or notification of a server.
// Those that cannot be made valid, or of another method, stay as they are.
func MendParams(params json.RawMessage, method, version string) json.RawMessage {
	return mendMessage(params, paramsShapes()[method], "", version)
}

func mendMessage(raw json.RawMessage, of *shape, subject, version string) json.RawMessage {
	if of == nil {
		return raw
	}
	m := mender{version: version, subject: subject}
	if mended, err := m.mend(raw, of); err == nil {
		return mended
	}
	return raw
}

// A shape describes the values that a member may have in MCP's published schema.
type shape struct {
	begins  string // the first bytes of a value, such as tf for a boolean
	what    string // what the value is called in reasons
	fields  []field
	values  *shape                                              // of elements, or of members that no field names; nil if they may be anything
	accepts func(raw json.RawMessage) bool                      // is nil if every value of the type is valid
	choose  func(raw json.RawMessage, version string) *shape    // the shape of an object that has several; nil if its value has none
	convert func(raw json.RawMessage, v string) json.RawMessage // gives what is not valid another form; it may return nil
}

// A field is a member that an object may have.
type field struct {
	name string
	*shape
	required bool
	missing  func(m *mender, object json.RawMessage) json.RawMessage // the value where it is required and missing; it may return nil
	first    string                                                  // version that has it, "" for all
	last     string                                                  // version that has it, "" for all
}

func (f *field) in(version string) bool {
	return version >= f.first && (f.last == "" || version <= f.last)
}

// A mender makes one value valid.
type mender struct {
	version string
	subject string // of the request whose result it is
	path    []string
	reasons []string
}

// maxReasons is how many reasons are kept for one definition.
const maxReasons = 20

// because notes why something was changed.
func (m *mender) because(format string, args ...any) {
	if len(m.reasons) < maxReasons {
		m.reasons = append(m.reasons, strings.Join(m.path, "")+" "+fmt.Sprintf(format, args...))
	}
}

// mend returns the value as it has to be.
func (m *mender) mend(raw json.RawMessage, of *shape) (json.RawMessage, error) {
	s := scanner{Scanner: jsontree.Scanner{Data: raw}, most: lenientDepth, names: make([][]byte, 0, manyNames)}
	if _, err := s.value(); err != nil || s.end() != nil {
		clean, err := unique(raw)
		if err != nil {
			return nil, err
		}
		m.because("has members of the same name, or text that is not Unicode")
		raw = clean
	}
	trimmed := bytes.TrimSpace(raw)
	mended, err := m.value(trimmed, of)
	if err == nil && &mended[0] == &trimmed[0] && len(mended) == len(trimmed) {
		return raw, nil // as it is, with white space
	}
	return mended, err
}

// unique returns JSON in which no object has two members of one name, and all text
// is Unicode. Of the members of the outermost object the first counts, as for
// [Get]; within it the last one, as for most readers.
func unique(raw json.RawMessage) (json.RawMessage, error) {
	v, err := jsontree.Parse(unicodeOf(raw), lenientDepth)
	if err != nil {
		return nil, err
	}
	return appendUnique(nil, v, true), nil
}

func appendUnique(b []byte, v *jsontree.Value, outermost bool) []byte {
	if v.Kind&(jsontree.KindArray|jsontree.KindObject) == 0 {
		return append(b, v.Raw...)
	}
	counts := map[string]int{} // the member of each name that counts
	for i, kid := range v.Kids {
		if _, had := counts[kid.Name]; !had || !outermost {
			counts[kid.Name] = i
		}
	}
	opening, begun := v.Raw[0], false
	b = append(b, opening)
	for i, kid := range v.Kids {
		if opening == '{' && counts[kid.Name] != i {
			continue
		}
		if begun {
			b = append(b, ',')
		}
		if begun = true; opening == '{' {
			b = append(AppendQuote(b, kid.Name), ':')
		}
		b = appendUnique(b, kid, false)
	}
	return append(b, opening+2) // the closing bracket
}

// value returns a value as it has to be, or why it cannot be kept.
func (m *mender) value(raw json.RawMessage, of *shape) (json.RawMessage, error) {
	mended, err := m.check(raw, of)
	if err == nil || of.convert == nil {
		return mended, err
	}
	converted := of.convert(raw, m.version)
	if converted == nil {
		return nil, err
	}
	m.because("is replaced: %v", err)
	return m.check(converted, of)
}

func (m *mender) check(raw json.RawMessage, of *shape) (json.RawMessage, error) {
	if len(raw) == 0 || strings.IndexByte(of.begins, raw[0]) < 0 {
		return nil, fmt.Errorf("%.40q is not %s", raw, of.what)
	}
	if of.choose != nil {
		if of = of.choose(raw, m.version); of == nil {
			return nil, fmt.Errorf("there is no content of type %.40q", Unquote(Get(raw, "type")))
		}
	}
	var err error
	switch {
	case raw[0] == '{' && (of.fields != nil || of.values != nil):
		raw, err = m.object(raw, of)
	case raw[0] == '[' && of.values != nil:
		raw = m.elements(raw, of.values)
	}
	if err == nil && of.accepts != nil && !of.accepts(raw) {
		err = fmt.Errorf("%.40q is not %s", raw, of.what)
	}
	return raw, err
}

// object mends the members of an object.
func (m *mender) object(raw json.RawMessage, of *shape) (json.RawMessage, error) {
	var has uint64 // bit i: field i
	depth := len(m.path)
	mended := Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
		shape, bit := of.values, uint64(0)
		for i := range of.fields {
			if f := &of.fields[i]; f.name == name && f.in(m.version) {
				shape, bit = f.shape, 1<<i
			}
		}
		if shape == nil {
			return value
		}
		m.path = append(m.path, pathOf(depth, name))
		defer func() { m.path = m.path[:depth] }()
		value, err := m.value(value, shape)
		if err != nil {
			m.because("is left out: %v", err)
			return nil
		}
		has |= bit
		return value
	})
	for i := range of.fields {
		f := &of.fields[i]
		if !f.required || has&(1<<i) != 0 || !f.in(m.version) {
			continue
		}
		var value json.RawMessage
		if f.missing != nil {
			value = f.missing(m, mended)
		}
		if value == nil {
			return nil, fmt.Errorf("it has no valid %s", f.name)
		}
		m.because("has no valid %s, which is now %.200s", f.name, value)
		mended = Append(mended, string(Quote(f.name))+":"+string(value))
	}
	return mended, nil
}

func pathOf(depth int, name string) string {
	if name = fmt.Sprintf("%.100s", name); depth > 0 {
		name = "." + name
	}
	return name
}

// elements mends the elements of an array. Those that cannot be kept are removed.
func (m *mender) elements(raw json.RawMessage, of *shape) json.RawMessage {
	depth, i := len(m.path), -1
	return EditElements(raw, func(value json.RawMessage) json.RawMessage {
		i++
		m.path = append(m.path, fmt.Sprintf("[%d]", i))
		defer func() { m.path = m.path[:depth] }()
		value, err := m.value(value, of)
		if err != nil {
			m.because("is left out: %v", err)
			return nil
		}
		return value
	})
}
