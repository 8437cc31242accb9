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
func trim(src []byte) []byte { return bytes.Trim(src, " \t\r\n") }

// fields returns the members of an object; ok is false if src is none.
func fields(src []byte) (all []field, ok bool) {
	if src = trim(src); len(src) < 2 || src[0] != '{' {
		return nil, false
	}
	p := parser{src, 1}
	if p.peek() == '}' {
		return nil, true
	}
	all = make([]field, 0, 8)
	for {
		if p.peek() != '"' {
			return nil, false
		}
		name, ok := p.name()
		if !ok {
			return nil, false
		}
		value := p.value()
		if value == nil {
			return nil, false
		}
		all = append(all, field{name, value})
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			return all, true
		default:
			return nil, false
		}
	}
}

// elements returns the items of an array; ok is false if src is none.
func elements(src []byte) (all [][]byte, ok bool) {
	if src = trim(src); len(src) < 2 || src[0] != '[' {
		return nil, false
	}
	p := parser{src, 1}
	if p.peek() == ']' {
		return nil, true
	}
	for {
		value := p.value()
		if value == nil {
			return nil, false
		}
		all = append(all, value)
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			return all, true
		default:
			return nil, false
		}
	}
}

// A parser finds where values end.
type parser struct {
	src []byte
	pos int
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// name reads a name and the colon behind it.
func (p *parser) name() (string, bool) {
	start := p.pos
	if !p.text() {
		return "", false
	}
	name, ok := unquote(p.src[start:p.pos])
	if !ok || p.peek() != ':' {
		return "", false
	}
	p.pos++
	return name, true
}

// value reads a value, nil if there is none.
func (p *parser) value() []byte {
	c := p.peek()
	start := p.pos
	switch c {
	case '{', '[':
		if !p.nested() {
			return nil
		}
	case '"':
		if !p.text() {
			return nil
		}
	default:
		p.word()
	}
	if p.pos == start {
		return nil
	}
	return p.src[start:p.pos]
}

// text skips a string.
func (p *parser) text() bool {
	for i := p.pos + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '"':
			p.pos = i + 1
			return true
		}
	}
	return false
}

// word skips a number, true, false or null.
func (p *parser) word() {
	for p.pos < len(p.src) && !bytes.ContainsRune([]byte(",:]}[{\" \t\r\n"), rune(p.src[p.pos])) {
		p.pos++
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

// same says that two values are the same text once formatted alike.
func same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical returns a value formatted alike whatever its writer's taste.
func canonical(v json.RawMessage) json.RawMessage {
	c := jsontext.Value(bytes.Clone(v))
	if c.Canonicalize() != nil {
		return v
	}
	return json.RawMessage(c)
}
