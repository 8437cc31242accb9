package jsontree

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// String writes v on one line for people, cut where it gets long.
func (v *Value) String() string { return clip(string(v.appendShort(nil))) }

const maxShown = 80 // bytes of a value that people are shown

// clip cuts text between characters.
func clip(text string) string {
	n := maxShown
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

func (v *Value) appendShort(b []byte) []byte {
	switch {
	case v.Kind == KindString:
		b, _ = jsontext.AppendQuote(b, clip(v.Text)) // its only error is the replacement of bad UTF-8
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
