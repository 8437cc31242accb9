package stdtool

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An inline is text in a line as it grows: white space is collapsed.
type inline struct {
	b     strings.Builder
	space bool // white space comes before what is next
}

func (l *inline) text() string { return strings.TrimRight(l.b.String(), " \n") }

// put writes s as it is.
func (l *inline) put(s string) {
	if s == "" {
		return
	}
	if l.space && l.b.Len() > 0 && !strings.HasSuffix(l.b.String(), "\n") {
		l.b.WriteByte(' ')
	}
	l.space = false
	l.b.WriteString(s)
}

// write writes plain text.
func (l *inline) write(s string) {
	s = strings.ReplaceAll(s, "\u00ad", "")
	for i, word := range strings.FieldsFunc(s, unicode.IsSpace) {
		l.space = l.space || i > 0 || strings.TrimLeftFunc(s, unicode.IsSpace) != s
		l.put(word)
	}
	if strings.TrimRightFunc(s, unicode.IsSpace) != s {
		l.space = true
	}
}

// newline ends a line within a paragraph.
func (l *inline) newline() {
	if l.b.Len() > 0 {
		l.b.WriteByte('\n')
	}
	l.space = false
}

// collapsed returns s with single spaces for all white space.
func collapsed(s string) string { return strings.Join(strings.Fields(s), " ") }

// inline writes n into a line. Blocks in it are set apart by spaces only.
func (c *converter) inline(l *inline, n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		l.write(n.Data)
		return
	case n.Type != html.ElementNode || dropped(n):
		return
	}
	switch n.DataAtom {
	case atom.Br:
		l.newline()
		return
	case atom.Img:
		l.put(c.image(n))
		return
	}
	if mark := c.marking(n); mark != nil {
		c.around(l, n, mark)
		return
	}
	l.space = l.space || isBlock(n)
	for k := range n.ChildNodes() {
		c.inline(l, k)
	}
	l.space = l.space || isBlock(n)
}

// marking returns what an element does with the text in it, nil for nothing.
func (c *converter) marking(n *html.Node) func(string) string {
	switch n.DataAtom {
	case atom.A:
		return func(s string) string { return c.link(n, s) }
	case atom.B, atom.Strong:
		return strong
	case atom.I, atom.Em:
		return func(s string) string { return mark("*", s) }
	case atom.Del, atom.S, atom.Strike:
		return func(s string) string { return mark("~~", s) }
	case atom.Sup:
		return func(s string) string { return "^" + s }
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		return func(string) string { return codeSpan(textOf(n)) }
	}
	return nil
}

// around writes what n holds with something done to it; white space at its ends
// stays outside.
func (c *converter) around(l *inline, n *html.Node, do func(string) string) {
	inner := inline{}
	inner.b.WriteByte(0) // white space before the first word is kept
	for k := range n.ChildNodes() {
		c.inline(&inner, k)
	}
	all := inner.text()[1:]
	text := strings.TrimLeft(all, " \n")
	l.space = l.space || text != all
	if text != "" {
		l.put(do(text))
	}
	l.space = l.space || inner.space
}

func strong(s string) string { return mark("**", s) }

// mark puts m around s, unless it is there.
func mark(m, s string) string {
	if s == "" || strings.Contains(s, m) {
		return s
	}
	return m + s + m
}

// codeSpan returns code in a line.
func codeSpan(text string) string {
	text = collapsed(text)
	if text == "" {
		return ""
	}
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + text + " " + ticks
	}
	return ticks + text + ticks
}

func (c *converter) link(n *html.Node, text string) string {
	href := attribute(n, "href")
	if strings.HasPrefix(href, "#") && (text == "#" || text == "¶" || text == "§") {
		return "" // a mark to copy the address of a heading
	}
	to := address(c.base, href)
	switch {
	case to == "" || strings.HasPrefix(href, "#"):
		return text
	case to == text || to == "mailto:"+text:
		return text
	}
	return "[" + collapsed(text) + "](" + to + ")"
}

func (c *converter) image(n *html.Node) string {
	alt := collapsed(attribute(n, "alt"))
	if alt == "" {
		return ""
	}
	return "![" + alt + "](" + address(c.base, attribute(n, "src")) + ")"
}

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

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}
