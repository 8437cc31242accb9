package wire

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Nesting that is refused: that of clients, and that of servers, whose results
// may be any data.
const (
	strictDepth  = 256
	lenientDepth = 10_000
)

var (
	errDuplicate = errors.New("duplicate member")
	errDeep      = errors.New("nests too deep")
)

// A scanner walks through JSON (RFC 8259) once, without copies.
type scanner struct {
	data   []byte
	at     int
	depth  int
	most   int  // levels; lenientDepth if 0
	strict bool // refuse duplicate members and text that is not UTF-8
	links  bool // a string began with StartOfLink
	broken bool // a string is not UTF-8
	names  [][]byte
}

// StartOfLink is what the strings "resource" and "resource_link" begin with: the
// types of the parts of a result that name resources.
const StartOfLink = `"resource`

func (s *scanner) syntax(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), s.at)
}

// peek returns the byte that the next value begins with, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// value reads a value of any kind and returns its bytes.
func (s *scanner) value() ([]byte, error) {
	c := s.peek()
	start := s.at
	var err error
	switch {
	case c == '"':
		s.links = s.links || bytes.HasPrefix(s.data[s.at:], []byte(StartOfLink))
		err = s.skipString()
	case c == '{':
		err = s.object(s.skipMember)
	case c == '[':
		err = s.array(s.skip)
	case c == 't':
		err = s.literal("true")
	case c == 'f':
		err = s.literal("false")
	case c == 'n':
		err = s.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		err = s.number()
	case s.at == len(s.data):
		err = s.syntax("unexpected end")
	default:
		err = s.syntax("unexpected character %q", c)
	}
	return s.data[start:s.at:s.at], err
}

// Members of the object or array that is being read.
type members struct {
	begun bool
	first int             // of its names in scanner.names
	many  map[string]bool // its names, if they are many
}

// manyNames is from how many names on they are searched in a map.
const manyNames = 32

// open reads the beginning of an object or array.
func (s *scanner) open() (members, error) {
	if s.depth++; s.depth > cmp.Or(s.most, lenientDepth) {
		return members{}, errDeep
	}
	s.at++
	return members{first: len(s.names)}, nil
}

// more reports whether the object or array has a next member.
func (s *scanner) more(m *members, end byte) (bool, error) {
	c := s.peek()
	switch {
	case c == end:
		s.at++
		s.depth--
		s.names = s.names[:m.first]
		return false, nil
	case m.begun && c != ',':
		return false, s.syntax("want , or %c, got %q", end, c)
	case m.begun:
		s.at++
	}
	m.begun = true
	return true, nil
}

// next returns the name of the next member, in quotes and as it is written;
// nil at the end of the object.
func (s *scanner) next(m *members) ([]byte, error) {
	if more, err := s.more(m, '}'); !more {
		return nil, err
	}
	if c := s.peek(); c != '"' {
		return nil, s.syntax("want the name of a member, got %q", c)
	}
	start := s.at
	if err := s.skipString(); err != nil {
		return nil, err
	}
	name := s.data[start:s.at:s.at]
	if s.strict {
		if err := s.note(m, name); err != nil {
			return nil, err
		}
	}
	if c := s.peek(); c != ':' {
		return nil, s.syntax("want :, got %q", c)
	}
	s.at++
	return name, nil
}

// note refuses a name that the object has had.
func (s *scanner) note(m *members, name []byte) error {
	if text, plain := plainString(name); plain {
		name = text
	} else {
		name, _ = jsontext.AppendUnquote(nil, name)
	}
	had := s.names[m.first:]
	switch {
	case m.many[string(name)], m.many == nil && slices.ContainsFunc(had, func(other []byte) bool { return bytes.Equal(other, name) }):
		return fmt.Errorf("%w %.100q", errDuplicate, name)
	case m.many == nil && len(had) < manyNames:
		s.names = append(s.names, name)
		return nil
	case m.many == nil:
		m.many = map[string]bool{}
		for _, other := range had {
			m.many[string(other)] = true
		}
	}
	m.many[string(name)] = true
	return nil
}

// object reads an object; f reads the value of each member. Servers may write
// names with escapes; f gets them without.
func (s *scanner) object(f func(name []byte) error) error {
	m, err := s.open()
	for err == nil {
		var name []byte
		if name, err = s.next(&m); name == nil {
			return err
		}
		if !s.strict && bytes.IndexByte(name, '\\') >= 0 {
			name = Quote(Unquote(name))
		}
		err = f(name)
	}
	return err
}

// array reads an array; f reads each element.
func (s *scanner) array(f func() error) error {
	m, err := s.open()
	for err == nil {
		var more bool
		if more, err = s.more(&m, ']'); !more {
			return err
		}
		err = f()
	}
	return err
}

// skipMember and skip read a value that is not needed.
func (s *scanner) skipMember([]byte) error { return s.skip() }

func (s *scanner) skip() error {
	_, err := s.value()
	return err
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		return s.syntax("want %s", word)
	}
	s.at += len(word)
	return nil
}

func (s *scanner) number() error {
	s.accept("-")
	if !s.accept("0") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept(".") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return nil
}

// accept skips the next byte if it is one of set, and reports whether it did.
func (s *scanner) accept(set string) bool {
	if s.at == len(s.data) || strings.IndexByte(set, s.data[s.at]) < 0 {
		return false
	}
	s.at++
	return true
}

func (s *scanner) digits() error {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	if s.at == start {
		return s.syntax("want a digit")
	}
	return nil
}

// Words of eight bytes that hold the same byte.
const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

// skipString reads a string.
func (s *scanner) skipString() error {
	ascii := true
	for i := s.at + 1; ; {
		n, plain := LiteralText(s.data[i:])
		ascii = ascii && plain
		if i += n; i == len(s.data) {
			s.at = i
			return s.syntax("unexpected end of a string")
		}
		switch s.data[i] {
		case '"':
			if !ascii && !utf8.Valid(s.data[s.at:i]) {
				if s.strict {
					return s.syntax("a string is not UTF-8")
				}
				s.broken = true
			}
			s.at = i + 1
			return nil
		case '\\':
			n, err := s.escape(i)
			if err != nil {
				return err
			}
			i += n
		default:
			s.at = i
			return s.syntax("unexpected control character in a string")
		}
	}
}

// LiteralText returns how many bytes of a string stand for themselves, up to a
// quote, a backslash or a control character, and whether they are ASCII. It
// looks at eight bytes at a time: nearly all bytes of large messages are text.
func LiteralText[T string | []byte](data T) (n int, ascii bool) {
	wide := uint64(0)
	for n+8 <= len(data) {
		b := data[n : n+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quotes, slashes := w^('"'*ones), w^('\\'*ones)
		marked := ((w-0x20*ones)&^w | (quotes-ones)&^quotes | (slashes-ones)&^slashes) & highBits
		if marked != 0 { // the lowest bit is right; a borrow may set higher ones
			end := bits.TrailingZeros64(marked) / 8
			wide |= w & (1<<(8*end) - 1)
			return n + end, wide&highBits == 0
		}
		wide |= w
		n += 8
	}
	for n < len(data) && data[n] != '"' && data[n] != '\\' && data[n] >= 0x20 {
		wide |= uint64(data[n])
		n++
	}
	return n, wide&highBits == 0
}

// escape returns the length of the escape at i.
func (s *scanner) escape(i int) (int, error) {
	s2 := s.data[i:]
	if len(s2) < 2 {
		return 0, s.syntax("unexpected end of a string")
	}
	switch s2[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
	default:
		return 0, s.syntax("unknown escape \\%c in a string", s2[1])
	}
	high, ok := codeUnit(s2)
	if !ok {
		return 0, s.syntax("\\u without four hexadecimal digits in a string")
	}
	if !s.strict || high < 0xD800 || high > 0xDFFF {
		return 6, nil
	}
	if low, ok := codeUnit(s2[6:]); !ok || high > 0xDBFF || low < 0xDC00 || low > 0xDFFF {
		return 0, s.syntax("half of a surrogate pair in a string")
	}
	return 12, nil
}

// codeUnit returns the number of an escape \uXXXX.
func codeUnit(b []byte) (n rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var unit [2]byte
	_, err := hex.Decode(unit[:], b[2:6])
	return rune(unit[0])<<8 | rune(unit[1]), err == nil
}

// plainString returns the text of a JSON string, if it is written as it is.
func plainString(raw []byte) (text []byte, plain bool) {
	text = raw[1 : len(raw)-1]
	return text, bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text)
}

// end returns an error if anything but white space follows.
func (s *scanner) end() error {
	if s.peek() != 0 || s.at < len(s.data) {
		return s.syntax("data after the value")
	}
	return nil
}
