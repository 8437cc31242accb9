package terminal

import "fmt"

// A Live is the lines at the bottom of a terminal that change in place. Its methods return
// what is to be written: together with what else is written, so that nothing flickers.
type Live struct {
	drawn []int // columns of each line
	text  string
	width int // of the terminal when they were drawn
}

// Draw returns what puts lines in the place of those before, "" if they are the same. No
// line is wider than the terminal.
func (l *Live) Draw(lines []string, width, height int) string {
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	if text == l.text && width == l.width && len(lines) == len(l.drawn) {
		return ""
	}
	erase := l.Erase(width, height)
	l.text, l.width = text, width
	for _, line := range lines {
		l.drawn = append(l.drawn, Width(line))
	}
	return erase + text
}

// Erase returns what moves to the first line and clears from there on. A terminal that has
// become narrower shows a line in several rows.
func (l *Live) Erase(width, height int) string {
	rows := 0
	for _, columns := range l.drawn {
		rows += max(1, (columns+width-1)/max(1, width))
	}
	l.drawn = nil
	if rows = min(rows, height-1); rows <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}
