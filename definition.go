package toolpost

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON writes the MCP Tool object. Members of Source keep their order
// and bytes; those that the fields of d know are written from the fields.
func (d *Definition) MarshalJSON() ([]byte, error) {
	known, err := d.members()
	if err != nil {
		return nil, fmt.Errorf("encode definition of %s: %w", d.Name, err)
	}
	var b bytes.Buffer
	b.WriteByte('{')
	written := map[string]bool{}
	put := func(name string, value json.RawMessage) {
		if value == nil || written[name] {
			return
		}
		written[name] = true
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(jsonString(name))
		b.WriteByte(':')
		b.Write(value)
	}
	if err := eachMember(d.Source, func(name string, value json.RawMessage) {
		for _, m := range known {
			if m.name == name {
				value = m.value
			}
		}
		put(name, value)
	}); err != nil {
		return nil, fmt.Errorf("encode definition of %s: %w", d.Name, err)
	}
	for _, m := range known {
		put(m.name, m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type member struct {
	name  string
	value json.RawMessage // nil leaves the member out
}

func (d *Definition) members() ([]member, error) {
	annotations, err := d.annotations()
	if err != nil {
		return nil, err
	}
	m := []member{
		{"name", json.RawMessage(jsonString(d.Name))},
		{"title", optionalString(d.Title)},
		{"description", optionalString(d.Description)},
		{"inputSchema", nil}, {"outputSchema", nil},
		{"annotations", annotations}, {"_meta", d.Meta},
	}
	if d.Input != nil {
		m[3].value = d.Input.Raw()
	}
	if d.Output != nil {
		m[4].value = d.Output.Raw()
	}
	return m, nil
}

// annotations returns the source's bytes as long as the field says the same.
func (d *Definition) annotations() (json.RawMessage, error) {
	var source struct {
		Annotations json.RawMessage `json:"annotations"`
	}
	if len(d.Source) > 0 {
		var a Annotations
		if err := decode(d.Source, &source); err == nil && source.Annotations != nil &&
			decode(source.Annotations, &a) == nil && a.equal(d.Annotations) {
			return source.Annotations, nil
		}
	}
	if d.Annotations == (Annotations{}) {
		return nil, nil
	}
	return encode(d.Annotations)
}

func (a Annotations) equal(b Annotations) bool {
	x, _ := encode(a)
	y, _ := encode(b)
	return bytes.Equal(x, y)
}

func jsonString(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8 was replaced
		return string(b)
	}
	return string(b)
}

func optionalString(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(jsonString(s))
}

// eachMember calls f for every member of the object, in order.
func eachMember(object json.RawMessage, f func(name string, value json.RawMessage)) error {
	if len(object) == 0 {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		f(key, bytes.Clone(value))
	}
	return nil
}
