package toolpost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// A Definition is the description of a tool that a model receives.
type Definition struct {
	Name        string
	Title       string
	Description string
	Input       *schema.Schema // never nil in a Set
	Output      *schema.Schema // nil if the structure of results is not declared
	Annotations Annotations
	Meta        json.RawMessage // the MCP _meta object, nil if none

	// Raw is the definition as a foreign server wrote it, if one did.
	// When the definition is encoded, the order of members and the members that
	// the fields above do not have (icons, execution…) come from Raw.
	Raw json.RawMessage
}

// Annotations are a tool's hints to clients (MCP 2026-07-28, ToolAnnotations).
// Nil means that the author made no statement. They are claims of the author,
// not facts.
type Annotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// The members of the MCP Tool object that fields of a Definition hold.
const (
	memberName        = "name"
	memberTitle       = "title"
	memberDescription = "description"
	memberInput       = "inputSchema"
	memberOutput      = "outputSchema"
	memberAnnotations = "annotations"
	memberMeta        = "_meta"
)

// MarshalJSON writes the MCP Tool object. Members of Raw keep their order.
// They also keep their bytes unless a field has another value.
func (d Definition) MarshalJSON() ([]byte, error) {
	w := objectWriter{written: map[string]bool{}}
	err := eachMember(d.Raw, func(name string, source json.RawMessage) error {
		value, err := d.member(name, source)
		w.put(name, value)
		return err
	})
	for _, name := range []string{
		memberName, memberTitle, memberDescription, memberInput, memberOutput, memberAnnotations, memberMeta,
	} {
		if err == nil && !w.written[name] {
			var value json.RawMessage
			value, err = d.member(name, nil)
			w.put(name, value)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encode definition of %s: %w", d.Name, err)
	}
	return w.end(), nil
}

// member returns the value of one member, nil to leave it out. Source is what
// the definition's source wrote there, nil if nothing.
func (d *Definition) member(name string, source json.RawMessage) (json.RawMessage, error) {
	switch name {
	case memberName:
		return stringMember(d.Name, source), nil
	case memberTitle:
		return stringMember(d.Title, source), nil
	case memberDescription:
		return stringMember(d.Description, source), nil
	case memberInput:
		return schemaMember(d.Input), nil
	case memberOutput:
		return schemaMember(d.Output), nil
	case memberAnnotations:
		return d.Annotations.member(source)
	case memberMeta:
		return d.Meta, nil
	}
	return source, nil
}

func stringMember(s string, source json.RawMessage) json.RawMessage {
	var was string
	switch {
	case source != nil && codec.Decode(source, &was) == nil && was == s:
		return source
	case s == "":
		return nil
	}
	return quote(s)
}

func schemaMember(s *schema.Schema) json.RawMessage {
	if s == nil {
		return nil
	}
	return s.Raw()
}

func (a Annotations) member(source json.RawMessage) (json.RawMessage, error) {
	value, err := codec.Encode(a)
	if err != nil || source == nil {
		if string(value) == "{}" {
			return nil, err
		}
		return value, err
	}
	var was Annotations
	if codec.Decode(source, &was) == nil {
		if same, err := codec.Encode(was); err == nil && bytes.Equal(same, value) {
			return source, nil
		}
	}
	return value, nil
}

// quote writes s as a JSON string; invalid UTF-8 becomes U+FFFD.
func quote[T string | json.RawMessage](s T) json.RawMessage {
	b, _ := jsontext.AppendQuote(nil, s) // its only error is the replacement
	return b
}

// An objectWriter writes a JSON object member by member.
type objectWriter struct {
	bytes.Buffer
	written map[string]bool
}

// put writes one member, unless it is nil or was written before.
func (w *objectWriter) put(name string, value json.RawMessage) {
	if value == nil || w.written[name] {
		return
	}
	separator := byte(',')
	if len(w.written) == 0 {
		separator = '{'
	}
	w.written[name] = true
	w.WriteByte(separator)
	w.Write(quote(name))
	w.WriteByte(':')
	w.Write(value)
}

func (w *objectWriter) end() []byte {
	if len(w.written) == 0 {
		return []byte("{}")
	}
	w.WriteByte('}')
	return w.Bytes()
}

// eachMember calls f for every member of the object, in order, until an error.
func eachMember(object json.RawMessage, f func(name string, value json.RawMessage) error) error {
	if len(object) == 0 {
		return nil
	}
	if !wire.IsObject(object) || !wire.Valid(object) {
		return fmt.Errorf("want a JSON object, got %.20q", object)
	}
	for name, value := range wire.Members(object) {
		if err := f(name, value); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalJSON reads an MCP Tool object. Of several members of one name, the first counts. An
// output schema and annotations that are not valid are left out.
func (d *Definition) UnmarshalJSON(raw []byte) error {
	read, _, err := parseDefinition(bytes.Clone(raw))
	if err != nil {
		return err
	}
	*d = read
	return nil
}

// parseDefinition returns the definition that raw is, which it keeps. An output schema
// that is not valid is left out, and badOutput is the reason.
func parseDefinition(raw json.RawMessage) (d Definition, badOutput, err error) {
	first := map[string]json.RawMessage{}
	for name, value := range wire.Members(raw) {
		if first[name] == nil {
			first[name] = value
		}
	}
	text := func(name string) string { return wire.Unquote(first[name]) }
	d = Definition{Name: text(memberName), Title: text(memberTitle), Description: text(memberDescription), Raw: raw}
	if d.Input, err = objectSchema(first[memberInput]); err != nil {
		return d, nil, fmt.Errorf("its inputSchema is %w", err)
	}
	if output := first[memberOutput]; output != nil {
		d.Output, badOutput = objectSchema(output)
	}
	if meta := first[memberMeta]; wire.IsObject(meta) {
		d.Meta = meta
	}
	if json.Unmarshal(first[memberAnnotations], &d.Annotations) != nil {
		d.Annotations = Annotations{}
	}
	return d, badOutput, nil
}

// objectSchema parses a schema that describes an object, or may do so.
func objectSchema(raw json.RawMessage) (*schema.Schema, error) {
	switch kind := wire.Get(raw, "type"); {
	case raw == nil:
		return nil, errors.New("missing, not a JSON object")
	case !wire.IsObject(raw):
		return nil, fmt.Errorf("%.40s, not a JSON object", raw)
	case kind != nil && !strings.Contains(string(kind), `"object"`):
		return nil, fmt.Errorf(`of type %.40s, want "object"`, kind)
	}
	return schema.Parse(raw)
}
