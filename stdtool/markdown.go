package stdtool

import (
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/JohannesKaufmann/dom"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	baseplugin "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown converts a page to Markdown for a reader, not for a renderer:
// characters of plain text are not escaped. Addresses are made absolute.
//
// A page may be hostile, and the converter bounds neither time nor memory.
// Therefore it gets a copy of the tree that has few kinds of elements.
func markdown(page string, address *url.URL) (title, text string, err error) {
	doc, err := parsePage(page, maxParse)
	if err != nil {
		return "", "", err
	}
	c := &pageCopier{base: address, hide: hide(), marks: map[atom.Atom]bool{}}
	title = c.readHead(doc)
	clean := &html.Node{Type: html.DocumentNode}
	c.children(clean, doc)
	c.endText(clean)
	md, err := newConverter().ConvertNode(clean)
	return title, reveal().Replace(string(md)), err
}

// maxParse is the most time that a page is parsed.
const maxParse = 10 * time.Second

// parsePage parses a page until its time is up: the time of html.Parse grows with
// the square of a page such as x</b>x</b>x</b>, because it joins the texts.
func parsePage(page string, limit time.Duration) (*html.Node, error) {
	r := &limitedReader{strings.NewReader(page), time.Now().Add(limit)}
	return html.ParseWithOptions(r, html.ParseOptionEnableScripting(false))
}

type limitedReader struct {
	io.Reader
	end time.Time
}

func (r *limitedReader) Read(b []byte) (int, error) {
	if time.Now().After(r.end) {
		return 0, errSlow
	}
	return r.Reader.Read(b)
}

func newConverter() *converter.Converter {
	return converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			baseplugin.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(
				commonmark.WithHorizontalRule("---"),
				commonmark.WithListEndComment(false),
				commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip),
			),
			strikethrough.NewStrikethroughPlugin(),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
				table.WithHeaderPromotion(true),
				table.WithSkipEmptyRows(true),
			),
		),
	)
}

// hide replaces signs by ones of private use: < and >, which the converter would
// write as entities, and those that it uses itself. reveal restores < and >.
func hide() *strings.Replacer {
	return strings.NewReplacer("\u00a0", " ", "\u00ad", "", "\a", "", "\uF002", "", "\uF003", "", "\uF004", "", "<", "\uF003", ">", "\uF004")
}

func reveal() *strings.Replacer { return strings.NewReplacer("\uF003", "<", "\uF004", ">") }

// A pageCopier copies what can be read of a page, and has Markdown for it. All
// other blocks become div. What an element holds in one line is free of blocks.
type pageCopier struct {
	base    *url.URL
	hide    *strings.Replacer
	text    strings.Builder    // of the element that is being copied, up to its next element
	marks   map[atom.Atom]bool // such as strong, that are open
	nested  int                // lists, quotes and tables around
	oneLine bool
}

// maxNested bounds what repeats a prefix on every line.
const maxNested = 8

// readHead finds the title, and the base of addresses.
func (c *pageCopier) readHead(doc *html.Node) (title string) {
	for n := range doc.Descendants() {
		switch {
		case n.DataAtom == atom.Title && title == "" && n.Namespace == "":
			title = collapseSpace(textOf(n))
		case n.DataAtom == atom.Base && dom.GetAttributeOr(n, "href", "") != "":
			if u, err := c.base.Parse(dom.GetAttributeOr(n, "href", "")); err == nil {
				c.base = u
			}
		}
	}
	return title
}

func (c *pageCopier) children(to, n *html.Node) {
	for k := range n.ChildNodes() {
		switch {
		case k.Type == html.TextNode:
			c.write(k.Data)
		case k.Type == html.ElementNode && !isHidden(k):
			c.copy(to, k)
		}
	}
}

func (c *pageCopier) write(text string) { _, _ = c.hide.WriteString(&c.text, text) } // a Builder takes all

// endText puts the text so far into the element that it is in.
func (c *pageCopier) endText(to *html.Node) {
	if c.text.Len() > 0 {
		to.AppendChild(&html.Node{Type: html.TextNode, Data: c.text.String()})
		c.text = strings.Builder{}
	}
}

// element adds an element, with what fill copies into it.
func (c *pageCopier) element(to *html.Node, name atom.Atom, fill func(to *html.Node)) *html.Node {
	c.endText(to)
	el := &html.Node{Type: html.ElementNode, DataAtom: name, Data: name.String()}
	to.AppendChild(el)
	fill(el)
	c.endText(el)
	return el
}

// line copies what n holds into one line.
func (c *pageCopier) line(to, n *html.Node) {
	defer func(was bool) { c.oneLine = was }(c.oneLine)
	c.oneLine = true
	c.children(to, n)
}

// isHidden reports whether an element is not to be read.
func isHidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Canvas,
		atom.Audio, atom.Video, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Datalist, atom.Dialog:
		return true
	}
	_, hidden := dom.GetAttribute(n, "hidden")
	style := strings.ReplaceAll(dom.GetAttributeOr(n, "style", ""), " ", "")
	return hidden || dom.GetAttributeOr(n, "aria-hidden", "") == "true" || strings.Contains(style, "display:none")
}

func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Center, atom.Legend, atom.Menu, atom.Noscript, atom.Summary,
		atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
		return true
	}
	return dom.NameIsBlockNode(n.Data)
}

func (c *pageCopier) copy(to, n *html.Node) {
	switch n.DataAtom {
	case atom.B, atom.Strong:
		c.mark(to, n, atom.Strong)
	case atom.I, atom.Em:
		c.mark(to, n, atom.Em)
	case atom.Del, atom.S, atom.Strike:
		c.mark(to, n, atom.Del)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		c.element(to, atom.Code, func(*html.Node) { c.write(collapseSpace(textOf(n))) })
	case atom.Sup:
		c.write("^")
		c.children(to, n)
	case atom.A:
		c.link(to, n)
	case atom.Img:
		if alt := collapseSpace(dom.GetAttributeOr(n, "alt", "")); alt != "" {
			c.write("![" + alt + "](" + address(c.base, dom.GetAttributeOr(n, "src", "")) + ")")
		}
	default:
		c.block(to, n)
	}
}

// mark copies an element such as strong once, also if it is in another one.
func (c *pageCopier) mark(to, n *html.Node, name atom.Atom) {
	if c.marks[name] {
		c.children(to, n)
		return
	}
	c.marks[name] = true
	c.element(to, name, func(to *html.Node) { c.children(to, n) })
	c.marks[name] = false
}

func (c *pageCopier) link(to, n *html.Node) {
	href, text := dom.GetAttributeOr(n, "href", ""), collapseSpace(textOf(n))
	inPage := strings.HasPrefix(href, "#")
	if inPage && (text == "#" || text == "¶" || text == "§") {
		return // a mark to copy the address of a heading
	}
	target := address(c.base, href)
	if target == "" || inPage || target == text || target == "mailto:"+text {
		c.line(to, n)
		return
	}
	el := c.element(to, atom.A, func(to *html.Node) { c.line(to, n) })
	el.Attr = []html.Attribute{{Key: "href", Val: target}}
}

// block copies an element that is a block, or has no Markdown.
func (c *pageCopier) block(to, n *html.Node) {
	switch {
	case c.oneLine && (isBlock(n) || n.DataAtom == atom.Br):
		c.write(" ")
		c.children(to, n)
		c.write(" ")
		return
	case !isBlock(n) && n.DataAtom != atom.Br:
		c.children(to, n)
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.heading(to, n)
	case atom.Pre:
		c.code(to, n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dl, atom.Blockquote, atom.Table:
		c.container(to, n)
	case atom.Dt:
		c.element(to, atom.Li, func(to *html.Node) {
			c.element(to, atom.Strong, func(to *html.Node) { c.line(to, n) })
		})
	case atom.Br, atom.Hr, atom.Li:
		c.element(to, n.DataAtom, func(to *html.Node) { c.children(to, n) })
	default:
		c.element(to, atom.Div, func(to *html.Node) { c.children(to, n) })
	}
}

// heading copies a heading as text, because the converter panics at <h1>#</h1>.
func (c *pageCopier) heading(to, n *html.Node) {
	el := c.element(to, atom.Div, func(to *html.Node) { c.line(to, n) })
	if strings.TrimSpace(textOf(el)) != "" {
		level, _ := strconv.Atoi(n.Data[1:])
		el.InsertBefore(&html.Node{Type: html.TextNode, Data: strings.Repeat("#", level) + " "}, el.FirstChild)
	}
}

// container copies what indents its lines, unless too much is around it.
func (c *pageCopier) container(to, n *html.Node) {
	name := atom.Ul
	switch {
	case c.nested >= maxNested || n.DataAtom == atom.Table && isLayout(n):
		name = atom.Div
	case n.DataAtom == atom.Table:
		c.table(to, n)
		return
	case n.DataAtom == atom.Ol, n.DataAtom == atom.Blockquote:
		name = n.DataAtom
	}
	c.nested++
	el := c.element(to, name, func(to *html.Node) { c.children(to, n) })
	c.nested--
	if start := dom.GetAttributeOr(n, "start", ""); len(start) < 5 && strings.Trim(start, "0123456789") == "" {
		el.Attr = []html.Attribute{{Key: "start", Val: start}}
	}
}

// code copies preformatted text.
func (c *pageCopier) code(to, n *html.Node) {
	text := strings.Trim(strings.ReplaceAll(textOf(n), "\r", ""), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	el := c.element(to, atom.Pre, func(*html.Node) { c.write(text) })
	el.Attr = []html.Attribute{{Key: "class", Val: "language-" + language(n)}}
}

// language returns the language that a class of an element, of its parent or of its
// first child names.
func language(n *html.Node) string {
	for _, n := range []*html.Node{n, n.FirstChild, n.Parent} {
		if n == nil {
			continue
		}
		for _, class := range dom.GetClasses(n) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
				if name, ok := strings.CutPrefix(class, prefix); ok && len(name) < 20 && !strings.Contains(name, "`") {
					return name
				}
			}
		}
	}
	return ""
}

// collapseSpace returns s with single spaces for all white space.
func collapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// address returns an absolute address, empty if it is none that leads on.
func address(base *url.URL, reference string) string {
	u, err := url.Parse(strings.TrimSpace(reference))
	if err != nil || reference == "" {
		return ""
	}
	if u = base.ResolveReference(u); u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(u.String(), "(", "%28"), ")", "%29")
}

// textOf returns the text of n as it is written.
func textOf(n *html.Node) string {
	var b strings.Builder
	if n.Type == html.TextNode {
		return n.Data
	}
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}
