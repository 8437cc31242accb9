package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// A member of an object, in the order of its text.
type member struct {
	begin      int // of the name
	name       []byte
	start, end int // of the value
}

// errEnough ends a scan early.
var errEnough = errors.New("the rest is not read")

var errNotObject = errors.New("it is not a JSON object")

// each reads the members of an object until f returns false. It reports
// whether all that was read is valid.
func each(object []byte, f func(member) bool) bool {
	s := lenient(object)
	if s.Peek() != '{' {
		return false
	}
	begin := s.Pos + 1
	err := s.object(func(name []byte) error {
		value, err := s.value()
		if err == nil && !f(member{begin, name, s.Pos - len(value), s.Pos}) {
			return errEnough
		}
		begin = s.Pos
		return err
	})
	return err == errEnough || err == nil && s.end() == nil
}

// Members iterates over the members of an object, in order and with
// duplicates. It ends early where the object is not valid JSON.
func Members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		each(object, func(m member) bool {
			return yield(Unquote(m.name), object[m.start:m.end:m.end])
		})
	}
}

// Elements iterates over the elements of an array. It ends early where the array
// is not valid JSON.
func Elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		s := lenient(array)
		if s.Peek() != '[' {
			return
		}
		_ = s.array(func() error {
			value, err := s.value()
			if err == nil && !yield(value) {
				return errEnough
			}
			return err
		})
	}
}

// Get returns the value of the first member with a name, nil if the object has
// none.
func Get(object []byte, name string) json.RawMessage {
	var value json.RawMessage
	each(object, func(m member) bool {
		text := m.name[1 : len(m.name)-1]
		if found := string(text) == name || bytes.IndexByte(text, '\\') >= 0 && Unquote(m.name) == name; !found {
			return true
		}
		value = object[m.start:m.end:m.end]
		return false
	})
	return value
}

// A Member is one of an object. One without a value is to be removed.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Set returns the object with a member set; see [SetAll].
func Set(object []byte, name string, value []byte) json.RawMessage {
	return SetAll(object, Member{name, value})
}

// SetAll returns the object with members set: in their places, or at its end.
// Other spellings of their names are removed, all other members stay. Other JSON is
// replaced by an object.
func SetAll(object []byte, set ...Member) json.RawMessage {
	done := make([]bool, len(set))
	edited, ok := edit(object, func(name string, value json.RawMessage) json.RawMessage {
		i := slices.IndexFunc(set, func(m Member) bool { return m.Name == name })
		switch {
		case i < 0 && slices.ContainsFunc(set, func(m Member) bool { return Alike(name, m.Name) }):
			return nil // some servers would take it instead
		case i < 0:
			return value
		case done[i]:
			return nil // a second one of this name
		}
		done[i] = true
		return set[i].Value
	})
	if !ok {
		edited = nil
		clear(done)
	}
	added := make([]Member, 0, len(set))
	for i, m := range set {
		if !done[i] {
			added = append(added, m)
		}
	}
	return Add(edited, added...)
}

// Add returns the object with members added at its end. The object must not have members of
// these names. Other JSON is replaced by an object.
func Add(object []byte, members ...Member) json.RawMessage {
	size := 0
	for _, m := range members {
		if m.Value != nil {
			size += len(m.Name) + len(m.Value) + len(`"":,`)
		}
	}
	if size == 0 {
		return orObject(object)
	}
	b := reopen(object, size)
	for _, m := range members {
		if m.Value != nil {
			b = append(append(AppendQuote(separate(b), m.Name), ':'), m.Value...)
		}
	}
	return append(b, '}')
}

// Delete returns the object without the members of a name, however often it
// has them.
func Delete(object []byte, name string) json.RawMessage {
	return Edit(object, func(n string, value json.RawMessage) json.RawMessage {
		if n == name {
			return nil
		}
		return value
	})
}

// Edit returns the object with its members changed: f returns another value,
// the same, or nil to remove the member. Without a change it is the object
// itself, as it is if it is not valid.
func Edit(object []byte, f func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	edited, _ := edit(object, f)
	return edited
}

// edit is Edit. It reports whether the object is valid.
func edit(object []byte, f func(name string, value json.RawMessage) json.RawMessage) (edited json.RawMessage, ok bool) {
	var b []byte
	copied, kept := 0, 0 // bytes, and members
	ok = each(object, func(m member) bool {
		old := json.RawMessage(object[m.start:m.end:m.end])
		value := f(Unquote(m.name), old)
		changed := value == nil || !bytes.Equal(value, old)
		if changed && b == nil {
			b = make([]byte, 0, len(object)+len(value))
		}
		if value == nil {
			b = append(b, object[copied:m.begin]...)
			copied = m.end
			return true
		}
		if kept == 0 && copied > 0 { // the members before it are removed, and it needs no comma
			copied = m.begin + bytes.IndexByte(object[m.begin:], ',') + 1
		}
		kept++
		if changed {
			b = append(append(b, object[copied:m.start]...), value...)
			copied = m.end
		}
		return true
	})
	if !ok || b == nil {
		return object, ok
	}
	return append(b, object[copied:]...), true
}

// EditElements returns the array with its elements changed by f, which returns nil
// to remove one. Without a change it is the array itself.
func EditElements(array []byte, f func(json.RawMessage) json.RawMessage) json.RawMessage {
	changed, b := false, []byte{'['}
	for old := range Elements(array) {
		value := f(old)
		changed = changed || value == nil || !bytes.Equal(value, old)
		if value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, value...)
	}
	if !changed {
		return array
	}
	return append(b, ']')
}

// Append returns the object with members added at its end, each written as
// "name":value. Other JSON is replaced by an object.
func Append(object []byte, members ...string) json.RawMessage {
	size := 0
	for _, m := range members {
		if m != "" {
			size += len(m) + len(",")
		}
	}
	if size == 0 {
		return orObject(object)
	}
	b := reopen(object, size)
	for _, m := range members {
		if m != "" {
			b = append(separate(b), m...)
		}
	}
	return append(b, '}')
}

// orObject returns the object; an empty one in the place of other JSON.
func orObject(raw []byte) json.RawMessage {
	if IsObject(raw) {
		return raw
	}
	return json.RawMessage("{}")
}

// reopen returns a copy of the object without its last brace, with room for size more bytes.
func reopen(object []byte, size int) []byte {
	object = orObject(object)
	body := bytes.TrimRight(object[:bytes.LastIndexByte(object, '}')], " \t\r\n")
	return append(make([]byte, 0, len(body)+size+1), body...)
}

// separate appends the comma that separates the next member from those of b.
func separate(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// Fulfil returns the params of the next round for a result that asks for input
// (MCP 2026-07-28, Multi Round-Trip Requests): inputResponses, and requestState.
// Ask gets the answer to one request; they are asked in their order.
func Fulfil(result []byte, ask func(method string, params json.RawMessage) (json.RawMessage, error)) ([]Member, error) {
	requests := Get(result, "inputRequests")
	if requests != nil && !IsObject(requests) {
		return nil, fmt.Errorf("read inputRequests: %w", errNotObject)
	}
	var answers []Member
	for key, input := range Members(requests) {
		err := errNotObject
		var answer json.RawMessage
		if IsObject(input) {
			answer, err = ask(Unquote(Get(input, "method")), Get(input, "params"))
		}
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
		answers = append(answers, Member{key, answer})
	}
	next := []Member{{Name: "inputResponses"}, {Name: "requestState", Value: Get(result, "requestState")}}
	if answers != nil {
		next[0].Value = SetAll(nil, answers...)
	}
	return next, nil
}

// TextBlock returns the text, in quotes, of a content block that has a type and a
// text, in this order and without white space, as nearly all have. Of valid JSON
// it looks at the quotes alone.
func TextBlock(block []byte) (quoted json.RawMessage, ok bool) {
	quoted, begins := bytes.CutPrefix(block, []byte(`{"type":"text","text":`))
	quoted, ends := bytes.CutSuffix(quoted, []byte("}"))
	if !begins || !ends || len(quoted) < 2 || quoted[0] != '"' {
		return nil, false
	}
	for at := 1; ; at++ {
		n := bytes.IndexByte(quoted[at:], '"')
		if n < 0 {
			return nil, false
		}
		at += n
		escapes := 0
		for quoted[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return quoted, at == len(quoted)-1
		}
	}
}

// IsObject reports whether valid JSON is an object, by its first and last bytes.
func IsObject(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 1 && raw[0] == '{' && raw[len(raw)-1] == '}'
}

// TooDeep reports whether JSON has more than so many levels.
func TooDeep(raw []byte, most int) bool {
	s := lenient(raw)
	s.most = most
	_, err := s.value()
	return errors.Is(err, errDeep)
}

// Valid reports whether raw is one JSON value. Duplicate members and text that
// is not UTF-8 are allowed.
func Valid(raw []byte) bool {
	s := lenient(raw)
	_, err := s.value()
	return err == nil && s.end() == nil
}
