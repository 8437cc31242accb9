package stdtool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/dom"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxColumns bounds what colspan repeats, and what the converter adds to rows
// that are shorter than others.
const maxColumns = 64

// table copies a table with its first row as the header, in whatever part the
// rows are.
func (c *pageCopier) table(to, n *html.Node) {
	for _, caption := range parts(n, atom.Caption) {
		c.element(to, atom.Div, func(to *html.Node) { c.line(to, caption) })
	}
	c.element(to, atom.Table, func(to *html.Node) {
		for _, row := range parts(n, atom.Tr) {
			c.element(to, atom.Tr, func(to *html.Node) { c.row(to, row) })
		}
	})
}

func (c *pageCopier) row(to, row *html.Node) {
	columns := 0
	for _, cell := range parts(row, atom.Td, atom.Th) {
		el := c.element(to, atom.Td, func(to *html.Node) { c.line(to, cell) })
		for d := range el.Descendants() {
			if d.Type == html.TextNode {
				d.Data = strings.ReplaceAll(d.Data, "|", `\|`)
			}
		}
		span, _ := strconv.Atoi(dom.GetAttributeOr(cell, "colspan", ""))
		for columns++; span > 1 && columns < maxColumns; span-- {
			c.element(to, atom.Td, func(*html.Node) {})
			columns++
		}
	}
}

// isLayout reports whether a table has too few or too many columns, or blocks in
// its cells that no row can hold.
func isLayout(n *html.Node) bool {
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
	return columns < 2 || columns > maxColumns
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
			if slices.Contains(kinds, k.DataAtom) && !isHidden(k) {
				all = append(all, k)
			}
		}
	}
	return all
}
