package chat

import (
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// markdown renders Markdown for a terminal while it arrives. Text is written as
// soon as nothing that may follow changes it: words of paragraphs, lines of
// code, whole tables.
type markdown struct {
	out  strings.Builder
	wrap wrapper

	line    string   // of the current line, what is not written yet
	content bool     // the beginning of the current line is written, and its text follows
	style   string   // of that text
	fence   string   // what ends the current block of code; "" outside
	table   []string // the rows of the current table
	blank   bool     // the last line was blank
}

func newMarkdown(width int) *markdown {
	m := &markdown{blank: true}
	m.wrap = wrapper{out: &m.out, width: width}
	return m
}

// Add adds text and returns what the terminal is to show now.
func (m *markdown) Add(text string) string {
	m.line += text
	for {
		line, rest, complete := strings.Cut(m.line, "\n")
		if !complete {
			break
		}
		m.line = strings.TrimSuffix(line, "\r")
		m.endLine()
		m.line = rest
	}
	switch {
	case m.content:
	case m.fence == "" && len(m.table) == 0 && isDecided(m.line):
		m.begin()
	case len(m.line) > maxLine || len(m.table) > maxRows:
		m.endLine()
		m.endTable()
	}
	if m.content {
		m.line = inline(&m.wrap, m.line, m.style, false)
	}
	return m.take()
}

// End ends the text.
func (m *markdown) End() string {
	if m.line != "" || m.content {
		m.endLine()
	}
	m.endTable()
	if m.fence != "" {
		m.endCode()
	}
	m.blank = true
	return m.take()
}

// The limits of what waits for its end.
const (
	maxLine = 64 << 10
	maxRows = 500
)

func (m *markdown) take() string {
	defer m.out.Reset()
	return m.out.String()
}

// marks are what blocks begin with.
const marks = "#*-_+>`~|=.)0123456789 \t"

// isDecided reports whether the beginning of a line determines its block, and the
// block can be written before the line ends.
func isDecided(line string) bool {
	text := strings.TrimLeft(line, " \t")
	return strings.Trim(line, marks) != "" && !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") && !strings.HasPrefix(text, "|")
}

var (
	heading = lazyregexp.New(`^ {0,3}#{1,6} +`)
	bullet  = lazyregexp.New(`^(\s*)[-*+] +`)
	number  = lazyregexp.New(`^(\s*)(\d{1,9}[.)]) +`)
	quote   = lazyregexp.New(`^ {0,3}> ?`)
	rule    = lazyregexp.New(`^ {0,3}([-*_] *){3,}$`)
	fence   = lazyregexp.New("^ *(```+|~~~+)\\s*([^`]*)$")
)

// begin writes what a line begins with, and determines the style of its text.
func (m *markdown) begin() {
	m.content, m.style, m.blank = true, "", false
	line := m.line
	switch {
	case heading.MatchString(line):
		m.style = join(bold, cyan)
		m.line = line[len(heading.FindString(line)):]
	case bullet.MatchString(line):
		found := bullet.FindStringSubmatch(line)
		m.line = line[len(found[0]):]
		m.item(found[1], "•")
	case number.MatchString(line):
		found := number.FindStringSubmatch(line)
		m.line = line[len(found[0]):]
		m.item(found[1], found[2])
	case quote.MatchString(line):
		m.line = line[len(quote.FindString(line)):]
		m.wrap.begin(paint(dim, "│ "), paint(dim, "│ "))
		m.style = dim
	default:
		m.line = strings.TrimLeft(line, " \t")
		indent := blanks(line[:len(line)-len(m.line)])
		m.wrap.begin(indent, indent)
	}
}

// item begins an item of a list.
func (m *markdown) item(indent, mark string) {
	indent = blanks(indent)
	m.wrap.begin(indent+paint(cyan, mark)+" ", indent+strings.Repeat(" ", len([]rune(mark))+1))
}

// blanks returns an indent that leaves room for text.
func blanks(indent string) string {
	return strings.Repeat(" ", min(len(strings.ReplaceAll(indent, "\t", "    ")), 20))
}

// endLine writes the current line, which is complete.
func (m *markdown) endLine() {
	line := m.line
	m.line = ""
	opened := fence.FindStringSubmatch(line)
	switch {
	case m.content:
		m.line = line
		m.endText()
	case m.fence != "":
		m.code(line)
	case strings.HasPrefix(strings.TrimSpace(line), "|"):
		m.table = append(m.table, line)
		return
	case opened != nil:
		m.endTable()
		m.fence = opened[1]
		m.out.WriteString(paint(dim, strings.TrimRight("╭─ "+cleartext.Printable(opened[2]), " ")) + "\n")
	case strings.TrimSpace(line) == "":
		m.endTable()
		if !m.blank {
			m.out.WriteString("\n")
		}
		m.blank = true
		return
	case rule.MatchString(line):
		m.endTable()
		m.out.WriteString(paint(dim, strings.Repeat("─", max(min(m.wrap.width, 40), 3))) + "\n")
	default:
		m.endTable()
		m.line = line
		m.begin()
		m.endText()
	}
	m.blank = false
}

// endText writes the rest of a line of text.
func (m *markdown) endText() {
	inline(&m.wrap, m.line, m.style, true)
	m.wrap.end()
	m.line, m.content = "", false
}

// code writes a line of code. It is not wrapped, so that it can be copied.
func (m *markdown) code(line string) {
	if text := strings.TrimSpace(line); strings.HasPrefix(text, m.fence) && strings.Trim(text, m.fence[:1]) == "" {
		m.endCode()
		return
	}
	m.out.WriteString(paint(green, cleartext.Sanitize(line)) + "\n")
}

func (m *markdown) endCode() {
	m.fence = ""
	m.out.WriteString(paint(dim, "╰─") + "\n")
}

// endTable writes the rows that have come.
func (m *markdown) endTable() {
	if m.table != nil {
		m.out.WriteString(renderTable(m.table, m.wrap.width))
		m.table = nil
		m.blank = false
	}
}
