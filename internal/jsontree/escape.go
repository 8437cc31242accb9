package jsontree

import (
	"bytes"
	"unicode/utf8"
)

// escape returns the length of the escape that data starts with, 0 if it is
// refused.
func (s *Scanner) escape(data []byte) int {
	n, half := escapeLen(data)
	if half && !s.Lenient {
		return 0
	}
	s.Broken = s.Broken || half
	return n
}

// isShortEscape reports whether c makes an escape of two bytes, as nearly all of them.
func isShortEscape(c byte) bool {
	const low = 1<<'"' | 1<<'/'
	const high = 1<<('\\'-64) | 1<<('b'-64) | 1<<('f'-64) | 1<<('n'-64) | 1<<('r'-64) | 1<<('t'-64)
	if c < 64 {
		return uint64(low)>>c&1 == 1
	}
	return c < 128 && uint64(high)>>(c-64)&1 == 1
}

// escapeLen returns the length of the escape that data starts with: 12 for a
// surrogate pair, 6 for half a pair, 0 for none that is valid.
func escapeLen(data []byte) (n int, half bool) {
	if len(data) < 2 {
		return 0, false
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, false
	case 'u':
	default:
		return 0, false
	}
	switch r := hex4(data[2:]); {
	case r < 0:
		return 0, false
	case r < 0xd800 || r >= 0xe000:
		return 6, false
	case r >= 0xdc00:
		return 6, true
	}
	if len(data) >= 12 && data[6] == '\\' && data[7] == 'u' && hex4(data[8:])>>10 == 0xdc00>>10 {
		return 12, false
	}
	return 6, true
}

// EscapeLen returns the length of the escape that data starts with, 1 if it is not
// valid.
func EscapeLen(data []byte) int {
	n, _ := escapeLen(data)
	return max(n, 1)
}

// ReplaceHalves writes \ufffd over each half of a surrogate pair in JSON. Nothing
// moves: an escape has six bytes.
func ReplaceHalves(data []byte) {
	for i := 0; i < len(data); {
		next := bytes.IndexByte(data[i:], '\\')
		if next < 0 {
			return
		}
		i += next
		n, half := escapeLen(data[i:])
		if half {
			copy(data[i:], `\ufffd`)
		}
		i += max(n, 1)
	}
}

func hex4(data []byte) rune {
	if len(data) < 4 {
		return -1
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Unescape returns the text of a string token that was scanned. Half of a surrogate
// pair becomes U+FFFD.
func Unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		n, half := escapeLen(raw[i:])
		switch c := raw[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(raw[i+2:])
			switch {
			case half:
				r = utf8.RuneError
			case n == 12:
				r = (r-0xd800)<<10 + hex4(raw[i+8:]) - 0xdc00 + 0x10000
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		i += n
	}
	return out
}
