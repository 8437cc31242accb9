package lower

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Values of calls are cut into parts here without being checked: what does not
// parse passes unchanged, and validation reports it.

// A field is a member of an object.
type field struct {
	name  string
	value []byte // trimmed
}

// trim removes the white space around a value.
func trim(src []byte) []byte {
	for len(src) > 0 && isSpace(src[0]) {
		src = src[1:]
	}
	for len(src) > 0 && isSpace(src[len(src)-1]) {
		src = src[:len(src)-1]
	}
	return src
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// fields returns the members of an object; ok is false if src is none.
func fields(src []byte) (all []field, ok bool) {
	p := parser{src: src}
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
	p := parser{src: src}
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
	src []byte
	pos int
	bad bool
}

// done reports whether all of the value was read.
func (p *parser) done() bool {
	p.peek()
	return !p.bad && p.pos == len(p.src)
}

// open enters the object or array that comes next, if it does.
func (p *parser) open(bracket byte) bool {
	if p.peek() != bracket {
		return false
	}
	p.pos++
	return true
}

// more goes to the next member or item, or leaves the object or array if there
// were n and that is all.
func (p *parser) more(n int, shut byte) bool {
	c := p.peek()
	switch {
	case p.bad:
		return false
	case c == shut:
		p.pos++
		return false
	case n == 0:
		return true
	case c == ',':
		p.pos++
		return true
	}
	p.bad = true
	return false
}

// skip reads a token, if that comes next.
func (p *parser) skip(token string) bool {
	p.peek()
	end := p.pos + len(token)
	if end > len(p.src) || string(p.src[p.pos:end]) != token {
		return false
	}
	p.pos = end
	return true
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
	p.pos = q.pos
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

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for ; p.pos < len(p.src); p.pos++ {
		if c := p.src[p.pos]; !isSpace(c) {
			return c
		}
	}
	return 0
}

// name reads a name, as it is written and what it says, and the colon behind it.
func (p *parser) name() (quoted, name []byte) {
	p.peek()
	start := p.pos
	if !p.text() {
		p.bad = true
		return nil, nil
	}
	quoted = p.src[start:p.pos]
	name = quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		s, ok := unquote(quoted)
		name = []byte(s)
		p.bad = p.bad || !ok
	}
	if p.peek() != ':' {
		p.bad = true
		return quoted, name
	}
	p.pos++
	return quoted, name
}

// value reads a value.
func (p *parser) value() []byte {
	ok := true
	c := p.peek()
	start := p.pos
	switch c {
	case '{', '[':
		ok = p.nested()
	case '"':
		ok = p.text()
	default:
		p.word()
	}
	p.bad = p.bad || !ok || p.pos == start
	return p.src[start:p.pos]
}

// text skips a string: to a quote behind an even number of backslashes.
func (p *parser) text() bool {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return false
	}
	for end := p.pos + 1; ; end++ {
		n := bytes.IndexByte(p.src[end:], '"')
		if n < 0 {
			return false
		}
		end += n
		before := end
		for p.src[before-1] == '\\' {
			before--
		}
		if (end-before)%2 == 0 {
			p.pos = end + 1
			return true
		}
	}
}

// word skips a number, true, false or null.
func (p *parser) word() {
	for ; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case ',', ':', ']', '}', '[', '{', '"':
			return
		default:
			if isSpace(c) {
				return
			}
		}
	}
}

// nested skips an array or an object, counting brackets.
func (p *parser) nested() bool {
	depth := 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '"':
			if !p.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		p.pos++
		if depth == 0 {
			return true
		}
	}
	return false
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
func appendList(dst []byte, items [][]byte) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, ']')
}

// same reports whether two values are the same, however they are written.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, isNumber := rational(string(a))
	y, other := rational(string(b))
	if isNumber && other {
		return x.Cmp(y) == 0
	}
	plain := func(v json.RawMessage) bool {
		return len(v) > 0 && v[0] != '{' && v[0] != '[' && bytes.IndexByte(v, '\\') < 0
	}
	return !isNumber && !other && !(plain(a) && plain(b)) && bytes.Equal(canonical(a), canonical(b))
}

// canonical returns a value formatted alike whatever its writer's taste.
func canonical(v json.RawMessage) json.RawMessage {
	c := jsontext.Value(bytes.Clone(v))
	if c.Canonicalize() != nil {
		return v
	}
	return json.RawMessage(c)
}
