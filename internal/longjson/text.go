package longjson

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a reader of the text that the content of a JSON string stands for
// (RFC 8259, 7), without its quotes. Bytes that are not an escape stay unchanged.
// It borrows a buffer until it has read all.
func Text(r io.Reader, from *Buffers) io.Reader { return &text{r: r, from: from} }

type text struct {
	r      io.Reader
	from   *Buffers
	buffer *Buffer
	ready  []byte // text in buffer
	rest   []byte // bytes in buffer that may be the beginning of an escape
	err    error  // of r
}

func (t *text) Read(p []byte) (int, error) {
	if err := t.fill(); err != nil || len(p) == 0 {
		return 0, err
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

// WriteTo implements [io.WriterTo].
func (t *text) WriteTo(w io.Writer) (all int64, err error) {
	for {
		switch err := t.fill(); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return all, err
		}
		n, err := w.Write(t.ready)
		all, t.ready = all+int64(n), t.ready[n:]
		if err != nil {
			return all, err
		}
	}
}

// fill decodes the next bytes in place, unless there is text already.
func (t *text) fill() error {
	if t.buffer == nil && t.err == nil {
		t.buffer = t.from.Get()
	}
	for len(t.ready) == 0 && (t.err == nil || len(t.rest) > 0) {
		n := copy(t.buffer[:], t.rest)
		for n < len(t.buffer) && t.err == nil {
			var more int
			more, t.err = t.r.Read(t.buffer[n:])
			n += more
		}
		t.ready, t.rest = Unescape(t.buffer[:0], t.buffer[:n], t.err != nil)
	}
	if len(t.ready) > 0 {
		return nil
	}
	if t.buffer != nil {
		t.from.Put(t.buffer)
		t.buffer = nil
	}
	return t.err
}

const (
	escapes = `"\/bfnrt`
	meant   = "\"\\/\b\f\n\r\t"
	longest = len(`\ud800\udc00`) // of an escape
)

// Unescape appends to b the text that p, a part of the content of a JSON string,
// stands for. B may begin where p does. Unless p is the last part, Unescape
// returns what may be the beginning of an escape as rest.
func Unescape(b, p []byte, last bool) (text, rest []byte) {
	for {
		n := bytes.IndexByte(p, '\\')
		if n < 0 {
			return append(b, p...), nil
		}
		b, p = append(b, p[:n]...), p[n:]
		if len(p) < longest && !last {
			return b, p
		}
		r, size := escape(p)
		b, p = utf8.AppendRune(b, r), p[size:]
	}
}

// escape returns the character that the escape at the beginning of p stands for,
// and the length of the escape.
func escape(p []byte) (r rune, size int) {
	if len(p) > 1 {
		if i := strings.IndexByte(escapes, p[1]); i >= 0 {
			return rune(meant[i]), 2
		}
	}
	unit, ok := hex(p)
	if !ok {
		return '\\', 1
	}
	if utf16.IsSurrogate(unit) {
		low, _ := hex(p[6:])
		if unit = utf16.DecodeRune(unit, low); unit != utf8.RuneError {
			return unit, longest
		}
	}
	return unit, 6
}

// hex returns the code unit that b begins with as \uXXXX.
func hex(b []byte) (unit rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
