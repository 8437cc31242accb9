package stdtool

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"unicode/utf8"
)

// maxLine is how much of one line is looked at.
const maxLine = 1 << 20

// A line is one line of a file, without its line end.
type line struct {
	number int // from 1
	text   []byte
	size   int // bytes, also where only the beginning is in text
}

// lines yields the lines of r. Their text is valid until the next one.
func lines(r *bufio.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		var text []byte
		for n := 1; ; n++ {
			var (
				chunk []byte
				err   = bufio.ErrBufferFull
				size  int
			)
			text = text[:0]
			for errors.Is(err, bufio.ErrBufferFull) {
				chunk, err = r.ReadSlice('\n')
				size += len(chunk)
				text = append(text, chunk[:min(len(chunk), maxLine-len(text))]...)
			}
			if err != nil && err != io.EOF {
				yield(line{}, err)
				return
			}
			if size == 0 {
				return
			}
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
			if !yield(line{n, text, size}, nil) || err == io.EOF {
				return
			}
		}
	}
}

// clip returns at most limit bytes of the beginning of text, as valid UTF-8 and with
// a mark where it was cut.
func clip(text []byte, limit int) string {
	if len(text) <= limit {
		return validUTF8(string(text))
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return validUTF8(string(text[:limit])) + "…"
}
