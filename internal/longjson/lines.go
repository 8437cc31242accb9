package longjson

import (
	"bufio"
	"bytes"
	"io"
)

// Lines gives JSON with each element and member on a line of its own.
func Lines(r io.Reader) io.Reader {
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
	if l.quoted {
		end, escaped := stringEnd(b, l.escaped)
		n := end + 1
		if end < 0 {
			n = len(b)
		}
		l.quoted, l.escaped = end < 0, escaped
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
