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
// {"error": …}. An event of more than most bytes ends the stream with tooLong.
func Events(r io.Reader, open bool, most int, tooLong error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := NewLines(r, most, tooLong)
		var data []byte
		for {
			line, err := lines.Read()
			if len(data)+len(line) > most {
				err = tooLong
			}
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			data = appendField(data, line)
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

// appendField adds a line to the data of an event, if it has some.
func appendField(data, line []byte) []byte {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch value = bytes.TrimPrefix(value, []byte(" ")); string(name) {
	case "data":
		return append(append(data, value...), '\n')
	case "error":
		return append(append(append(data, `{"error":`...), value...), "}\n"...)
	}
	return data
}

// Lines reads the lines of a stream of events, which end with a line feed, a carriage
// return, or both. It takes linear time: a bufio.Scanner, and with it the decoders of
// the providers' SDKs, would search all of a long line again after each read.
type Lines struct {
	r       *bufio.Reader
	most    int   // bytes of a line
	tooLong error // of a longer line
	afterCR bool  // a line feed that comes next belongs to the line before
}

// NewLines returns the lines of r. For one of more than most bytes, Read returns
// tooLong.
func NewLines(r io.Reader, most int, tooLong error) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), most: most, tooLong: tooLong}
}

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
			if len(line)+len(piece) > l.most {
				return nil, l.tooLong
			}
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
