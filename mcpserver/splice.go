package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// A span says where a member of an object stands: its value from start to
// end, and the member itself, with the comma before it, from begin.
type span struct{ begin, start, end int }

// find looks for a member of the object, which is valid JSON. Most calls end
// at the search for the name.
func find(object []byte, name string) (at span, ok bool) {
	if !bytes.Contains(object, []byte(`"`+name+`"`)) {
		return at, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return at, false
	}
	for {
		begin := int(d.InputOffset())
		t, err := d.ReadToken()
		if err != nil || t.Kind() != '"' {
			return at, false
		}
		found := t.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return at, false
		}
		if found {
			end := int(d.InputOffset())
			return span{begin, end - len(v), end}, true
		}
	}
}

// get returns the value of a member of the object, nil if it has none.
func get(object []byte, name string) json.RawMessage {
	at, ok := find(object, name)
	if !ok {
		return nil
	}
	return object[at.start:at.end:at.end]
}

// put returns the object with a member set; all other bytes stay.
func put(object []byte, name string, value []byte) json.RawMessage {
	at, ok := find(object, name)
	if !ok {
		return extend(object, string(quote(name))+":"+string(value))
	}
	b := make([]byte, 0, len(object)+len(value))
	b = append(b, object[:at.start]...)
	b = append(b, value...)
	return append(b, object[at.end:]...)
}

// drop returns the object without a member.
func drop(object []byte, name string) json.RawMessage {
	at, ok := find(object, name)
	if !ok {
		return object
	}
	rest := object[at.end:]
	if object[at.begin-1] == '{' { // the first member: the comma is behind it
		rest = bytes.TrimLeft(rest, " \t\r\n")
		rest = bytes.TrimPrefix(rest, []byte{','})
	}
	return append(bytes.Clone(object[:at.begin]), rest...)
}

// edit returns the object with the members of a name changed, however it is
// written and however often: f returns another value, the same, or nil for none.
// It is the object itself if nothing changes.
func edit(object []byte, name string, f func(value json.RawMessage) json.RawMessage) json.RawMessage {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return object
	}
	changed, b := false, []byte{'{'}
	for d.PeekKind() == '"' {
		begin := int(d.InputOffset())
		t, err := d.ReadToken()
		if err != nil {
			return object
		}
		found := t.String() == name
		after := int(d.InputOffset())
		v, err := d.ReadValue()
		if err != nil {
			return object
		}
		value := json.RawMessage(object[int(d.InputOffset())-len(v) : d.InputOffset()])
		if found {
			old := value
			value = f(old)
			changed = changed || !bytes.Equal(old, value)
		}
		if value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, bytes.TrimLeft(object[begin:after], " \t\r\n,")...), ':')
		b = append(b, value...)
	}
	if !changed {
		return object
	}
	return append(b, '}')
}

// extend returns the object with members added at its end.
func extend(object []byte, members ...string) json.RawMessage {
	body := bytes.TrimRight(object[:bytes.LastIndexByte(object, '}')], " \t\r\n")
	size := len(body) + 1
	for _, m := range members {
		size += len(m) + 1
	}
	b := append(make([]byte, 0, size), body...)
	for _, m := range members {
		if len(m) == 0 {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, m...)
	}
	return append(b, '}')
}

// quote writes a JSON string; invalid UTF-8 is replaced.
func quote(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // the error tells of the replacement
	return b
}

// isObject tells objects from other values by their first and last bytes.
func isObject(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 1 && raw[0] == '{' && raw[len(raw)-1] == '}'
}

// validObject reads the whole value.
func validObject(raw []byte) bool {
	return isObject(raw) && jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true))
}
