package lower

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Values of calls are cut into parts here without being checked: what does not
// parse passes unchanged, and validation reports it.

// A field is a member of an object.
type field struct {
	name  string
	value []byte // trimmed
}

// trim removes the white space around a value.
func trim(src []byte) []byte { return bytes.Trim(src, " \t\r\n") }

// fields returns the members of an object; ok is false if src is none.
func fields(src []byte) (all []field, ok bool) {
	p := newParser(src)
	if !p.open('{') {
		return nil, false
	}
	for p.more(len(all), '}') {
		if all == nil {
			all = make([]field, 0, 8)
		}
		_, name := p.name()
		all = append(all, field{string(name), p.value()})
	}
	return all, p.done()
}

// elements returns the items of an array; ok is false if src is none.
func elements(src []byte) (all [][]byte, ok bool) {
	p := newParser(src)
	if !p.open('[') {
		return nil, false
	}
	for p.more(len(all), ']') {
		all = append(all, p.value())
	}
	return all, p.done()
}

// A parser goes through a value once, from its start to its end. Where it does
// not find what must be there it is bad, and goes no further.
type parser struct {
	jsontree.Scanner
	bad bool
}

func newParser(src []byte) parser { return parser{Scanner: jsontree.Scanner{Data: src}} }

// done reports whether all of the value was read.
func (p *parser) done() bool { return !p.bad && p.End() }

// open enters the object or array that comes next, if it does.
func (p *parser) open(bracket byte) bool {
	if p.Peek() != bracket {
		return false
	}
	p.Pos++
	return true
}

// more goes to the next member or item, or leaves the object or array if there
// were n and that is all.
func (p *parser) more(n int, shut byte) bool {
	switch {
	case p.bad:
		return false
	case n == 0 && p.Peek() != shut:
		return true
	case n == 0:
		p.Pos++
		return false
	}
	more, ok := p.More(shut)
	p.bad = !ok
	return more
}

// skip reads a token, if that comes next.
func (p *parser) skip(token string) bool {
	p.Peek()
	return p.Literal(token)
}

// only reads an object if a member of that name is all that it has, and
// returns the value.
func (p *parser) only(name string) (value []byte, ok bool) {
	q := *p
	if !q.open('{') || !q.more(0, '}') {
		return nil, false
	}
	_, found := q.name()
	value = q.value()
	if string(found) != name || q.more(1, '}') || q.bad {
		return nil, false
	}
	p.Pos = q.Pos
	return value, true
}

// has reports whether an object that was entered has a member of that name.
func (p *parser) has(name string) bool {
	q := *p
	for n := 0; q.more(n, '}'); n++ {
		_, found := q.name()
		if q.value(); string(found) == name {
			return !q.bad
		}
	}
	return false
}

// name reads a name, as it is written and what it says, and the colon behind it.
func (p *parser) name() (quoted, name []byte) {
	p.Peek()
	start := p.Pos
	name, ok := p.Name()
	if !ok {
		p.bad = true
		return nil, nil
	}
	return trim(p.Data[start : p.Pos-1]), name
}

// value reads a value.
func (p *parser) value() []byte {
	p.Peek()
	start := p.Pos
	p.bad = !p.Skip() || p.bad
	return p.Data[start:p.Pos]
}

// unquote returns the text of a string token.
func unquote(src []byte) (string, bool) {
	if len(src) < 2 || src[0] != '"' {
		return "", false
	}
	if inner := src[1 : len(src)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	b, err := jsontext.AppendUnquote(nil, src)
	return string(b), err == nil
}

func appendQuoted(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its only error is about invalid UTF-8, which it replaces
	return dst
}

func quote(s string) json.RawMessage { return appendQuoted(nil, s) }

// appendList writes an array.
func appendList[T ~[]byte](dst []byte, items []T) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, ']')
}

// equalValues reports whether two values are the same, however they are
// written.
func equalValues(a, b json.RawMessage) bool {
	kind := jsontree.KindOf(a)
	switch {
	case bytes.Equal(a, b):
		return true
	case kind != jsontree.KindOf(b), kind == jsontree.KindString && bytes.IndexByte(a, '\\')+bytes.IndexByte(b, '\\') == -2:
		return false
	}
	x := jsontree.Read(a)
	return x.Kind != 0 && x.Equal(jsontree.Read(b))
}
