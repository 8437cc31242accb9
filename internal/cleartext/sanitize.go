package cleartext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s as one line that cannot control a terminal.
func Printable(s string) string {
	return Sanitize(strings.NewReplacer("\t", " ", "\n", " ").Replace(s))
}

// Sanitize replaces what could control a terminal or hide in it. It keeps line
// breaks and tabs.
func Sanitize(s string) string {
	return strings.Map(func(r rune) rune {
		visible := unicode.IsPrint(r) || unicode.In(r, unicode.Zs, unicode.Cf) || r == '\n' || r == '\t'
		if r == utf8.RuneError || !visible {
			return '·'
		}
		return r
	}, Mark(strings.ReplaceAll(s, "\r\n", "\n"), '·'))
}
