package dialect

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A value is JSON as a tree that keeps the order of members and the digits of
// numbers.
type value struct {
	kind jsontext.Kind // '{', '[', '"', '0', 't', 'f', 'n'
	name string        // the name, if it is a member of an object
	text string        // of a string or number
	kids []*value      // items of an array, members of an object

	index  map[string]*value // of the members of a large object, once one was asked for
	schema *node             // what it is as a schema, nil if it is none
}

func readValue(raw []byte) (*value, error) {
	return readFrom(jsontext.NewDecoder(bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
}

func readFrom(d *jsontext.Decoder) (*value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: t.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = t.String()
	case '{', '[':
		err = v.readKids(d)
	}
	return v, err
}

func (v *value) readKids(d *jsontext.Decoder) error {
	for {
		switch d.PeekKind() {
		case '}', ']':
			_, err := d.ReadToken()
			return err
		}
		name := ""
		if v.kind == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return err
			}
			name = t.String()
		}
		kid, err := readFrom(d)
		if err != nil {
			return err
		}
		kid.name = name
		v.kids = append(v.kids, kid)
	}
}

// get returns the member of that name, nil if there is none, or if v is nil or
// no object. Of duplicates the last one counts.
func (v *value) get(name string) *value {
	if v == nil || v.kind != '{' {
		return nil
	}
	if len(v.kids) > 32 {
		return v.large(name)
	}
	for i := len(v.kids) - 1; i >= 0; i-- {
		if v.kids[i].name == name {
			return v.kids[i]
		}
	}
	return nil
}

func (v *value) large(name string) *value {
	if v.index == nil {
		v.index = make(map[string]*value, len(v.kids))
		for _, kid := range v.kids {
			v.index[kid.name] = kid
		}
	}
	return v.index[name]
}

// items returns the items of an array, none of nil or anything else.
func (v *value) items() []*value {
	if v == nil || v.kind != '[' {
		return nil
	}
	return v.kids
}

// members returns the members of an object, none of nil or anything else.
func (v *value) members() []*value {
	if v == nil || v.kind != '{' {
		return nil
	}
	return v.kids
}

// is reports whether v is the string s.
func (v *value) is(s string) bool { return v != nil && v.kind == '"' && v.text == s }

// texts returns the strings in an array as a set.
func (v *value) texts() map[string]bool {
	set := make(map[string]bool, len(v.items()))
	for _, item := range v.items() {
		if item.kind == '"' {
			set[item.text] = true
		}
	}
	return set
}

func (v *value) isBool() bool { return v.kind == 't' || v.kind == 'f' }

// isSchema reports whether v could be a schema.
func (v *value) isSchema() bool { return v.kind == '{' || v.isBool() }

// child returns what one token of a JSON pointer leads to.
func (v *value) child(token string) *value {
	if v.kind != '[' {
		return v.get(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.kids) {
		return v.kids[i]
	}
	return nil
}

// String writes v for people, cut where it gets long.
func (v *value) String() string { return clip(string(v.append(nil)), 80) }

// clip cuts text between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

func (v *value) append(b []byte) []byte {
	switch v.kind {
	case '"':
		b, _ = jsontext.AppendQuote(b, clip(v.text, 80)) // its only error is the replacement of bad UTF-8
		return b
	case '0':
		return append(b, v.text...)
	case 't':
		return append(b, "true"...)
	case 'f':
		return append(b, "false"...)
	case 'n':
		return append(b, "null"...)
	}
	b = append(b, byte(v.kind))
	for i, kid := range v.kids {
		if len(b) > 100 { // the rest is cut anyway
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		if v.kind == '{' {
			b, _ = jsontext.AppendQuote(b, kid.name)
			b = append(b, ':')
		}
		b = kid.append(b)
	}
	return append(b, byte(v.kind)+2) // the closing bracket
}
