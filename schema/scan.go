package schema

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A scanner reads strict JSON (RFC 8259) without allocating: UTF-8 is checked,
// half of a surrogate pair is refused, numbers have a sane length.
type scanner struct {
	data []byte
	pos  int
	want string // what was expected at pos when the syntax broke; "" if it did not
}

// maxNumber is the longest number token accepted. It bounds the cost of exact
// arithmetic.
const maxNumber = 1000

// fail notes what was expected at the current position. It always returns false.
func (s *scanner) fail(want string) bool {
	s.want = want
	return false
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end reports whether only whitespace is left.
func (s *scanner) end() bool {
	s.peek()
	return s.pos == len(s.data) || s.fail("the end")
}

func (s *scanner) literal(word string) bool {
	if end := s.pos + len(word); end <= len(s.data) && string(s.data[s.pos:end]) == word {
		s.pos = end
		return true
	}
	return s.fail("a value")
}

// text reads a string token. Its bytes are those between the quotes; if
// escaped, they need [unescape].
func (s *scanner) text() (raw []byte, escaped, ok bool) {
	start := s.pos + 1
	for i := special(s.data, start); i < len(s.data); i = special(s.data, i) {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:i], escaped, true
		case c == '\\':
			n := escapeLen(s.data[i:])
			if n == 0 {
				s.pos = i
				return nil, false, s.fail("a valid escape in a string")
			}
			escaped = true
			i += n
		case c < ' ':
			s.pos = i
			return nil, false, s.fail("no raw control character in a string")
		default:
			r, n := utf8.DecodeRune(s.data[i:])
			if r == utf8.RuneError && n == 1 {
				s.pos = i
				return nil, false, s.fail("valid UTF-8 in a string")
			}
			i += n
		}
	}
	s.pos = len(s.data)
	return nil, false, s.fail("the closing quote of a string")
}

// special returns the first position from i on of a byte that a string token
// does not just contain: a quote, a backslash, a control character, or a part
// of a longer UTF-8 sequence. It looks at eight bytes at a time: w or one of
// the differences has the high bit of the lowest such byte set.
func special(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		found := (w | (w - ones*' ') | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones)) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// more reads the comma before another item, or the closing bracket.
func (s *scanner) more(closing byte) (more, ok bool) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, true
	case closing:
		s.pos++
		return false, true
	}
	if closing == ']' {
		return false, s.fail(`"," or "]"`)
	}
	return false, s.fail(`"," or "}"`)
}

// name reads a member's name and the colon behind it.
func (s *scanner) name() (name []byte, ok bool) {
	if s.peek() != '"' {
		return nil, s.fail("a quoted name")
	}
	name, escaped, ok := s.text()
	if !ok {
		return nil, false
	}
	if escaped {
		name = unescape(name)
	}
	if s.peek() != ':' {
		return nil, s.fail(`":"`)
	}
	s.pos++
	return name, true
}

// expect reads a member's name and the colon behind it if they are exactly
// this token; else it returns nil and reads nothing.
func (s *scanner) expect(token string) (name []byte) {
	s.peek()
	end := s.pos + len(token)
	if token == "" || end > len(s.data) || string(s.data[s.pos:end]) != token {
		return nil
	}
	name = s.data[s.pos+1 : end-2]
	s.pos = end
	return name
}

// number reads a number token; plain means without fraction and exponent.
func (s *scanner) number() (raw []byte, plain, ok bool) {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	first := s.pos
	if !s.digits() {
		return nil, false, false
	}
	if s.data[first] == '0' && s.pos > first+1 {
		s.pos = first
		return nil, false, s.fail("a number without leading zeros")
	}
	plain = true
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		plain = false
		s.pos++
		if !s.digits() {
			return nil, false, false
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		plain = false
		if s.pos++; !s.exponent() {
			return nil, false, false
		}
	}
	if s.pos-start > maxNumber {
		s.pos = start
		return nil, false, s.fail("a number of at most 1000 characters")
	}
	return s.data[start:s.pos], plain, true
}

func (s *scanner) exponent() bool {
	if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
		s.pos++
	}
	return s.digits()
}

// digits reads one digit or more.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start || s.fail("a digit")
}

// escapeLen returns the length of the escape that data starts with, 12 for a
// surrogate pair, 0 for none that is valid.
func escapeLen(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	switch r := hex4(data[2:]); {
	case r < 0, r >= 0xdc00 && r < 0xe000:
		return 0
	case r < 0xd800 || r >= 0xe000:
		return 6
	}
	if len(data) >= 12 && data[6] == '\\' && data[7] == 'u' && hex4(data[8:])>>10 == 0xdc00>>10 {
		return 12
	}
	return 0
}

func hex4(data []byte) rune {
	if len(data) < 4 {
		return -1
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unescape returns the text of a string token that was scanned.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		n := escapeLen(raw[i:])
		switch c := raw[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(raw[i+2:])
			if n == 12 {
				r = (r-0xd800)<<10 + hex4(raw[i+8:]) - 0xdc00 + 0x10000
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		i += n
	}
	return out
}
