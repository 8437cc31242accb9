//go:build linux

package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A canvas is a terminal that keeps all lines that were written. It knows the
// control sequences that toolpost writes.
type canvas struct {
	width     int
	rows      [][]cell
	row, col  int
	style     string // codes of the terminal, joined by ;
	wrapsNext bool   // the last column is written, and the next character begins a line
}

type cell struct {
	char  rune
	style string
}

// write interprets output of a program.
func (s *canvas) write(text string) {
	for text != "" {
		if sequence, rest, found := cutSequence(text); found {
			s.control(sequence)
			text = rest
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch r {
		case '\r':
			s.col, s.wrapsNext = 0, false
		case '\n':
			s.row++
		case '\b':
			s.col = max(s.col-1, 0)
		default:
			s.put(r)
		}
	}
}

// cutSequence takes a control sequence from the beginning of text.
func cutSequence(text string) (sequence, rest string, found bool) {
	if !strings.HasPrefix(text, "\x1b[") {
		return "", text, false
	}
	end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return "", "", true
	}
	return text[2 : end+3], text[end+3:], true
}

func (s *canvas) control(sequence string) {
	arguments, kind := sequence[:max(len(sequence)-1, 0)], sequence[max(len(sequence)-1, 0):]
	n, err := strconv.Atoi(arguments)
	if err != nil || n == 0 {
		n = 1
	}
	switch kind {
	case "m":
		s.setStyle(arguments)
	case "K":
		s.clear()
	case "J":
		s.clear()
		s.rows = s.rows[:min(len(s.rows), s.row+1)]
	case "A":
		s.row = max(s.row-n, 0)
	case "B":
		s.row += n
	case "C":
		s.col += n
	case "D":
		s.col = max(s.col-n, 0)
	}
}

func (s *canvas) setStyle(codes string) {
	if codes == "" || codes == "0" {
		s.style = ""
		return
	}
	s.style = strings.Trim(s.style+";"+codes, ";")
}

// clear removes the rest of the line.
func (s *canvas) clear() {
	if s.row < len(s.rows) && s.col < len(s.rows[s.row]) {
		s.rows[s.row] = s.rows[s.row][:s.col]
	}
}

func (s *canvas) put(r rune) {
	if s.wrapsNext {
		s.row, s.col, s.wrapsNext = s.row+1, 0, false
	}
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], cell{' ', ""})
	}
	s.rows[s.row][s.col] = cell{r, s.style}
	s.col++
	s.wrapsNext = s.col >= s.width
	if s.wrapsNext {
		s.col = s.width - 1
	}
}

// Of the picture, in pixels.
const (
	charWidth, lineHeight = 8.4, 19
	margin                = 18
)

var colours = map[string]string{"31": "#f7768e", "32": "#9ece6a", "33": "#e0af68", "36": "#7dcfff", "2": "#7f88ad"}

// svg returns a picture of all lines.
func (s *canvas) svg() string {
	var b strings.Builder
	width, height := int(float64(s.width)*charWidth)+2*margin, len(s.rows)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1a1b26"/>`+"\n", width, height)
	for i, row := range s.rows {
		for start := 0; start < len(row); {
			end := start + 1
			for end < len(row) && row[end].style == row[start].style {
				end++
			}
			b.WriteString(span(row[start:end], margin+float64(start)*charWidth, margin+i*lineHeight+14))
			start = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// span is a piece of a line in one style.
func span(cells []cell, x float64, y int) string {
	var text strings.Builder
	for _, c := range cells {
		text.WriteRune(c.char)
	}
	if strings.TrimSpace(text.String()) == "" {
		return ""
	}
	colour, attributes := "#c0caf5", ""
	for code := range strings.SplitSeq(cells[0].style, ";") {
		if c, ok := colours[code]; ok {
			colour = c
		}
		switch code {
		case "1":
			attributes += ` font-weight="bold"`
		case "3":
			attributes += ` font-style="italic"`
		case "4":
			attributes += ` text-decoration="underline"`
		}
	}
	return fmt.Sprintf(`<text x="%.1f" y="%d" fill="%s"%s xml:space="preserve" textLength="%.1f">%s</text>`+"\n",
		x, y, colour, attributes, float64(len(cells))*charWidth, html.EscapeString(text.String()))
}
