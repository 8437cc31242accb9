package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
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

// A scanner walks through JSON once, without copies. If it is not lenient, it
// also refuses duplicate members.
type scanner struct {
	jsontree.Scanner
	depth int
	most  int  // levels; lenientDepth if 0
	links bool // a string began with StartOfLink
	names [][]byte
}

// lenient returns a scanner for what servers write.
func lenient(data []byte) scanner {
	return scanner{Scanner: jsontree.Scanner{Data: data, Lenient: true}}
}

// StartOfLink is what the strings "resource" and "resource_link" begin with: the
// types of the parts of a result that name resources.
const StartOfLink = `"resource`

// expected returns the error of a place where something else was expected.
func (s *scanner) expected(what string) error {
	s.Fail(what)
	return s.Err()
}

// value reads a value of any kind and returns its bytes.
func (s *scanner) value() ([]byte, error) {
	c := s.Peek()
	start, ok := s.Pos, true
	var err error
	switch {
	case c == '"':
		s.links = s.links || bytes.HasPrefix(s.Data[s.Pos:], []byte(StartOfLink))
		_, _, ok = s.Text()
	case c == '{':
		err = s.object(s.skipMember)
	case c == '[':
		err = s.array(s.skip)
	case c == 't':
		ok = s.Literal("true")
	case c == 'f':
		ok = s.Literal("false")
	case c == 'n':
		ok = s.Literal("null")
	case c == '-' || c >= '0' && c <= '9':
		_, ok = s.SkipNumber()
	default:
		ok = s.Fail("a value")
	}
	if !ok {
		err = s.Err()
	}
	return s.Data[start:s.Pos:s.Pos], err
}

// Members of the object or array that is being read.
type members struct {
	begun bool
	first int             // of its names in scanner.names
	many  map[string]bool // its names, if they are many
}

// manyNames is from how many names on they are searched in a map. A message has about
// usualNames, of all objects that it is in the middle of.
const (
	manyNames  = 32
	usualNames = 10
)

// open reads the beginning of an object or array.
func (s *scanner) open() (members, error) {
	if s.depth++; s.depth > cmp.Or(s.most, lenientDepth) {
		return members{}, errDeep
	}
	s.Pos++
	return members{first: len(s.names)}, nil
}

// more reports whether the object or array has a next member.
func (s *scanner) more(m *members, end byte) (bool, error) {
	c := s.Peek()
	switch {
	case c == end:
		s.Pos++
		s.depth--
		s.names = s.names[:m.first]
		return false, nil
	case m.begun && c != ',':
		return false, s.expected(fmt.Sprintf(`"," or "%c"`, end))
	case m.begun:
		s.Pos++
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
	if s.Peek() != '"' {
		return nil, s.expected("the name of a member")
	}
	start := s.Pos
	if _, _, ok := s.Text(); !ok {
		return nil, s.Err()
	}
	name := s.Data[start:s.Pos:s.Pos]
	if !s.Lenient {
		if err := s.note(m, name); err != nil {
			return nil, err
		}
	}
	if s.Peek() != ':' {
		return nil, s.expected(`":"`)
	}
	s.Pos++
	return name, nil
}

// note refuses a name that the object has had.
func (s *scanner) note(m *members, name []byte) error {
	if bytes.IndexByte(name, '\\') < 0 {
		name = name[1 : len(name)-1] // it is UTF-8, as the scanner is not lenient
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
		if s.Lenient && bytes.IndexByte(name, '\\') >= 0 {
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

// end returns an error if anything but white space follows.
func (s *scanner) end() error {
	if !s.End() {
		return s.Err()
	}
	return nil
}
