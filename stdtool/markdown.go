package stdtool

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown converts a page to Markdown for a reader, not for a renderer:
// characters of plain text are not escaped. Addresses are made absolute.
func markdown(page string, base *url.URL) (title, text string, err error) {
	doc, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return "", "", err
	}
	c := &converter{base: base, blocks: map[*html.Node]bool{}}
	c.look(doc)
	return c.title, strings.Join(c.flow(doc), "\n\n"), nil
}

// A converter makes Markdown of a tree: of blocks a list of texts, one each,
// and of what is in a line a text.
type converter struct {
	base   *url.URL
	title  string
	blocks map[*html.Node]bool // elements in a line that hold blocks
	nested int                 // lists, quotes and tables around
}

// maxNested bounds what repeats a prefix on every line.
const maxNested = 8

// look finds the title, the base of addresses and which elements hold blocks.
func (c *converter) look(n *html.Node) (block bool) {
	switch {
	case n.DataAtom == atom.Title && c.title == "" && n.Namespace == "":
		c.title = collapsed(textOf(n))
	case n.DataAtom == atom.Base && attribute(n, "href") != "":
		if u, err := c.base.Parse(attribute(n, "href")); err == nil {
			c.base = u
		}
	}
	for k := range n.ChildNodes() {
		if c.look(k) {
			block = true
		}
	}
	if block {
		c.blocks[n] = true
	}
	return block || isBlock(n)
}

// dropped reports whether an element is not to be read.
func dropped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Canvas,
		atom.Audio, atom.Video, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Datalist, atom.Dialog:
		return true
	}
	style := strings.ReplaceAll(attribute(n, "style"), " ", "")
	return hasAttribute(n, "hidden") || attribute(n, "aria-hidden") == "true" || strings.Contains(style, "display:none")
}

func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3,
		atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu,
		atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot,
		atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Caption, atom.Noscript:
		return n.Type == html.ElementNode
	}
	return n.Type == html.DocumentNode
}

// flow returns the blocks among the children of n; what is in a line between
// them becomes a paragraph.
func (c *converter) flow(n *html.Node) []string {
	var (
		all []string
		run inline
	)
	end := func() {
		if s := run.text(); s != "" {
			all = append(all, s)
		}
		run = inline{}
	}
	for k := range n.ChildNodes() {
		switch {
		case k.Type == html.ElementNode && dropped(k):
		case isBlock(k) || c.blocks[k] && k.DataAtom != atom.A:
			end()
			all = append(all, c.block(k)...)
		default:
			c.inline(&run, k)
		}
	}
	end()
	return all
}

// block returns the blocks that an element is.
func (c *converter) block(n *html.Node) []string {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level, _ := strconv.Atoi(n.Data[1:])
		return blockOf(strings.Repeat("#", level)+" ", c.line(n))
	case atom.Hr:
		return []string{"---"}
	case atom.Pre:
		return code(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Blockquote, atom.Table, atom.Dd:
		if c.nested >= maxNested {
			return c.flow(n)
		}
		c.nested++
		defer func() { c.nested-- }()
	case atom.Dt:
		return blockOf("", strong(c.line(n)))
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu:
		return c.list(n)
	case atom.Table:
		return c.table(n)
	case atom.Blockquote:
		return blockOf("", prefixed("> ", "> ", strings.Join(c.flow(n), "\n\n")))
	case atom.Dd:
		return blockOf("", prefixed(": ", "  ", strings.Join(c.flow(n), "\n\n")))
	}
	return c.flow(n)
}

// blockOf returns the text as the only block, none if it is empty.
func blockOf(prefix, text string) []string {
	if text == "" {
		return nil
	}
	return []string{prefix + text}
}

// line returns all that n holds as one line.
func (c *converter) line(n *html.Node) string {
	var run inline
	for k := range n.ChildNodes() {
		c.inline(&run, k)
	}
	return collapsed(run.text())
}

// prefixed puts first before the first line and rest before the others.
func prefixed(first, rest, text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		switch {
		case i == 0:
			lines[i] = first + l
		case l == "":
			lines[i] = strings.TrimRight(rest, " ")
		default:
			lines[i] = rest + l
		}
	}
	return strings.Join(lines, "\n")
}

// list returns a list as one block.
func (c *converter) list(n *html.Node) []string {
	number, err := strconv.Atoi(attribute(n, "start"))
	if err != nil || number < 0 || number > 9999 {
		number = 1
	}
	var items []string
	between := "\n"
	for k := range n.ChildNodes() {
		if k.Type != html.ElementNode || dropped(k) {
			continue
		}
		sign := "- "
		if n.DataAtom == atom.Ol {
			sign = fmt.Sprintf("%d. ", number)
		}
		item, loose := c.item(k, sign)
		if loose {
			between = "\n\n"
		}
		if item == "" {
			continue
		}
		items = append(items, item)
		if k.DataAtom == atom.Li {
			number++
		}
	}
	return blockOf("", strings.Join(items, between))
}

// item returns an element of a list. A loose one has paragraphs.
func (c *converter) item(n *html.Node, sign string) (text string, loose bool) {
	rest := strings.Repeat(" ", len(sign))
	if n.DataAtom != atom.Li { // a list right in a list
		return prefixed(rest, rest, strings.Join(c.block(n), "\n\n")), false
	}
	blocks := c.flow(n)
	if tight(n) {
		return prefixed(sign, rest, strings.Join(blocks, "\n")), false
	}
	return prefixed(sign, rest, strings.Join(blocks, "\n\n")), len(blocks) > 1
}

// tight reports whether an item holds a line of text and at most lists below
// it.
func tight(item *html.Node) bool {
	for k := range item.ChildNodes() {
		if isBlock(k) && k.DataAtom != atom.Ul && k.DataAtom != atom.Ol {
			return false
		}
	}
	return true
}

// code returns preformatted text between fences that it does not hold.
func code(n *html.Node) []string {
	text := strings.Trim(strings.ReplaceAll(textOf(n), "\r", ""), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return []string{fence + language(n) + "\n" + text + "\n" + fence}
}

// language returns the language that a class of an element, of its parent or of its
// first child names.
func language(n *html.Node) string {
	for _, n := range []*html.Node{n, n.FirstChild, n.Parent} {
		if n == nil {
			continue
		}
		for class := range strings.FieldsSeq(attribute(n, "class")) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
				if name, ok := strings.CutPrefix(class, prefix); ok && len(name) < 20 && !strings.Contains(name, "`") {
					return name
				}
			}
		}
	}
	return ""
}
