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
// out. The caller limits the size of the stream.
func Events(r io.Reader, open bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10)
		var data []byte
		for {
			line, err := ReadLine(lines)
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			if string(name) == "data" {
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
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

// ReadLine returns a line without its end. It takes linear time: a bufio.Scanner,
// and with it the decoders of the providers' SDKs, would search all of a long line
// again after each read.
func ReadLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
		}
	}
}
