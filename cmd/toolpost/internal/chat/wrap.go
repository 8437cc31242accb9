package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// A wrapper breaks text into lines of a width, at spaces. The text it has written
// never changes, so nothing flickers.
type wrapper struct {
	out    *strings.Builder
	width  int    // 0 for lines of any length
	indent string // before the further lines of a block

	last      rune // of the text of this line; 0 at its beginning
	column    int
	spaces    int // not yet written
	word      []styledText
	wordWidth int
}

// styledText is a text in one style.
type styledText struct{ text, style string }

// text adds text in a style, which is the code of a terminal such as "1".
func (w *wrapper) text(text, style string) {
	text = strings.NewReplacer("\t", "    ", "\n", " ").Replace(cleartext.Sanitize(text))
	if text != "" {
		w.last, _ = utf8.DecodeLastRuneInString(text)
	}
	for text != "" {
		n := strings.IndexByte(text, ' ')
		if n == 0 {
			w.flush()
			w.spaces++
			text = text[1:]
			continue
		}
		if n < 0 {
			n = len(text)
		}
		w.add(text[:n], style)
		text = text[n:]
	}
}

// add adds text without spaces to the current word. It breaks a word that is
// longer than a line.
func (w *wrapper) add(text, style string) {
	room := w.width - ansi.StringWidth(w.indent)
	for w.width > 0 && w.wordWidth+ansi.StringWidth(text) > room {
		head := ansi.Truncate(text, max(room-w.wordWidth, 0), "")
		if head == "" && w.wordWidth == 0 {
			break // one character is wider than a line
		}
		w.extend(head, style)
		w.flush()
		text = text[len(head):]
	}
	w.extend(text, style)
}

func (w *wrapper) extend(text, style string) {
	if n := len(w.word); n > 0 && w.word[n-1].style == style {
		w.word[n-1].text += text
	} else {
		w.word = append(w.word, styledText{text, style})
	}
	w.wordWidth += ansi.StringWidth(text)
}

// flush writes the current word.
func (w *wrapper) flush() {
	if w.wordWidth == 0 {
		return
	}
	if w.width > 0 && w.column+w.spaces+w.wordWidth > w.width && w.column > 0 {
		w.out.WriteString("\n" + w.indent)
		w.column, w.spaces = ansi.StringWidth(w.indent), 0
	}
	w.out.WriteString(strings.Repeat(" ", w.spaces))
	for _, part := range w.word {
		w.out.WriteString(paint(part.style, part.text))
	}
	w.column += w.spaces + w.wordWidth
	w.word, w.spaces, w.wordWidth = w.word[:0], 0, 0
}

// begin starts a line with a prefix; further lines of it begin with indent.
func (w *wrapper) begin(prefix, indent string) {
	w.out.WriteString(prefix)
	w.column, w.indent = ansi.StringWidth(prefix), indent
}

// end ends the line.
func (w *wrapper) end() {
	w.flush()
	w.out.WriteString("\n")
	w.column, w.spaces, w.indent, w.last = 0, 0, "", 0
}

// paint gives text a style.
func paint(style, text string) string {
	if style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// join returns both styles.
func join(outer, inner string) string {
	if outer == "" || inner == "" {
		return outer + inner
	}
	return outer + ";" + inner
}
