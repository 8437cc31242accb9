// Package longjson scans JSON that is too long for memory while it arrives, and keeps it
// in a file.
//
//	a message ──▶ Scanner: is it JSON, and where are its result and its long strings?
//	        └───▶ a file ──▶ Object: the result, copied in pieces or loaded
//	                   └───▶ Text: what one of the strings says
package longjson

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

const (
	deepestMessage = 10_000
	longString     = 64 << 10 // bytes from which on a string is noted
	maxStrings     = 16       // of these
	maxMembers     = 64       // of a result
	longestToken   = 1 << 10  // bytes of a name, a number or an id that are kept
	longestURI     = 2 << 10
	longestPart    = 8 << 10
	maxURIs        = 1000
)

// A Span is a part of a message: its first byte, and the one after its last.
type Span struct{ From, To int64 }

func (s Span) size() int64 { return s.To - s.From }

// A Member is one member of a result. Its span begins with its name.
type Member struct {
	Name string
	Span
	Value int64 // where its value begins
	Kind  byte  // the first byte of the value
}

// A String is a long string of a result, without its quotes.
type String struct {
	Span
	Text bool // it may be replaced by another text
}

// A URI is a string of a result that names a resource: a member that is called
// so, and is not part of data.
type URI struct {
	Text    string
	Span         // with its quotes
	Content bool // it is that of a block of content, or of the resource in one

	renamed bool
}

// A Scanner checks a response that comes in pieces, which Write takes, and finds
// its result. It keeps little of it, however long it is.
type Scanner struct {
	ID      []byte  // of the message, as it is written
	Result  Span    // an object
	Strings Strings // of the result
	Members []Member
	Request bool // the message has a method or params
	URIs    []URI
	More    bool // there are more of them
	Odd     bool // a client may refuse something in the content; see [wire.Answer]
	Newer   bool // older versions lack a type of the content; see [wire.Answer]

	at    int64
	want  expected
	stack []byte    // the open brackets
	names [6]string // of the members that are open, by the depth of their object
	last  string    // the name that was read last
	data  int       // the depth of the object that has the data which is read; 0 for none
	verdict
	token
	part
}

// A part is a member of a block of content that is kept while it is read: whether a
// client may refuse it is known when it has ended.
type part struct {
	of    string // the name of the member; "" for none
	depth int    // of its object
	value []byte
}

// A verdict is what is known of the message so far.
type verdict struct {
	Broken    bool // a string is not UTF-8, or has half of a surrogate pair
	version   bool // it is one of JSON-RPC 2.0
	malformed bool // it is not one response with an object as its result, or has something twice
	failed    bool // it is not JSON
}

// Strings are the long strings of a result.
type Strings struct {
	All  []String
	More bool // there are more than these
}

// Texts reports whether all of them are texts, and few.
func (s *Strings) Texts() bool {
	return len(s.All) > 0 && !s.More && !slices.ContainsFunc(s.All, func(t String) bool { return !t.Text })
}

// expected is what may come next.
type expected byte

const (
	anyValue expected = iota
	elementOrEnd
	nameOrEnd
	anyName
	colon
	commaOrEnd
	nothing
)

// A token is a string, a number or a word that is being read.
type token struct {
	kind  byte // '"', '0' for a number or a word, 0 for none
	name  bool // of a member
	start int64
	text  []byte // what it begins with
	cut   []byte // the beginning of a character of a string
	// Of an escape in a string: the next byte follows a backslash, so many digits
	// are missing, and what the others say.
	escaped bool
	digits  int
	unit    rune
	high    bool // the escape before is the first half of a surrogate pair
}

// Done reports whether all that was written is one response, and whether its
// result was found, with its members.
func (s *Scanner) Done() bool {
	return s.version && !s.failed && !s.malformed && s.want == nothing && s.kind == 0 && s.Result.To > 0 && s.ID != nil
}

// Write takes the next piece. It never fails: [Scanner.Done] reports errors.
func (s *Scanner) Write(p []byte) (int, error) {
	start := s.at
	for i := 0; i < len(p) && !s.failed; {
		before := i
		switch s.kind {
		case '"':
			s.inString(p[i:])
		case '0':
			s.inWord(p[i:])
		default:
			s.next(p[i])
		}
		if i = int(s.at - start); s.part.of != "" {
			s.inPart(p[before:i])
		}
	}
	return len(p), nil
}

// beginInContent notes a value that begins with c, if it is in the content.
func (s *Scanner) beginInContent(c byte) {
	s.Odd = s.Odd || s.isOddInContent(c)
	if name := s.nameInContent(); name != "" && !s.Odd && wire.HasParts(name) {
		s.part = part{of: name, depth: len(s.stack)}
	}
}

// inPart takes more of a part.
func (s *Scanner) inPart(p []byte) {
	if s.part.value = append(s.part.value, p...); len(s.part.value) > longestPart {
		s.Odd, s.part = true, part{}
	} else if s.kind == 0 && s.want == commaOrEnd && len(s.stack) == s.part.depth {
		s.Odd, s.part = s.Odd || wire.OddValue(s.part.of, s.part.value), part{}
	}
}

// next takes a byte between tokens.
func (s *Scanner) next(c byte) {
	switch {
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.at++
	case s.want <= elementOrEnd && c != ']':
		s.value(c)
	case c == '}' || c == ']':
		s.close(c - 2) // the codes of a pair of brackets differ by two
	case c == '"' && (s.want == nameOrEnd || s.want == anyName):
		s.token = token{kind: '"', name: true, start: s.at, text: append(s.text[:0], c)}
		s.at++
	default:
		s.separator(c)
	}
}

// separator takes a colon or a comma.
func (s *Scanner) separator(c byte) {
	switch {
	case c == ':' && s.want == colon:
		s.want = anyValue
	case c == ',' && s.want == commaOrEnd && s.stack[len(s.stack)-1] == '[':
		s.want = anyValue
	case c == ',' && s.want == commaOrEnd:
		s.want = anyName
	default:
		s.failed = true
	}
	s.at++
}

// value takes the first byte of a value.
func (s *Scanner) value(c byte) {
	if m := s.member(); m != nil {
		m.Value, m.Kind = s.at, c
	}
	if len(s.stack) == 1 && s.names[1] == "result" && c == '{' {
		s.Result.From = s.at
	}
	s.beginInContent(c)
	switch {
	case c == '{' || c == '[':
		s.open(c)
	case c == '"':
		s.token = token{kind: '"', start: s.at, text: append(s.text[:0], c)}
		s.at++
	default:
		s.token = token{kind: '0', start: s.at, text: s.text[:0]}
	}
}

// open takes a bracket that opens an object or an array.
func (s *Scanner) open(c byte) {
	if s.want = nameOrEnd; c == '[' {
		s.want = elementOrEnd
	}
	s.malformed = s.malformed || len(s.stack) == 0 && c == '['
	if s.data == 0 && s.inObject() && slices.Contains(wire.DataMembers, s.last) {
		s.data = len(s.stack)
	}
	s.stack = append(s.stack, c)
	s.failed = len(s.stack) > deepestMessage
	s.setName("")
	s.at++
}

// member returns the member of the result whose value is being read, nil if
// there is none.
func (s *Scanner) member() *Member {
	if len(s.stack) != 2 || s.names[1] != "result" || len(s.Members) == 0 {
		return nil
	}
	return &s.Members[len(s.Members)-1]
}

// close takes a bracket that closes another.
func (s *Scanner) close(open byte) {
	empty := nameOrEnd
	if open == '[' {
		empty = elementOrEnd
	}
	last := len(s.stack) - 1
	if s.want != commaOrEnd && s.want != empty || s.stack[last] != open {
		s.failed = true
		return
	}
	s.stack = s.stack[:last]
	s.at++
	if last == 1 && s.names[1] == "result" && open == '{' {
		s.Result.To = s.at
	}
	s.endValue()
}

// endValue notes the end of a value, which was the byte before.
func (s *Scanner) endValue() {
	s.want = commaOrEnd
	if len(s.stack) == 0 {
		s.want = nothing
	}
	if s.data == len(s.stack) {
		s.data = 0
	}
	if m := s.member(); m != nil {
		m.To = s.at
	}
}

// inWord takes more of a number or of a word.
func (s *Scanner) inWord(p []byte) {
	n := bytes.IndexFunc(p, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '-' && r != '+' && r != '.' && r != 'E'
	})
	ends := n >= 0
	if !ends {
		n = len(p)
	}
	s.keep(p[:n], longestToken+1)
	s.at += int64(n)
	if !ends {
		return
	}
	s.kind = 0
	s.failed = len(s.text) > longestToken || !wire.Valid(s.text)
	s.identify()
	s.endValue()
}

// keep keeps the beginning of a token.
func (s *Scanner) keep(p []byte, most int) {
	s.text = append(s.text, p[:max(0, min(len(p), most-len(s.text)))]...)
}

// identify takes the id of the message, or its version.
func (s *Scanner) identify() {
	switch {
	case len(s.stack) != 1:
	case s.names[1] == "id" && s.ID != nil:
		s.malformed = true // the first one counts
	case s.names[1] == "id":
		s.ID = bytes.Clone(s.text)
	case s.names[1] == "jsonrpc":
		s.malformed = s.malformed || s.version
		s.version = string(s.text) == `"2.0"`
	}
}
