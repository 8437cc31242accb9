package stdtool

import (
	"bytes"
	"slices"
	"strings"
)

// A match is where old text was found, with what makes the new text of it.
// Only the bytes of its spans change.
type match struct {
	from, to int
	spans    []span
}

// A span is a replacement of content[from:to].
type span struct {
	from, to int
	text     string
}

// How old text differs from the text that was found; it is empty if it is the same.
const (
	otherEnds  = "line ends differ"
	otherSpace = "whitespace differs, new_string is indented as the file"
	otherLines = "inner lines differ, found by the first and the last line" // a guess: never used for several places
)

// maxLoose is the size of a file up to which text is found whose whitespace
// differs.
const maxLoose = 16 << 20

var bom = []byte("\xEF\xBB\xBF")

// find returns the matches of old: those that differ in line ends, unless mode is
// exact; if there are none, those that differ in whitespace; and if there are
// none and mode is block_anchor, those of which only the first and the last line
// are certain.
func find(content []byte, old, new, mode string) (how string, found []match) {
	shift := 0
	if bytes.HasPrefix(content, bom) {
		shift = len(bom)
		content, old, new = content[shift:], strings.TrimPrefix(old, string(bom)), strings.TrimPrefix(new, string(bom))
	}
	if strings.TrimSpace(old) == "" {
		return "", nil
	}
	if how, found = findText(content, old, new, mode == "exact"); len(found) == 0 && mode != "exact" && len(content) <= maxLoose {
		how, found = otherSpace, findLines(content, old, new)
		if len(found) == 0 && mode == "block_anchor" {
			how, found = otherLines, findBlocks(content, old, new)
		}
	}
	for i := range found {
		found[i].move(shift)
	}
	return how, found
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

// occurrences returns where next finds something of that size, from the beginning
// on. A second one that overlaps an only one is returned too: then it is not clear
// which is meant.
func occurrences(size int, next func(from int) int) []int {
	var all []int
	for at := next(0); at >= 0; at = next(at + size) {
		all = append(all, at)
	}
	if len(all) == 1 {
		if at := next(all[0] + 1); at >= 0 {
			all = append(all, at)
		}
	}
	return all
}

// findText finds old, also where only line ends differ: readers cannot see those.
func findText(content []byte, old, new string, exactly bool) (how string, found []match) {
	plain, dropped := plainEnds(content)
	want := []byte(plainText(old))
	how = otherEnds
	for _, at := range occurrences(len(want), func(from int) int {
		if i := bytes.Index(plain[from:], want); i >= 0 {
			return from + i
		}
		return -1
	}) {
		m := match{from: before(dropped, at), to: before(dropped, at+len(want))}
		exact := m.replace(content, old, new)
		if exact {
			how = ""
		}
		if exact || !exactly {
			found = append(found, m)
		}
	}
	return how, found
}

// replace sets the new text of a match of old, whose line ends may differ, and
// reports whether it is old itself. New lines get the ends of those in whose place
// they are, unless new has \r itself or differs from old in line ends only.
func (m *match) replace(content []byte, old, new string) (exact bool) {
	if strings.HasSuffix(old, "\r") && content[m.to-1] == '\n' {
		m.to-- // it is the end of \r\n
	}
	text := string(content[m.from:m.to])
	exact = text == old || text == "\r"+old // a line end is replaced whole
	if !exact || !strings.Contains(new, "\r") && plainText(old) != new {
		new = withEnds(plainText(new), content, *m)
	}
	m.spans = []span{{m.from, m.to, new}}
	return exact
}

// before is the place in the original of a place in its plain form.
func before(dropped []int, at int) int {
	n, _ := slices.BinarySearch(dropped, at)
	return at + n
}

// plainEnds makes every line end \n. Dropped are the places in the result where
// there were two bytes.
func plainEnds(content []byte) (plain []byte, dropped []int) {
	if bytes.IndexByte(content, '\r') < 0 {
		return content, nil
	}
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
	if !strings.Contains(s, "\r") {
		return s
	}
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
