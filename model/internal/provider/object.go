package provider

import (
	"bytes"
	"encoding/json"

	"github.com/toolpost/toolpost/internal/wire"
)

// An Object writes a JSON object. Its values keep their bytes, which an encoder
// would change.
type Object struct{ body []byte } // without the closing brace

// Extend returns an object that begins with the members of another one.
func Extend(object json.RawMessage) *Object {
	body := bytes.TrimRight(object[:len(object)-1], " \t\r\n")
	return &Object{body[:len(body):len(body)]}
}

// Add adds a member; one without a value is left out.
func (o *Object) Add(name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	switch {
	case len(o.body) == 0:
		o.body = append(o.body, '{')
	case o.body[len(o.body)-1] != '{':
		o.body = append(o.body, ',')
	}
	o.body = append(append(wire.AppendQuote(o.body, name), ':'), value...)
}

// AddText adds a member with a text.
func (o *Object) AddText(name, text string) { o.Add(name, wire.Quote(text)) }

// JSON returns the object.
func (o *Object) JSON() json.RawMessage {
	if len(o.body) == 0 {
		return json.RawMessage("{}")
	}
	return append(o.body[:len(o.body):len(o.body)], '}')
}

// Array returns a JSON array, whose items keep their bytes.
func Array(items []json.RawMessage) json.RawMessage {
	list := []byte{'['}
	for i, item := range items {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
	}
	return append(list, ']')
}
