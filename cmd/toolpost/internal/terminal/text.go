package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many columns s takes on a terminal: two for most characters of East
// Asian scripts, none for marks that combine with another character and for colours.
func Width(s string) int { return ansi.StringWidth(s) }

// Pad fits s into exactly width columns.
func Pad(s string, width int) string {
	s = Cut(s, width)
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Cut shortens s to width columns; 0 means no limit.
func Cut(s string, width int) string {
	if width <= 0 {
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// Wrap breaks s into lines of at most width columns, at spaces if it can.
func Wrap(s string, width int) (lines []string) {
	for rest := strings.Join(strings.Fields(s), " "); rest != ""; {
		n := fit(rest, width)
		if n < len(rest) && rest[n] != ' ' {
			if space := strings.LastIndexByte(rest[:n], ' '); space > 0 && Width(rest[:space]) > width/2 {
				n = space
			}
		}
		lines = append(lines, strings.TrimSpace(rest[:n]))
		rest = strings.TrimSpace(rest[n:])
	}
	return lines
}

// WrapLines breaks the lines of a text that have more than width columns as [Wrap] does, and
// keeps their indentation; 0 means no limit.
func WrapLines(text string, width int) string {
	var all []string
	for _, line := range strings.Split(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		if width <= 0 || Width(line) <= width || len(indent) > width/2 {
			all = append(all, line)
			continue
		}
		for _, part := range Wrap(words, width-len(indent)) {
			all = append(all, indent+part)
		}
	}
	return strings.Join(all, "\n")
}

// fit returns how many bytes of s fit into width columns. The first character
// always fits.
func fit(s string, width int) int {
	taken := 0
	for i, r := range s {
		if taken += Width(string(r)); taken > width && i > 0 {
			return i
		}
	}
	return len(s)
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
