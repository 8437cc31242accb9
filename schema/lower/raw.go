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
	p := enter(src, '{')
	for p.more() {
		if all == nil {
			all = make([]field, 0, 8)
		}
		_, name := p.name()
		all = append(all, field{string(name), p.value()})
	}
	if !p.ok() {
		return nil, false
	}
	return all, true
}

// elements returns the items of an array; ok is false if src is none.
func elements(src []byte) (all [][]byte, ok bool) {
	p := enter(src, '[')
	for p.more() {
		all = append(all, p.value())
	}
	if !p.ok() {
		return nil, false
	}
	return all, true
}

// only returns the value of an object's only member, if that is its name.
func only(src []byte, name string) (value []byte, ok bool) {
	p := enter(src, '{')
	if !p.more() {
		return nil, false
	}
	_, found := p.name()
	value = p.value()
	return value, string(found) == name && !p.more() && p.ok()
}

// A parser goes through an object or an array. Where it does not find what
// must be there it ends, and is not ok.
type parser struct {
	src   []byte
	pos   int
	shut  byte // 0 if it is neither
	began bool // a member or item was found
	ended bool
	bad   bool
}

// enter begins with an object or an array, as open says.
func enter(src []byte, open byte) parser {
	p := parser{src: trim(src)}
	if len(p.src) == 0 || p.src[0] != open {
		p.bad = true
		return p
	}
	p.pos, p.shut = 1, open+2 // as in ASCII
	return p
}

// ok says that all of the value was read.
func (p *parser) ok() bool { return p.ended && !p.bad && p.pos == len(p.src) }

// more goes to the next member or item, if there is one.
func (p *parser) more() bool {
	if p.bad {
		return false
	}
	c := p.peek()
	switch {
	case c == p.shut && !p.ended:
		p.pos++
		p.ended = true
		return false
	case !p.began:
		p.began = true
		return true
	case c == ',':
		p.pos++
		return true
	}
	p.bad = true
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

// text skips a string.
func (p *parser) text() bool {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return false
	}
	for i := p.pos + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '"':
			p.pos = i + 1
			return true
		default:
			if i-p.pos == shortText { // a long text: to the next quote or escape at once
				i += max(plainLen(p.src[i:])-1, 0)
			}
		}
	}
	return false
}

// shortText is how long a text is before it pays to search in it.
const shortText = 32

// plainLen returns how many bytes there are before a quote or a backslash.
func plainLen(src []byte) int {
	if quote := bytes.IndexByte(src, '"'); quote >= 0 {
		src = src[:quote]
	}
	if escape := bytes.IndexByte(src, '\\'); escape >= 0 {
		src = src[:escape]
	}
	return len(src)
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

// same says that two values are the same, however they are written.
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
