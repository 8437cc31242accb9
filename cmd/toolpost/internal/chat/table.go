package chat

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A table is a Markdown table.
type table struct {
	head  []string
	right []bool // the columns whose text stands at the right
	rows  [][]string
}

var delimiter = lazyregexp.New(`^:?-+:?$`)

// parseTable reads the rows of a table, nil if they are none.
func parseTable(lines []string) *table {
	if len(lines) < 2 {
		return nil
	}
	t := &table{head: cells(lines[0])}
	for _, c := range cells(lines[1]) {
		if !delimiter.MatchString(c) {
			return nil
		}
		t.right = append(t.right, strings.HasSuffix(c, ":") && !strings.HasPrefix(c, ":"))
	}
	for _, l := range lines[2:] {
		t.rows = append(t.rows, cells(l))
	}
	return t
}

// cells returns the texts of a row.
func cells(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var all []string
	cell := ""
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && strings.HasPrefix(line[i:], `\|`):
			cell += "|"
			i++
		case line[i] == '|':
			all = append(all, strings.TrimSpace(cell))
			cell = ""
		default:
			cell += line[i : i+1]
		}
	}
	if strings.TrimSpace(cell) != "" {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// gap is what stands between two columns.
const gap = 3

// renderTable returns a table that is at most width wide. Rows that are not a
// table remain as they are.
func renderTable(lines []string, width int) string {
	t := parseTable(lines)
	var out strings.Builder
	if t == nil {
		w := wrapper{out: &out, width: width}
		for _, l := range lines {
			inline(&w, l, "", true)
			w.end()
		}
		return out.String()
	}
	widths := t.widths(width)
	t.row(&out, t.head, widths, bold)
	var lineParts []string
	for _, n := range widths {
		lineParts = append(lineParts, strings.Repeat("─", n))
	}
	out.WriteString(paint(dim, strings.Join(lineParts, "─┼─")) + "\n")
	for _, r := range t.rows {
		t.row(&out, r, widths, "")
	}
	return out.String()
}

// widths returns the widths of the columns. The widest ones shrink until all
// fit.
func (t *table) widths(width int) []int {
	widths := make([]int, max(len(t.head), 1))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i := range min(len(r), len(widths)) {
			widths[i] = max(widths[i], ansi.StringWidth(renderCell(r[i], 0, "")[0]), 1)
		}
	}
	if width == 0 {
		return widths
	}
	const least = 3
	for {
		sum := gap * (len(widths) - 1)
		for _, n := range widths {
			sum += n
		}
		widest := slices.Index(widths, slices.Max(widths))
		if sum <= width || widths[widest] <= least {
			return widths
		}
		widths[widest] = max(widths[widest]-(sum-width), widths[widest]*3/4, least)
	}
}

// renderCell returns the lines of a cell.
func renderCell(text string, width int, style string) []string {
	var out strings.Builder
	w := wrapper{out: &out, width: width}
	inline(&w, text, style, true)
	w.flush()
	return strings.Split(out.String(), "\n")
}

func (t *table) row(out *strings.Builder, row []string, widths []int, style string) {
	lines := make([][]string, len(widths))
	height := 1
	for i := range min(len(row), len(widths)) {
		lines[i] = renderCell(row[i], widths[i], style)
		height = max(height, len(lines[i]))
	}
	for n := range height {
		line := ""
		for i, width := range widths {
			text := ""
			if n < len(lines[i]) {
				text = lines[i][n]
			}
			padding := strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
			if i < len(t.right) && t.right[i] {
				text = padding + text
			} else {
				text += padding
			}
			if i > 0 {
				line += paint(dim, " │ ")
			}
			line += text
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
