package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A Codec converts values between the two shapes. It is safe for concurrent
// use.
type Codec struct {
	root codec // nil if both shapes are the same
}

// A codec is a Codec for one place in a schema; nil is the identity.
type codec interface {
	// decode reads the value that comes next and appends to dst what it means
	// in the old shape. A value that it does not understand stays
	// unchanged.
	decode(x *trip, dst []byte) []byte

	// encode appends to dst what src is in the new shape; ok is false if it
	// cannot be written there.
	encode(x *trip, dst, src []byte) (out []byte, ok bool)

	// seenPath turns a path in the old shape into one in the new shape.
	seenPath(path []string) []string
}

// A trip is one value on its way.
type trip struct {
	parser          // of the value being decoded
	fuel   int      // bytes that may still be looked at
	depth  int      // of codecs inside codecs
	path   []string // of the value being decoded, in the new shape
	notes  []string
	told   int // bytes of notes
	space  [16]string
}

// Values are looked at more than once to distinguish alternatives. Values
// beyond the limit pass unchanged.
const (
	minFuel     = 1 << 16
	fuelPerByte = 64
	maxSteps    = 2000    // of codecs inside codecs
	maxNotes    = 1 << 20 // bytes
)

func newTrip(value []byte) *trip {
	x := &trip{fuel: minFuel + fuelPerByte*len(value)}
	x.path = x.space[:0]
	return x
}

func (x *trip) note(what string) {
	if x.told < maxNotes {
		x.notes = append(x.notes, jsontree.Pointer(x.path)+": "+what)
		x.told += len(x.notes[len(x.notes)-1])
	}
}

func (x *trip) enter(name string) { x.path = append(x.path, name) }
func (x *trip) leave()            { x.path = x.path[:len(x.path)-1] }

// spend reports whether src may be looked at.
func (x *trip) spend(src []byte) bool {
	x.fuel -= 1 + len(src)
	return x.fuel >= 0
}

// decode decodes the value that comes next.
func decode(c codec, x *trip, dst []byte) []byte {
	if c == nil || x.fuel < 0 || x.depth == maxSteps {
		return append(dst, x.value()...)
	}
	x.depth++
	dst = c.decode(x, dst)
	x.depth--
	return dst
}

// decodeAll decodes all of src, which is not what is being read. It passes
// unchanged if it does not parse.
func decodeAll(c codec, x *trip, dst, src []byte) []byte {
	if c == nil || !x.spend(src) {
		return append(dst, src...)
	}
	start, notes, outside := len(dst), len(x.notes), x.parser
	x.parser = newParser(src)
	dst = decode(c, x, dst)
	if !x.done() {
		x.notes = x.notes[:notes]
		dst = append(dst[:start], src...)
	}
	x.parser = outside
	return dst
}

func encode(c codec, x *trip, dst, src []byte) ([]byte, bool) {
	if c == nil {
		return append(dst, src...), true
	}
	if !x.spend(src) {
		return dst, false
	}
	return c.encode(x, dst, src)
}

func seenPath(c codec, path []string) []string {
	if c == nil || len(path) == 0 {
		return path
	}
	return c.seenPath(path)
}

// Identity reports whether both shapes are the same.
func (c *Codec) Identity() bool { return c.root == nil }

// Decode converts a value that was written for the new schema to the old shape.
// Parts that it cannot interpret pass unchanged, so that validation reports
// them. Notes describe what had to be repaired, up to a megabyte of them.
func (c *Codec) Decode(value json.RawMessage) (old json.RawMessage, notes []string) {
	if c.root == nil {
		return value, nil
	}
	x := newTrip(value)
	return decodeAll(c.root, x, make([]byte, 0, len(value)+64), trim(value)), x.notes
}

// Encode converts a value of the old schema to the new shape; ok is false if it
// cannot be written there.
func (c *Codec) Encode(value json.RawMessage) (seen json.RawMessage, ok bool) {
	return encode(c.root, newTrip(value), nil, trim(value))
}

// Seen converts a JSON pointer into a value of the old shape to the
// corresponding pointer in the new shape.
func (c *Codec) Seen(p string) string {
	if c.root == nil || p == "" {
		return p
	}
	path := strings.Split(p[1:], "/")
	for i, token := range path {
		path[i] = jsontree.UnescapePointer(token)
	}
	return jsontree.Pointer(seenPath(c.root, path))
}

// A chain decodes with inner first: outer is about what inner gives.
type chain struct{ outer, inner codec }

// join returns the codec that decodes with inner, then with outer.
func join(outer, inner codec) codec {
	switch {
	case inner == nil:
		return outer
	case outer == nil:
		return inner
	}
	return chain{outer, inner}
}

func (c chain) decode(x *trip, dst []byte) []byte {
	start := len(dst)
	dst = c.inner.decode(x, dst)
	end := len(dst)
	dst = decodeAll(c.outer, x, dst, dst[start:end])
	return append(dst[:start], dst[end:]...)
}

func (c chain) encode(x *trip, dst, src []byte) ([]byte, bool) {
	mid, ok := c.outer.encode(x, nil, src)
	if !ok {
		return dst, false
	}
	return c.inner.encode(x, dst, mid)
}

func (c chain) seenPath(path []string) []string { return seenPath(c.inner, c.outer.seenPath(path)) }

// parts are the codecs inside a codec, for [trivial].
type parts interface{ parts() []codec }

// trivial reports whether c changes nothing: it leads to nothing but
// definitions that change nothing.
func trivial(c codec, visited map[*reference]bool) bool {
	switch c := c.(type) {
	case nil:
		return true
	case *reference:
		if visited[c] {
			return true // an outer call reports whether it is not
		}
		visited[c] = true
		return trivial(c.to, visited)
	case nullCodec:
		return trivial(c.codec, visited)
	case parts:
		inner := c.parts()
		return inner != nil && !slices.ContainsFunc(inner, func(part codec) bool { return !trivial(part, visited) })
	}
	return false
}

// unwrapText reads a string that holds an array or object as JSON text, a
// common mistake of models, and returns that; nil if none comes next.
func (x *trip) unwrapText(first byte) []byte {
	if x.Peek() != '"' {
		return nil
	}
	q := x.parser
	s, ok := unquote(q.value())
	if inner := trim([]byte(s)); ok && len(inner) > 1 && inner[0] == first && json.Valid(inner) {
		x.Pos = q.Pos
		x.note("the value was a string that contains JSON; it is read as that JSON")
		return inner
	}
	return nil
}
