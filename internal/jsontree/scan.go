package jsontree

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// A Scanner reads strict JSON (RFC 8259) without allocating: UTF-8 is checked,
// half of a surrogate pair is refused, numbers have a sane length.
type Scanner struct {
	Data    []byte
	Pos     int
	Lenient bool   // accept bytes that are not UTF-8, and halves of surrogate pairs
	Broken  bool   // there were bytes that are not UTF-8, or halves of surrogate pairs
	want    string // what was expected at pos when the syntax broke; "" if it did not
}

// maxNumber is the longest number token accepted. It bounds the cost of exact
// arithmetic.
const maxNumber = 1000

// Fail notes what was expected at the current position. It always returns false.
func (s *Scanner) Fail(want string) bool {
	s.want = want
	return false
}

// Err returns what was expected where, after the syntax broke.
func (s *Scanner) Err() error { return fmt.Errorf("expected %s at byte %d", s.want, s.Pos) }

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
	start, ascii := s.Pos+1, true
	for i := start; ; {
		n, plain := LiteralText(s.Data[i:])
		ascii = ascii && plain
		i += n
		switch {
		case i == len(s.Data):
			s.Pos = i
			return nil, false, s.Fail("the closing quote of a string")
		case s.Data[i] == '"':
			raw = s.Data[start:i]
			if s.Pos = i + 1; ascii || utf8.Valid(raw) {
				return raw, escaped, true
			}
			if s.Broken = true; s.Lenient {
				return raw, escaped, true
			}
			s.Pos = start + validUTF8(raw)
			return nil, false, s.Fail("valid UTF-8 in a string")
		case s.Data[i] != '\\':
			s.Pos = i
			return nil, false, s.Fail("no raw control character in a string")
		}
		if n = 2; i+1 == len(s.Data) || !isShortEscape(s.Data[i+1]) {
			n = s.escape(s.Data[i:])
		}
		if s.Pos = i; n == 0 {
			return nil, false, s.Fail("a valid escape in a string")
		}
		escaped = true
		i += n
	}
}

// validUTF8 returns how many bytes of text come before one that is not UTF-8.
func validUTF8(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// LiteralText returns how many bytes of a string stand for themselves, up to a
// quote, a backslash or a control character, and whether they are ASCII. It
// looks at many bytes at a time: nearly all bytes of large messages are text.
func LiteralText(data []byte) (n int, ascii bool) { return literalText(data, false) }

// StringText is LiteralText with escapes of one character as a part of the text.
func StringText(data []byte) (n int, ascii bool) {
	for ascii = true; ; n += 2 {
		text, narrow := literalText(data[n:], true)
		ascii = ascii && narrow
		n += text
		if n+1 >= len(data) || data[n] != '\\' || !isShortEscape(data[n+1]) {
			return n, ascii
		}
	}
}

// AppendText appends text, a part of a JSON string, to b, with line breaks, quotes and
// backslashes escaped. It returns the rest: what comes from another control character on, what
// b has no room for, or a short end.
func AppendText(b []byte, text string) (out []byte, rest string) {
	if len(text) < 64 || cap(b)-len(b) < 64 { // it does not pay
		return b, text
	}
	read, written := quoteBlocks(&b[:len(b)+1][len(b)], cap(b)-len(b), unsafe.StringData(text), len(text))
	return b[:len(b)+written], text[read:]
}

// literalText is LiteralText. With escapes, those of one character may be a part of the text.
func literalText(data []byte, escapes bool) (n int, ascii bool) {
	const ones, highBits = 0x0101010101010101, 0x8080808080808080
	wide := uint64(0)
	if len(data) >= 64 { // it pays
		size, high := literalBlocks(&data[0], len(data), escapes)
		if n = size; high != 0 {
			wide = highBits
		}
	}
	for ; n+8 <= len(data); n += 8 {
		w := binary.LittleEndian.Uint64(data[n:])
		quotes, slashes := w^('"'*ones), w^('\\'*ones)
		marked := ((w-0x20*ones)&^w | (quotes-ones)&^quotes | (slashes-ones)&^slashes) & highBits
		if marked != 0 { // the lowest bit is right; a borrow may set higher ones
			end := bits.TrailingZeros64(marked) / 8
			wide |= w & (1<<(8*end) - 1)
			return n + end, wide&highBits == 0
		}
		wide |= w
	}
	for ; n < len(data) && data[n] != '"' && data[n] != '\\' && data[n] >= 0x20; n++ {
		wide |= uint64(data[n])
	}
	return n, wide&highBits == 0
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

// Number reads a number token; plain means without fraction and exponent.
func (s *Scanner) Number() (raw []byte, plain, ok bool) {
	start := s.Pos
	if plain, ok = s.SkipNumber(); !ok {
		return nil, false, false
	}
	if s.Pos-start > maxNumber {
		s.Pos = start
		return nil, false, s.Fail("a number of at most 1000 characters")
	}
	return s.Data[start:s.Pos], plain, true
}

// SkipNumber is Number for a number of any length.
func (s *Scanner) SkipNumber() (plain, ok bool) {
	if s.Data[s.Pos] == '-' {
		s.Pos++
	}
	first := s.Pos
	if !s.digits() {
		return false, false
	}
	if s.Data[first] == '0' && s.Pos > first+1 {
		s.Pos = first
		return false, s.Fail("a number without leading zeros")
	}
	plain = true
	if s.Pos < len(s.Data) && s.Data[s.Pos] == '.' {
		plain = false
		s.Pos++
		if !s.digits() {
			return false, false
		}
	}
	if s.Pos < len(s.Data) && s.Data[s.Pos]|0x20 == 'e' {
		s.Pos++
		return false, s.exponent()
	}
	return plain, true
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
