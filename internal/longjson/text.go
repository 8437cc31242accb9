package longjson

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a reader of the text that a part of the message stands for: the content of
// a JSON string (RFC 8259, 7), without its quotes. Bytes that are not an escape stay
// unchanged.
func (s *Spool) Text(part Span) io.Reader { return &text{spool: s, rest: part} }

type text struct {
	spool *Spool
	rest  Span   // of the message
	ready []byte // what comes before the rest
}

func (t *text) Read(p []byte) (n int, err error) {
	if len(t.ready) == 0 {
		room := p
		if len(p) < longest {
			room = make([]byte, longest)
		}
		part := Span{t.rest.From, min(t.rest.To, t.rest.From+int64(len(room)))}
		piece, err := t.spool.piece(part, room)
		if err != nil {
			return 0, err
		}
		b, cut := Unescape(room[:0], piece, part.From+int64(len(piece)) == t.rest.To)
		if t.rest.From += int64(len(piece) - len(cut)); len(p) >= longest && len(b) > 0 {
			return len(b), nil
		}
		t.ready = b
	}
	if n = copy(p, t.ready); n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	t.ready = t.ready[n:]
	return n, nil
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
	apart := len(p) > 0 && cap(b)-len(b) >= len(p) && &b[:1][0] != &p[0]
	for {
		if apart && len(p) >= 64 { // it pays
			read, written := unescapeBlocks(&b[:len(b)+1][len(b)], &p[0], len(p))
			b, p = b[:len(b)+written], p[read:]
		}
		n := bytes.IndexByte(p, '\\')
		if n < 0 {
			return append(b, p...), nil
		}
		b, p = append(b, p[:n]...), p[n:]
		switch {
		case len(p) > 1 && p[1] == 'n': // most of them
			b, p = append(b, '\n'), p[2:]
			continue
		case len(p) < longest && !last:
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
