package terminal

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// A Page is text for people, wrapped at the width of the terminal.
type Page struct {
	bytes.Buffer
	out   io.Writer
	Width int
	Wide  bool // the output is a terminal with room for columns side by side
	color bool
}

const pageWidth = 100 // if the output is not a terminal

// NewPage returns a page that [Page.Flush] writes to w.
func NewPage(w io.Writer) *Page {
	width, _ := Size(w)
	color := width > 0 && os.Getenv("NO_COLOR") == ""
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width == 0 {
		width = columns
	}
	if color {
		w = Unsafe(w) // the writer of foreign text sanitizes it
	}
	return &Page{out: w, Width: max(cmp.Or(width, pageWidth), 40), Wide: width >= sideBySide, color: color}
}

// Flush writes the page.
func (p *Page) Flush() error {
	_, err := p.out.Write(p.Bytes())
	return err
}

// Line writes text behind a label; further lines stand below the text.
func (p *Page) Line(label, text string) {
	indent := Width(label)
	lines := Wrap(cleartext.Printable(text), p.Width-indent)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		if i > 0 {
			label = strings.Repeat(" ", indent)
		}
		p.WriteString(strings.TrimRight(label+l, " ") + "\n")
	}
}

// Paint gives text a colour, if colours are wanted.
func (p *Page) Paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
