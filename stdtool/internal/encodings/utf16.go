package encodings

import (
	"bytes"
	"unicode"
	"unicode/utf16"

	textunicode "golang.org/x/text/encoding/unicode"
)

// detectUTF16 returns the forms of UTF-16 that content may be in, none if it is in
// another encoding or binary. Without a byte order mark it must have a zero byte, as
// every ASCII character has, and be text in that byte order.
func detectUTF16(content []byte) (all []*Encoding) {
	switch {
	case len(content)%2 != 0:
		return nil
	case bytes.HasPrefix(content, []byte("\xFF\xFE")) && isUTF16(content, 0, nil):
		return []*Encoding{utf16Text(textunicode.LittleEndian)}
	case bytes.HasPrefix(content, []byte("\xFE\xFF")) && isUTF16(content, 1, nil):
		return []*Encoding{utf16Text(textunicode.BigEndian)}
	case bytes.IndexByte(content, 0) < 0:
		return nil
	}
	if isUTF16(content, 0, isTextual) {
		all = append(all, utf16Text(textunicode.LittleEndian))
	}
	if isUTF16(content, 1, isTextual) {
		all = append(all, utf16Text(textunicode.BigEndian))
	}
	return all
}

// UTF16 returns the form of UTF-16 that a file with this beginning is in, nil if it is
// in another encoding, is binary, or may be in both.
func UTF16(head []byte) *Encoding {
	head = head[:len(head)&^1]
	for low := range 2 {
		n := len(head)
		if n > 2 && head[n-1-low]&0xFC == 0xD8 && isUTF16(head[:n-2], low, nil) { // half a pair
			head = head[:n-2]
			break
		}
	}
	if all := detectUTF16(head); len(all) == 1 {
		return all[0]
	}
	return nil
}

// isUTF16 reports whether content is valid UTF-16 without U+0000 whose characters are
// all accepted. The low byte of a unit is its first if low is 0.
func isUTF16(content []byte, low int, accept func(rune) bool) bool {
	for i := 0; i < len(content); i += 2 {
		r := unit(content, i, low)
		if utf16.IsSurrogate(r) {
			if i += 2; i == len(content) {
				return false
			}
			if r = utf16.DecodeRune(r, unit(content, i, low)); r == unicode.ReplacementChar {
				return false
			}
		}
		if r == 0 || accept != nil && !accept(r) {
			return false
		}
	}
	return true
}

func unit(content []byte, i, low int) rune {
	return rune(content[i+low]) | rune(content[i+1-low])<<8
}

// isTextual reports whether r is a character of text: assigned, and no control but for
// whitespace.
func isTextual(r rune) bool {
	return unicode.IsGraphic(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf) || r >= '\t' && r <= '\r'
}
