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
	name string // for the result; empty for the exact one
	find func(content []byte, old, new string) []match
}

// maxLoose is the size of a file up to which text is found whose whitespace
// differs.
const maxLoose = 16 << 20

// strategies are in the order in which they are tried; each is looser.
func strategies(mode string, size int) []strategy {
	all := []strategy{
		{"", findExact},
		{"line ends differ", findAcrossEnds},
		{"whitespace differs, new_string is indented as the file", findLines},
		{blockStrategy, findBlock},
	}
	switch {
	case mode == "exact":
		return all[:1]
	case size > maxLoose:
		return all[:2]
	case mode == "block_anchor":
		return all
	}
	return all[:3]
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
	for _, s := range strategies(mode, len(content)) {
		if found = s.find(content[shift:], old, new); len(found) == 0 {
			continue
		}
		if s.name == "" && mode != "exact" && strings.ContainsAny(old, "\r\n") {
			// Readers cannot see the places where only line ends differ.
			if more := findAcrossEnds(content[shift:], old, new); len(withoutOverlaps(more)) > len(withoutOverlaps(found)) {
				found = more
			}
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
	size := len(content)
	for _, m := range found {
		for _, s := range m.spans {
			size += len(s.text) - (s.to - s.from)
		}
	}
	out, at := make([]byte, 0, size), 0
	for _, m := range found {
		for _, s := range m.spans {
			out = append(append(out, content[at:s.from]...), s.text...)
			at = s.to
		}
	}
	return append(out, content[at:]...)
}

// findExact finds old as it is. A second match that overlaps an only one is
// returned too: then it is not clear which is meant.
func findExact(content []byte, old, new string) []match {
	var found []match
	want := []byte(old)
	e := newExact(content, old, new)
	for at := 0; ; {
		i := bytes.Index(content[at:], want)
		if i < 0 {
			break
		}
		at += i + len(old)
		found = append(found, e.match(content, at))
	}
	if len(found) == 1 {
		next := found[0].to - len(old) + 1
		if i := bytes.Index(content[next:], want); i >= 0 {
			found = append(found, match{from: next + i, to: next + i + len(old)})
		}
	}
	return found
}

// An exact makes matches of old. Where the file has \r, the new lines get the ends
// of those in whose place they are, unless new has \r itself or differs from old in
// line ends only.
type exact struct {
	old, new string
	whole    bool // a \n that old begins with may be the end of \r\n
	adapt    bool
}

func newExact(content []byte, old, new string) exact {
	mixed := bytes.IndexByte(content, '\r') >= 0
	return exact{
		old: old, new: new,
		whole: mixed && !strings.Contains(old, "\r"),
		adapt: mixed && !strings.Contains(new, "\r") && plainText(old) != new,
	}
}

// match is the one that ends at to.
func (e *exact) match(content []byte, to int) match {
	m := match{from: to - len(e.old), to: to}
	if e.whole && m.from > 0 && content[m.from-1] == '\r' && content[m.from] == '\n' {
		m.from-- // a line end is replaced whole
	}
	text := e.new
	if e.adapt {
		text = withEnds(text, content, m)
	}
	m.spans = []span{{m.from, m.to, text}}
	return m
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

// withEnds gives the lines of text the line ends of those in whose place they
// are: the first lines that stay keep theirs, the others count from the end.
func withEnds(text string, content []byte, m match) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	all := rows(content[m.from:m.to])
	if len(all) == 0 || all[len(all)-1].to < all[len(all)-1].next {
		all = append(all, row{m.to - m.from, m.to - m.from, m.to - m.from})
	}
	lines, same := strings.Split(text, "\n"), 0
	for same < min(len(lines), len(all))-1 && lines[same] == string(content[m.from+all[same].from:m.from+all[same].to]) {
		same++
	}
	var b strings.Builder
	for i, line := range lines[:len(lines)-1] {
		at := i
		if i >= same {
			at = max(len(all)-len(lines)+i, same)
		}
		end := content[m.from+all[at].to : m.from+all[at].next]
		if len(end) == 0 { // the line goes on after the match
			end = endNear(content, m.from, m.to)
		}
		b.WriteString(line)
		if line == "" && end[0] == '\n' && strings.HasSuffix(b.String(), "\r") {
			end = []byte("\r") // with \n it would be one line end
		}
		b.Write(end)
	}
	return b.String() + lines[len(lines)-1]
}

// maxNear is how far away a line end is looked for.
const maxNear = 16 << 10

// endNear is the line end of the line that ends at to or after, else of the
// one before from.
func endNear(content []byte, from, to int) []byte {
	if i := bytes.IndexAny(content[to:min(len(content), to+maxNear)], "\r\n"); i >= 0 {
		return endAt(content, to+i)
	}
	start := max(0, from-maxNear)
	i := start + bytes.LastIndexAny(content[start:from], "\r\n")
	switch {
	case i < start:
		return []byte("\n")
	case i > 0 && content[i] == '\n' && content[i-1] == '\r':
		i--
	}
	return endAt(content, i)
}

// endAt is the line end that begins at i.
func endAt(content []byte, i int) []byte {
	if content[i] == '\r' && i+1 < len(content) && content[i+1] == '\n' {
		return content[i : i+2]
	}
	return content[i : i+1]
}
