package stdtool

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A row is a line of a file: content[from:to], and its line end up to next.
type row struct{ from, to, next int }

func rows(content []byte) []row {
	var all []row
	for at := 0; at < len(content); {
		r := row{at, len(content), len(content)}
		if i := bytes.IndexAny(content[at:], "\r\n"); i >= 0 {
			r.to, r.next = at+i, at+i+1
			if content[r.to] == '\r' && r.next < len(content) && content[r.next] == '\n' {
				r.next++
			}
		}
		all = append(all, r)
		at = r.next
	}
	return all
}

// A change is a replacement of whole lines.
type change struct {
	old, new []string
	diff     []lcs.Diff // from old to new
}

func newChange(old, new string) change {
	old, new = plainText(old), plainText(new)
	if o, ok := strings.CutSuffix(old, "\n"); ok {
		old = o
		if new == "" {
			return change{old: strings.Split(old, "\n")}.compared()
		}
		new = strings.TrimSuffix(new, "\n")
	}
	return change{old: strings.Split(old, "\n"), new: strings.Split(new, "\n")}.compared()
}

func (c change) compared() change {
	c.diff = lcs.DiffLines(c.old, c.new)
	return c
}

// at makes the change at the lines of the file that stand for the old ones.
// Lines that are the same in old and new stay as the file has them.
func (c change) at(content []byte, all []row, first int) match {
	m := match{from: all[first].from, to: all[first+len(c.old)-1].next}
	for _, d := range c.diff {
		indent := c.indentation(content, all[first:], d)
		lines := make([]string, 0, d.ReplEnd-d.ReplStart)
		for _, line := range c.new[d.ReplStart:d.ReplEnd] {
			lines = append(lines, indent.adapt(line))
		}
		m.spans = append(m.spans, replaceRows(content, all, first+d.Start, first+d.End, lines))
	}
	return m
}

// replaceRows replaces the rows from a to b, which may be none, with lines.
func replaceRows(content []byte, all []row, a, b int, lines []string) span {
	text := strings.Join(lines, "\n")
	switch {
	case a < b && len(lines) > 0:
		m := match{from: all[a].from, to: all[b-1].to}
		return span{m.from, m.to, withEnds(text, content, m)}
	case a < b:
		return span{all[a].from, all[b-1].next, ""}
	}
	at := len(content)
	switch {
	case a < len(all):
		at = all[a].from
		text += "\n"
	case all[a-1].to == all[a-1].next:
		text = "\n" + text
	default:
		text += "\n"
	}
	end := endNear(content, at, at)
	return span{at, at, strings.ReplaceAll(text, "\n", string(end))}
}

// words is text with every run of whitespace as one space, and none around.
func words(text []byte) []byte { return bytes.Join(bytes.Fields(text), []byte(" ")) }

// findLines finds whole lines where only whitespace differs.
func findLines(content []byte, old, new string) []match {
	c, all := newChange(old, new), rows(content)
	want, have := hashed(c, content, all)
	n := len(want)
	var found []match
	for i := 0; i+n <= len(have); i++ {
		if slices.Equal(want, have[i:i+n]) {
			found = append(found, c.at(content, all, i))
			i += n - 1
		}
	}
	if len(found) == 1 { // the same question as in findExact
		first, _ := slices.BinarySearchFunc(all, found[0].from, func(r row, at int) int { return r.from - at })
		for i := first + 1; i < first+n && i+n <= len(have); i++ {
			if slices.Equal(want, have[i:i+n]) {
				return append(found, c.at(content, all, i))
			}
		}
	}
	return found
}

// hashed returns hashes of the words of all lines.
func hashed(c change, content []byte, all []row) (want, have []uint64) {
	seed := maphash.MakeSeed()
	want, have = make([]uint64, len(c.old)), make([]uint64, len(all))
	for i, line := range c.old {
		want[i] = hashWords(seed, []byte(line))
	}
	for i, r := range all {
		have[i] = hashWords(seed, content[r.from:r.to])
	}
	return want, have
}

// hashWords returns the hash of a text whose every run of whitespace is one space.
func hashWords(seed maphash.Seed, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for word := range bytes.FieldsSeq(text) {
		h.Write(word)
		h.WriteByte(' ')
	}
	return h.Sum64()
}
