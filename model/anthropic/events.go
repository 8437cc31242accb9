package anthropic

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// events yields the data of the events of a stream. The SDK's own decoder
// searches all of a long line again after each read, so that a hostile server
// keeps it busy for hours.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReaderSize(body, 64<<10)
		var data []byte
		for {
			line, err := readLine(lines)
			if err != nil { // an event without the empty line at its end is not complete
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			switch {
			case string(name) == "data":
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			case len(line) == 0 && len(data) > 0:
				if !yield(data, nil) {
					return
				}
				data = nil
			}
		}
	}
}

// readLine returns a line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}
