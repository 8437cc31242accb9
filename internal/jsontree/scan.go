package jsontree

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// A Scanner reads strict JSON (RFC 8259) without allocating: UTF-8 is checked,
// half of a surrogate pair is refused, numbers have a sane length.
type Scanner struct {
	Data []byte
	Pos  int
	want string // what was expected at pos when the syntax broke; "" if it did not
}

// maxNumber is the longest number token accepted. It bounds the cost of exact
// arithmetic.
const maxNumber = 1000

// Fail notes what was expected at the current position. It always returns false.
func (s *Scanner) Fail(want string) bool {
	s.want = want
	return false
}

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Data) {
		switch c := s.Data[s.Pos]; c {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return c
		}
	}
	return 0
}

// End reports whether only whitespace is left.
func (s *Scanner) End() bool {
	s.Peek()
	return s.Pos == len(s.Data) || s.Fail("the end")
}

// Literal reads true, false or null.
func (s *Scanner) Literal(word string) bool {
	if end := s.Pos + len(word); end <= len(s.Data) && string(s.Data[s.Pos:end]) == word {
		s.Pos = end
		return true
	}
	return s.Fail("a value")
}

// Text reads a string token. Its bytes are those between the quotes; if
// escaped, they need [Unescape].
func (s *Scanner) Text() (raw []byte, escaped, ok bool) {
	start := s.Pos + 1
	for i := Special(s.Data, start); i < len(s.Data); i = Special(s.Data, i) {
		switch c := s.Data[i]; {
		case c == '"':
			s.Pos = i + 1
			return s.Data[start:i], escaped, true
		case c == '\\':
			n := escapeLen(s.Data[i:])
			if n == 0 {
				s.Pos = i
				return nil, false, s.Fail("a valid escape in a string")
			}
			escaped = true
			i += n
		case c < ' ':
			s.Pos = i
			return nil, false, s.Fail("no raw control character in a string")
		default:
			r, n := utf8.DecodeRune(s.Data[i:])
			if r == utf8.RuneError && n == 1 {
				s.Pos = i
				return nil, false, s.Fail("valid UTF-8 in a string")
			}
			i += n
		}
	}
	s.Pos = len(s.Data)
	return nil, false, s.Fail("the closing quote of a string")
}

// Special returns the first position from i on of a byte that a string token
// does not just contain: a quote, a backslash, a control character, or a part
// of a longer UTF-8 sequence. It looks at eight bytes at a time: w or one of
// the differences has the high bit of the lowest such byte set.
func Special(data []byte, i int) int {
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

// More reads the comma before another item, or the closing bracket.
func (s *Scanner) More(closing byte) (more, ok bool) {
	switch s.Peek() {
	case ',':
		s.Pos++
		return true, true
	case closing:
		s.Pos++
		return false, true
	}
	if closing == ']' {
		return false, s.Fail(`"," or "]"`)
	}
	return false, s.Fail(`"," or "}"`)
}

// Skip reads a value without looking inside: what it takes for a string, a number
// or a list may be none.
func (s *Scanner) Skip() bool {
	for depth := 0; ; {
		switch s.Peek() {
		case '{', '[':
			depth++
			s.Pos++
		case '}', ']':
			depth--
			s.Pos++
		case '"':
			if !s.skipText() {
				return false
			}
		default:
			if !s.skipWord(depth > 0) {
				return s.Fail("a value")
			}
		}
		if depth <= 0 {
			return depth == 0 || s.Fail("a value")
		}
	}
}

// skipWord skips a number or a literal, or the comma or colon inside of an array
// or object. It reports whether there was one.
func (s *Scanner) skipWord(inside bool) bool {
	start := s.Pos
	for s.Pos < len(s.Data) && strings.IndexByte("{}[],:\" \t\r\n", s.Data[s.Pos]) < 0 {
		s.Pos++
	}
	if s.Pos == start && inside && s.Pos < len(s.Data) {
		s.Pos++
	}
	return s.Pos > start
}

// skipText skips a string: to a quote behind an even number of backslashes.
func (s *Scanner) skipText() bool {
	for end := s.Pos + 1; ; end++ {
		n := bytes.IndexByte(s.Data[end:], '"')
		if n < 0 {
			return s.Fail("the closing quote of a string")
		}
		end += n
		before := end
		for s.Data[before-1] == '\\' {
			before--
		}
		if (end-before)%2 == 0 {
			s.Pos = end + 1
			return true
		}
	}
}

// Name reads a member's name and the colon behind it.
func (s *Scanner) Name() (name []byte, ok bool) {
	if s.Peek() != '"' {
		return nil, s.Fail("a quoted name")
	}
	name, escaped, ok := s.Text()
	if !ok {
		return nil, false
	}
	if escaped {
		name = Unescape(name)
	}
	if s.Peek() != ':' {
		return nil, s.Fail(`":"`)
	}
	s.Pos++
	return name, true
}

// Expect reads a member's name and the colon behind it if they are exactly
// this token; else it returns nil and reads nothing.
func (s *Scanner) Expect(token string) (name []byte) {
	s.Peek()
	end := s.Pos + len(token)
	if token == "" || end > len(s.Data) || string(s.Data[s.Pos:end]) != token {
		return nil
	}
	name = s.Data[s.Pos+1 : end-2]
	s.Pos = end
	return name
}

// Number reads a number token; plain means without fraction and exponent.
func (s *Scanner) Number() (raw []byte, plain, ok bool) {
	start := s.Pos
	if s.Data[s.Pos] == '-' {
		s.Pos++
	}
	first := s.Pos
	if !s.digits() {
		return nil, false, false
	}
	if s.Data[first] == '0' && s.Pos > first+1 {
		s.Pos = first
		return nil, false, s.Fail("a number without leading zeros")
	}
	plain = true
	if s.Pos < len(s.Data) && s.Data[s.Pos] == '.' {
		plain = false
		s.Pos++
		if !s.digits() {
			return nil, false, false
		}
	}
	if s.Pos < len(s.Data) && s.Data[s.Pos]|0x20 == 'e' {
		plain = false
		if s.Pos++; !s.exponent() {
			return nil, false, false
		}
	}
	if s.Pos-start > maxNumber {
		s.Pos = start
		return nil, false, s.Fail("a number of at most 1000 characters")
	}
	return s.Data[start:s.Pos], plain, true
}

func (s *Scanner) exponent() bool {
	if s.Pos < len(s.Data) && (s.Data[s.Pos] == '+' || s.Data[s.Pos] == '-') {
		s.Pos++
	}
	return s.digits()
}

// digits reads one digit or more.
func (s *Scanner) digits() bool {
	start := s.Pos
	for s.Pos < len(s.Data) && s.Data[s.Pos]-'0' <= 9 {
		s.Pos++
	}
	return s.Pos > start || s.Fail("a digit")
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

// Unescape returns the text of a string token that was scanned.
func Unescape(raw []byte) []byte {
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
