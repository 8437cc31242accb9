// Package sse reads streams of server-sent events.
package sse

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// Events yields the data of each event that has some. Open reports whether the
// last event counts without the empty line at its end, which some servers leave
// out. A field "error", by which llama.cpp once reported failures, is the data
// {"error": …}. The caller limits the size of the stream.
func Events(r io.Reader, open bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := NewLines(r)
		var data []byte
		for {
			line, err := lines.Read()
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			switch value = bytes.TrimPrefix(value, []byte(" ")); string(name) {
			case "data":
				data = append(append(data, value...), '\n')
			case "error":
				data = append(append(append(data, `{"error":`...), value...), "}\n"...)
			}
			ends := len(line) == 0 && err == nil || open && err == io.EOF
			if ends && len(data) > 0 {
				if !yield(data, nil) {
					return
				}
				data = nil
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// Lines reads the lines of a stream of events, which end with a line feed, a carriage
// return, or both. It takes linear time: a bufio.Scanner, and with it the decoders of
// the providers' SDKs, would search all of a long line again after each read.
type Lines struct {
	r       *bufio.Reader
	afterCR bool // a line feed that comes next belongs to the line before
}

// NewLines returns the lines of r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 64<<10)} }

// Read returns a line without its end. The last one comes with the error that ended
// the stream. It does not wait for what follows a carriage return.
func (l *Lines) Read() ([]byte, error) {
	var line []byte
	for {
		if _, err := l.r.Peek(1); err != nil {
			return line, err
		}
		piece, _ := l.r.Peek(l.r.Buffered())
		if l.afterCR && piece[0] == '\n' {
			_, _ = l.r.Discard(1) // it is there
			l.afterCR = false
			continue
		}
		l.afterCR = false
		end := bytes.IndexAny(piece, "\r\n")
		if end < 0 {
			line = append(line, piece...)
			_, _ = l.r.Discard(len(piece))
			continue
		}
		l.afterCR = piece[end] == '\r'
		line = append(line, piece[:end]...)
		_, _ = l.r.Discard(end + 1)
		return line, nil
	}
}
