package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A member is a name and a value of an object.
type member struct {
	name  string
	value json.RawMessage
}

// withMembers appends members to an object, without those that have no value.
func withMembers(object []byte, members ...member) json.RawMessage {
	o := provider.Extend(object)
	for _, m := range members {
		o.Add(m.name, m.value)
	}
	return o.JSON()
}

// unlike returns a member, or none if its name differs from a known one only in
// upper and lower case: readers do not agree whether these are the same.
func unlike(m member, known ...string) []member {
	if slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, m.name) }) {
		return nil
	}
	return []member{m}
}

// fragments are the pieces of one JSON value: of a string or a list, which the
// next piece continues, or of something that the next one replaces.
type fragments struct {
	raw []byte // without the closing character
}

func newFragments(text string) fragments {
	raw := wire.Quote(text)
	return fragments{raw[:len(raw)-1]}
}

// add adds a piece. Escapes stay as they are written, so that one which is
// split over two pieces remains whole.
func (f *fragments) add(piece json.RawMessage) {
	last := len(piece) - 1
	switch {
	case len(f.raw) == 0 || f.raw[0] != piece[0] || (piece[0] != '"' && piece[0] != '['):
		f.raw = bytes.Clone(piece[:last])
		if piece[0] != '"' && piece[0] != '[' {
			f.raw = bytes.Clone(piece)
		}
	case piece[0] == '[' && len(bytes.TrimSpace(piece[1:last])) == 0:
	default:
		if piece[0] == '[' && len(bytes.TrimSpace(f.raw[1:])) > 0 {
			f.raw = append(f.raw, ',')
		}
		f.raw = append(f.raw, piece[1:last]...)
	}
}

// alike makes a string and a list of content alike, so that one continues the
// other: a string becomes a text in a list. It returns the piece to add.
func (f *fragments) alike(piece json.RawMessage) json.RawMessage {
	inList := func(text json.RawMessage) json.RawMessage {
		return withMembers([]byte("{}"), member{"type", json.RawMessage(`"text"`)}, member{"text", text})
	}
	switch {
	case len(f.raw) == 0 || f.raw[0] == piece[0]:
	case f.raw[0] == '[' && piece[0] == '"':
		return provider.Array([]json.RawMessage{inList(piece)})
	case f.raw[0] == '"' && piece[0] == '[':
		list := provider.Array([]json.RawMessage{inList(f.json())})
		f.raw = list[:len(list)-1]
	}
	return piece
}

// json returns the value.
func (f *fragments) json() json.RawMessage {
	switch {
	case len(f.raw) == 0:
		return json.RawMessage("null")
	case f.raw[0] == '"':
		return append(bytes.Clone(f.raw), '"')
	case f.raw[0] == '[':
		return append(bytes.Clone(f.raw), ']')
	}
	return f.raw
}

// text returns the value as text: a string's text, or the JSON of another value.
func (f *fragments) text() string { return stringOf(f.json()) }

// A chatCall is a call that is being written.
type chatCall struct {
	id, name  string
	index     string // as the server writes it; empty if it does not
	arguments fragments
	members   []member // of the call, without those above
	function  []member // of the function, without those above
}

// json returns the call as an item of tool_calls.
func (c *chatCall) json() json.RawMessage {
	function := append([]member{{"name", wire.Quote(c.name)}, {"arguments", c.arguments.json()}}, c.function...)
	call := append([]member{{"id", wire.Quote(c.id)}, {"type", json.RawMessage(`"function"`)},
		{"function", withMembers([]byte("{}"), function...)}}, c.members...)
	return withMembers([]byte("{}"), call...)
}

// newCallID returns an id for a call that the server gave none.
func newCallID() string { return idPrefix + strings.ToLower(rand.Text()[:20]) }

// A callDelta is a piece of a call.
type callDelta struct {
	index, id, name string
	arguments       json.RawMessage // nil if the piece has none
	members         []member        // which this package does not know
	function        []member
}

// readCallDelta reads a piece of a call.
func readCallDelta(raw json.RawMessage) callDelta {
	var d callDelta
	for name, value := range wire.Members(raw) {
		switch name {
		case "index":
			d.index = stringOf(value)
		case "id":
			d.id = stringOf(value)
		case "type":
		case "function":
			d.readFunction(value)
		default:
			d.members = append(d.members, unlike(member{name, value}, "id", "type", "function")...)
		}
	}
	return d
}

func (d *callDelta) readFunction(raw json.RawMessage) {
	for name, value := range wire.Members(raw) {
		switch name {
		case "name":
			d.name = stringOf(value)
		case "arguments":
			if isPresent(value) {
				d.arguments = value
			}
		default:
			d.function = append(d.function, unlike(member{name, value}, "name", "arguments")...)
		}
	}
}

// callDelta handles a piece of a call, and reports whether the consumer wants
// more.
func (s *chatStream) callDelta(raw json.RawMessage) bool {
	d := readCallDelta(raw)
	at := s.callSlot(&d)
	if at < 0 {
		if at = s.newSlot(chatSlot{call: chatCall{index: d.index}}); at < 0 {
			return false
		}
	}
	c := &s.slots[at].call
	if c.id == "" {
		c.id = d.id
	}
	if c.name != d.name && len(c.name) <= maxName {
		c.name += d.name
	}
	c.members = setMembers(c.members, d.members)
	c.function = setMembers(c.function, d.function)
	text := ""
	if d.arguments != nil {
		text = stringOf(d.arguments)
		if d.arguments[0] != '"' { // an object instead of its text
			d.arguments = wire.Quote(text)
		}
		c.arguments.add(d.arguments)
	}
	return s.put(&model.Delta{Part: at, Type: model.TypeCall, Name: s.prepared.tools.OwnName(c.name), Text: text})
}

// isOf reports whether a piece names the call. Some servers give two calls of one
// response the same id.
func (d *callDelta) isOf(c *chatCall) bool {
	return d.id != "" && d.id == c.id && (d.index == "" || c.index == "" || d.index == c.index)
}

// callSlot returns the index of the slot whose call a piece continues, -1 if it
// begins a new one. Servers leave out the index or the id, or give all calls
// the same index.
func (s *chatStream) callSlot(d *callDelta) int {
	for at, slot := range s.slots {
		if slot.member == "" && d.isOf(&slot.call) {
			return at
		}
	}
	for at := len(s.slots) - 1; at >= 0; at-- {
		c := &s.slots[at].call
		switch {
		case s.slots[at].member != "", d.index != "" && d.index != c.index:
		case d.name == "" || c.name == "":
			return at
		case d.id != "" && c.id != "", d.index == "", c.hasObject():
			return -1
		default:
			return at
		}
	}
	return -1
}

// hasObject reports whether the arguments are complete already. Long ones are
// not looked at, because it would be done for each piece.
func (c *chatCall) hasObject() bool {
	const most = 8 << 10
	return len(c.arguments.raw) <= most && json.Valid([]byte(c.arguments.text()))
}

// maxMembers is the number of members of a call that this package keeps without
// knowing them.
const maxMembers = 64

// setMembers adds members to others, in place of those with the same names.
func setMembers(all, more []member) []member {
	for _, m := range more {
		i := 0
		for i < len(all) && all[i].name != m.name {
			i++
		}
		switch {
		case i < len(all):
			all[i] = m
		case i < maxMembers:
			all = append(all, m)
		}
	}
	return all
}
