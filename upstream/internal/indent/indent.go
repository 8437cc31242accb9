// Package indent indents JSON that is too long for memory while it is read.
package indent

import (
	"bufio"
	"bytes"
	"io"
)

// Reader returns a reader of the JSON in r, with each element and member on a line of its
// own.
func Reader(r io.Reader) io.Reader {
	return &lines{r: bufio.NewReaderSize(r, 32<<10)}
}

type lines struct {
	r       *bufio.Reader
	pending []byte
	buffer  []byte // that of pending
	depth   int
	opened  bool // the last thing was an opening bracket
	quoted  bool // within a string
	escaped bool
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		if _, err := l.r.Peek(1); err != nil {
			return 0, err
		}
		ready, _ := l.r.Peek(l.r.Buffered())
		l.buffer = l.buffer[:0]
		for rest := ready; len(rest) > 0; {
			rest = rest[l.take(rest):]
		}
		_, _ = l.r.Discard(len(ready)) // they are buffered
		l.pending = l.buffer
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// take gives what b begins with, and returns its length.
func (l *lines) take(b []byte) int {
	switch {
	case l.escaped:
		l.escaped = false
		l.buffer = append(l.buffer, b[0])
		return 1
	case l.quoted:
		n := bytes.IndexAny(b, "\"\\") + 1
		if n == 0 {
			n = len(b)
		}
		l.quoted, l.escaped = b[n-1] != '"', b[n-1] == '\\'
		l.buffer = append(l.buffer, b[:n]...)
		return n
	}
	switch c := b[0]; c {
	case ' ', '\t', '\r', '\n':
	case '}', ']':
		l.depth--
		if !l.opened {
			l.line()
		}
		l.opened = false
		l.buffer = append(l.buffer, c)
	default:
		if l.opened {
			l.line()
		}
		l.opened = c == '{' || c == '['
		l.quoted = c == '"'
		l.buffer = append(l.buffer, c)
		switch c {
		case '{', '[':
			l.depth++
		case ',':
			l.line()
		case ':':
			l.buffer = append(l.buffer, ' ')
		}
	}
	return 1
}

// deepest is how far lines are indented at the most.
const deepest = 32

func (l *lines) line() {
	l.buffer = append(l.buffer, '\n')
	l.buffer = append(l.buffer, bytes.Repeat([]byte{'\t'}, max(0, min(l.depth, deepest)))...)
}
