package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// An object is a JSON object whose members keep their order and bytes.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

var errNotObject = errors.New("not a JSON object")

// parseObject splits raw; the members share its memory.
func parseObject(raw []byte) (object, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return nil, errNotObject
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var o object
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := d.InputOffset()
		m.value = raw[end-int64(len(value)) : end : end]
		o = append(o, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errNotObject // something follows it
	}
	return o, nil
}

func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// text returns a member that is a string, else "".
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o.get(name), &s) != nil {
		return ""
	}
	return s
}

// set replaces a member in place, or adds it. It never changes o.
func (o object) set(name string, value json.RawMessage) object {
	c := append(make(object, 0, len(o)+1), o...)
	for i := range c {
		if c[i].name == name {
			c[i].value = value
			return c
		}
	}
	return append(c, member{name, value})
}

// without returns o without the members that drop accepts.
func (o object) without(drop func(name string) bool) object {
	c := make(object, 0, len(o))
	for _, m := range o {
		if !drop(m.name) {
			c = append(c, m)
		}
	}
	return c
}

func (o object) encode() json.RawMessage {
	size := 2
	for _, m := range o {
		size += len(m.name) + len(m.value) + 6
	}
	b := append(make([]byte, 0, size), '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quote(m.name)...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

func quote(s string) json.RawMessage {
	b, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 is replaced
	return b
}
