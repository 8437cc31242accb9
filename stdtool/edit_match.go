package stdtool

import (
	"bytes"
	"slices"
	"strings"
)

// A span is a replacement of content[from:to].
type span struct {
	from, to int
	text     string
}

// A match is where old text was found, with what makes the new text of it.
// Only the bytes of its spans change.
type match struct {
	from, to int
	spans    []span
}

// A strategy is a way to find old text, and to put new text in its place. The
// text of the file has no byte order mark.
type strategy struct {
	name string // as the result tells it; empty for the exact one
	find func(content []byte, old, new string) []match
}

// strategies are in the order in which they are tried; each is looser.
func strategies(mode string) []strategy {
	all := []strategy{
		{"", findExact},
		{"line ends differ", findAcrossEnds},
		{"line numbers removed from old_string", findNumbered},
		{"whitespace differs, new_string is indented as the file", findLines},
		{blockStrategy, findBlock},
	}
	switch mode {
	case "exact":
		return all[:1]
	case "line_trimmed":
		return all[:4]
	}
	return all
}

// blockStrategy is a guess: it is never used for several places.
const blockStrategy = "inner lines differ, found by the first and the last line"

var bom = []byte("\xEF\xBB\xBF")

// find returns the matches of the first strategy that has any.
func find(content []byte, old, new, mode string) (how string, found []match) {
	shift := 0
	if bytes.HasPrefix(content, bom) {
		shift = len(bom)
		old, new = strings.TrimPrefix(old, string(bom)), strings.TrimPrefix(new, string(bom))
	}
	if strings.TrimSpace(old) == "" {
		return "", nil
	}
	for _, s := range strategies(mode) {
		if found = s.find(content[shift:], old, new); len(found) == 0 {
			continue
		}
		for i := range found {
			found[i].move(shift)
		}
		return s.name, found
	}
	return "", nil
}

func (m *match) move(by int) {
	m.from, m.to = m.from+by, m.to+by
	for i := range m.spans {
		m.spans[i].from, m.spans[i].to = m.spans[i].from+by, m.spans[i].to+by
	}
}

// apply makes all replacements.
func apply(content []byte, found []match) []byte {
	var out []byte
	at := 0
	for _, m := range found {
		for _, s := range m.spans {
			out = append(append(out, content[at:s.from]...), s.text...)
			at = s.to
		}
	}
	return append(out, content[at:]...)
}

// findExact finds old as it is. A second match that overlaps an only one is
// told too: then it is not clear which is meant.
func findExact(content []byte, old, new string) []match {
	var found []match
	want, cr := []byte(old), bytes.IndexByte(content, '\r') >= 0
	for at := 0; ; {
		i := bytes.Index(content[at:], want)
		if i < 0 {
			break
		}
		m := match{from: at + i, to: at + i + len(old)}
		text := new
		if cr && !strings.Contains(old, "\r") && !strings.Contains(new, "\r") {
			text = withEnds(new, content, m)
		}
		m.spans = []span{{m.from, m.to, text}}
		found = append(found, m)
		at = m.to
	}
	if len(found) == 1 {
		next := found[0].from + 1
		if i := bytes.Index(content[next:], want); i >= 0 {
			found = append(found, match{from: next + i, to: next + i + len(old)})
		}
	}
	return found
}

// findAcrossEnds finds old where only line ends differ.
func findAcrossEnds(content []byte, old, new string) []match {
	if bytes.IndexByte(content, '\r') < 0 && !strings.Contains(old, "\r") {
		return nil
	}
	plain, dropped := plainEnds(content)
	old, new = plainText(old), plainText(new)
	found := findExact(plain, old, new)
	for i, m := range found {
		m.from, m.to = before(dropped, m.from), before(dropped, m.to)
		if len(m.spans) > 0 {
			m.spans[0] = span{m.from, m.to, withEnds(new, content, m)}
		}
		found[i] = m
	}
	return found
}

// before is the place in the original of a place in its plain form.
func before(dropped []int, at int) int {
	n, _ := slices.BinarySearch(dropped, at)
	return at + n
}

// plainEnds makes every line end \n. Dropped are the places in the result where
// there were two bytes.
func plainEnds(content []byte) (plain []byte, dropped []int) {
	plain = make([]byte, 0, len(content))
	for len(content) > 0 {
		i := bytes.IndexByte(content, '\r')
		if i < 0 {
			return append(plain, content...), dropped
		}
		plain = append(plain, content[:i]...)
		if content = content[i+1:]; len(content) > 0 && content[0] == '\n' {
			dropped, content = append(dropped, len(plain)), content[1:]
		}
		plain = append(plain, '\n')
	}
	return plain, dropped
}

func plainText(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

// withEnds gives the lines of text the line ends of what they replace: the
// first the first one, and so on.
func withEnds(text string, content []byte, m match) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	ends := lineEnds(content[m.from:m.to])
	if len(ends) == 0 {
		ends = []string{endNear(content, m.from, m.to)}
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString(ends[min(i, len(ends))-1])
		}
		b.WriteString(line)
	}
	return b.String()
}

func lineEnds(text []byte) (ends []string) {
	for {
		i := bytes.IndexAny(text, "\r\n")
		switch {
		case i < 0:
			return ends
		case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n':
			ends, text = append(ends, "\r\n"), text[i+2:]
		default:
			ends, text = append(ends, string(text[i:i+1])), text[i+1:]
		}
	}
}

// maxNear is how far away a line end is looked for.
const maxNear = 16 << 10

// endNear is the line end of the line that ends at to or after, else of the
// one before from.
func endNear(content []byte, from, to int) string {
	start := max(0, from-maxNear)
	content, from, to = content[start:min(len(content), to+maxNear)], from-start, to-start
	i := bytes.IndexByte(content[to:], '\n')
	if i >= 0 {
		i += to
	} else {
		i = bytes.LastIndexByte(content[:from], '\n')
	}
	switch {
	case i > 0 && content[i-1] == '\r':
		return "\r\n"
	case i < 0 && bytes.IndexByte(content, '\r') >= 0:
		return "\r"
	}
	return "\n"
}

// findNumbered finds old if it was copied with the line numbers of read: whole
// lines, which have these numbers. If only some lines of new are numbered, it is
// not clear what they are.
func findNumbered(content []byte, old, new string) []match {
	old, first, ok := unnumbered(old, true)
	if !ok || strings.TrimSpace(old) == "" {
		return nil
	}
	if plain, _, ok := unnumbered(new, false); ok {
		new = plain
	} else if numbered(new) {
		return nil
	}
	found := findExact(content, old, new)
	if len(found) == 0 {
		found = findAcrossEnds(content, old, new)
	}
	return slices.DeleteFunc(found, func(m match) bool {
		return !wholeLines(content, m) || bytes.Count(content[:m.from], []byte("\n"))+1 != first
	})
}

// wholeLines says that a match begins where a line does, and ends so.
func wholeLines(content []byte, m match) bool {
	begins := m.from == 0 || content[m.from-1] == '\n'
	ends := m.to == len(content) || bytes.HasSuffix(content[:m.to], []byte("\n")) || content[m.to] == '\n' || content[m.to] == '\r'
	return begins && ends
}
