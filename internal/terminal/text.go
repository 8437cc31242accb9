package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// Cut shortens s to width characters; 0 means no limit.
func Cut(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// Wrap breaks s into lines of at most width characters, at spaces if it can.
func Wrap(s string, width int) (lines []string) {
	for rest := []rune(strings.Join(strings.Fields(s), " ")); len(rest) > 0; {
		n := len(rest)
		if n > width {
			n = width
			for i := width; i > width/2; i-- {
				if rest[i] == ' ' {
					n = i
					break
				}
			}
		}
		lines = append(lines, strings.TrimSpace(string(rest[:n])))
		rest = []rune(strings.TrimSpace(string(rest[n:])))
	}
	return lines
}

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
	}, cleartext.Mark(strings.ReplaceAll(s, "\r\n", "\n"), '·'))
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
