package longjson

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text gives the text that the content of a JSON string stands for (RFC 8259,
// 7), without its quotes. Bytes that are not an escape stay unchanged.
func Text(r io.Reader) io.Reader { return &text{r: bufio.NewReaderSize(r, 64<<10)} }

type text struct {
	r       *bufio.Reader
	pending []byte
}

func (t *text) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(t.pending) == 0 {
		if _, err := t.r.Peek(1); err != nil {
			return 0, err
		}
		ready, _ := t.r.Peek(t.r.Buffered())
		n := bytes.IndexByte(ready, '\\')
		if n < 0 {
			n = len(ready)
		}
		if n > 0 {
			n = copy(p, ready[:n])
			_, _ = t.r.Discard(n) // they are buffered
			return n, nil
		}
		t.unescape()
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

const (
	escapes = `"\/bfnrt`
	meant   = "\"\\/\b\f\n\r\t"
)

// unescape reads an escape.
func (t *text) unescape() {
	b, _ := t.r.Peek(len(`\ud800\udc00`)) // less at the end
	size, r := 1, rune('\\')
	if len(b) > 1 {
		if i := bytes.IndexByte([]byte(escapes), b[1]); i >= 0 {
			size, r = 2, rune(meant[i])
		} else if unit, ok := hex(b); ok {
			size, r = 6, unit
		}
	}
	if utf16.IsSurrogate(r) {
		low, _ := hex(b[6:])
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			size = 12
		}
	}
	_, _ = t.r.Discard(size) // they are buffered
	t.pending = utf8.AppendRune(t.pending[:0], r)
}

// hex returns the code unit that b begins with as \uXXXX.
func hex(b []byte) (unit rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
