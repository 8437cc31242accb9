// Package longjson reads JSON that is too long for memory.
//
//	file ──▶ Shorten ──▶ the same JSON, its long strings empty ──▶ any decoder
//	   └──── Cut ──▶ Text: what one of those strings says
package longjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A Shortener gives JSON whose long strings are empty. It checks nothing: who
// reads what it gives does.
type Shortener struct {
	r       *bufio.Reader
	most    int
	cuts    []Cut
	in, out int64
	run     int    // bytes since the last string or mark of structure
	pass    int    // bytes that are given as they are
	pending []byte // what is given before more is read
}

// A Cut is a string that was left empty.
type Cut struct {
	At       int64 // where its quotes are in what the Shortener gives
	From, To int64 // its content in the source, with its escapes
}

// ErrRun reports a number, a literal or white space without an end in sight.
var ErrRun = errors.New("a number or white space is too long")

// Shorten empties the strings that have more than most bytes with their escapes.
// What else is as long is an [ErrRun].
func Shorten(r io.Reader, most int) *Shortener {
	return &Shortener{r: bufio.NewReaderSize(r, 4*(most+2)), most: most}
}

// Cuts are those of what was read, in order.
func (s *Shortener) Cuts() []Cut { return s.cuts }

// Source returns where in the source is what was given at an offset. It does so
// for what was read.
func (s *Shortener) Source(offset int64) int64 {
	at := offset
	for _, c := range s.cuts {
		if c.At < offset {
			at += c.To - c.From
		}
	}
	return at
}

// Read implements [io.Reader].
func (s *Shortener) Read(p []byte) (int, error) {
	if len(s.pending) == 0 && s.pass == 0 && len(p) > 0 {
		if err := s.plan(); err != nil {
			return 0, err
		}
	}
	if len(s.pending) > 0 {
		n := copy(p, s.pending)
		s.pending = s.pending[n:]
		s.out += int64(n)
		return n, nil
	}
	n, err := s.r.Read(p[:min(len(p), s.pass)])
	s.pass -= n
	s.in += int64(n)
	s.out += int64(n)
	return n, err
}

// plan decides what is given next.
func (s *Shortener) plan() error {
	if _, err := s.r.Peek(1); err != nil {
		return err
	}
	ready, _ := s.r.Peek(s.r.Buffered())
	if s.pass = bytes.IndexByte(ready, '"'); s.pass != 0 {
		if s.pass < 0 {
			s.pass = len(ready)
		}
		return s.runs(ready[:s.pass])
	}
	s.run = 0
	text, err := s.r.Peek(s.most + 2)
	end, _ := stringEnd(text[1:], false)
	switch {
	case end >= 0:
		s.pass = end + 2
	case err != nil: // it has no end
		s.pass = len(text)
	default:
		return s.cut()
	}
	return nil
}

// runs sees to what is between strings.
func (s *Shortener) runs(b []byte) error {
	for i := 0; i < len(b); {
		next := bytes.IndexAny(b[i:], ",:[]{}")
		if next < 0 {
			s.run += len(b) - i
			break
		}
		if s.run += next; s.run > s.most {
			break
		}
		s.run, i = 0, i+next+1
	}
	if s.run > s.most {
		return ErrRun
	}
	return nil
}

// cut skips a string.
func (s *Shortener) cut() error {
	c := Cut{At: s.out, From: s.in + 1}
	s.discard(1)
	for escaped := false; ; {
		if _, err := s.r.Peek(1); err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
		ready, _ := s.r.Peek(s.r.Buffered())
		var end int
		if end, escaped = stringEnd(ready, escaped); end < 0 {
			s.discard(len(ready))
			continue
		}
		s.discard(end)
		c.To = s.in
		s.discard(1)
		s.cuts = append(s.cuts, c)
		s.pending = []byte(`""`)
		return nil
	}
}

func (s *Shortener) discard(n int) {
	_, _ = s.r.Discard(n) // they are buffered
	s.in += int64(n)
}

// stringEnd returns where the quote is that ends a string of which b is a part;
// -1 if it is not there, and whether the byte after b is escaped. Escaped says
// so of the first byte of b.
func stringEnd(b []byte, escaped bool) (end int, next bool) {
	start := 0
	if escaped && len(b) > 0 {
		start = 1
	}
	for {
		end := len(b)
		q := bytes.IndexByte(b[start:], '"')
		if q >= 0 {
			end = start + q
		}
		odd := len(b) == 0 && escaped
		for i := end; i > start && b[i-1] == '\\'; i-- {
			odd = !odd
		}
		switch {
		case q < 0:
			return -1, odd
		case !odd:
			return end, false
		}
		start = end + 1
	}
}
