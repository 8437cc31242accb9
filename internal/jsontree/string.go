package jsontree

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// String writes v on one line for people, cut where it gets long.
func (v *Value) String() string { return Clip(string(v.appendShort(nil)), maxShown) }

const maxShown = 80 // bytes of a value that people are shown

// Brief returns the type of v and how it begins.
func Brief(v *Value) string {
	switch v.Kind {
	case KindNull:
		return "null"
	case KindBoolean:
		return "boolean " + string(v.Raw)
	}
	return v.Kind.String() + " " + Clip(string(v.Raw), 45)
}

// Clip shortens text to about n bytes, and keeps it on one line.
func Clip(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}

func (v *Value) appendShort(b []byte) []byte {
	switch {
	case v.Kind == KindString:
		b, _ = jsontext.AppendQuote(b, Clip(v.Text, maxShown)) // its only error is the replacement of bad UTF-8
		return b
	case v.Kind&(KindArray|KindObject) == 0:
		return append(b, v.Raw...)
	}
	opening := v.Raw[0]
	b = append(b, opening)
	for i, kid := range v.Kids {
		if len(b) > maxShown+20 { // the rest is cut anyway
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		if v.Kind == KindObject {
			b, _ = jsontext.AppendQuote(b, kid.Name)
			b = append(b, ':')
		}
		b = kid.appendShort(b)
	}
	return append(b, opening+2) // the closing bracket
}
