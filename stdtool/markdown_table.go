package stdtool

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxColumns bounds what colspan repeats.
const maxColumns = 64

// table returns a table as one block. One that only lays out a page is returned
// as what it holds.
func (c *converter) table(n *html.Node) []string {
	var (
		rows    [][]string
		caption []string
		width   int
	)
	if layout(n) {
		return c.flow(n)
	}
	for _, r := range parts(n, atom.Tr, atom.Caption) {
		if r.DataAtom == atom.Caption {
			caption = blockOf("", c.line(r))
			continue
		}
		var row []string
		for _, cell := range parts(r, atom.Td, atom.Th) {
			row = append(row, strings.ReplaceAll(c.line(cell), "|", `\|`))
			span, _ := strconv.Atoi(attribute(cell, "colspan"))
			for ; span > 1 && len(row) < maxColumns; span-- {
				row = append(row, "")
			}
		}
		if strings.Join(row, "") != "" {
			rows = append(rows, row)
			width = max(width, len(row))
		}
	}
	if len(rows) == 0 {
		return caption
	}
	rows[0] = append(rows[0], make([]string, width-len(rows[0]))...) // the header tells the width
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", width) + "\n")
		}
	}
	return append(caption, strings.TrimSuffix(b.String(), "\n"))
}

// layout reports whether a table has one column, or blocks in its cells that no
// row can hold.
func layout(n *html.Node) bool {
	columns := 0
	for _, r := range parts(n, atom.Tr) {
		cells := parts(r, atom.Td, atom.Th)
		columns = max(columns, len(cells))
		for _, cell := range cells {
			if holdsBlocks(cell) {
				return true
			}
		}
	}
	return columns < 2
}

func holdsBlocks(cell *html.Node) bool {
	for d := range cell.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.Pre, atom.Ul, atom.Ol, atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.H4:
			return true
		}
	}
	return false
}

// parts returns the elements of those kinds that belong to n itself.
func parts(n *html.Node, kinds ...atom.Atom) []*html.Node {
	var all []*html.Node
	for k := range n.ChildNodes() {
		switch k.DataAtom {
		case atom.Tbody, atom.Thead, atom.Tfoot:
			all = append(all, parts(k, kinds...)...)
		default:
			for _, kind := range kinds {
				if k.DataAtom == kind && !dropped(k) {
					all = append(all, k)
				}
			}
		}
	}
	return all
}
