package cli

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Columns draws rows of cells as lines of at most limit columns, 0 for no limit.
// Numbers is how many of the last columns are aligned at the right. Widths are the
// least widths of the columns; the ones that were used are returned.
func Columns(rows [][]string, widths []int, numbers, limit int) (text string, used []int) {
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], terminal.Width(cell))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			if i > 0 {
				line.WriteString("  ")
			}
			if i < len(r)-numbers {
				line.WriteString(terminal.Pad(cell, widths[i]))
			} else {
				fmt.Fprintf(&line, "%*s", widths[i], cell)
			}
		}
		b.WriteString(terminal.Cut(line.String(), limit) + "\n")
	}
	return b.String(), widths
}

// Dash returns a text for a cell of a table, "-" if it is empty.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return cleartext.Printable(s)
}
