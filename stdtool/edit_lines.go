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
			return change{old: strings.Split(old, "\n")}.withDiff()
		}
		new = strings.TrimSuffix(new, "\n")
	}
	return change{old: strings.Split(old, "\n"), new: strings.Split(new, "\n")}.withDiff()
}

func (c change) withDiff() change {
	c.diff = lcs.DiffLines(c.old, c.new)
	return c
}

// matchAt makes the change at the lines of the file that stand for the old ones.
// Lines that are the same in old and new stay as the file has them.
func (c change) matchAt(content []byte, all []row, first int) match {
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

// A lineSearch looks for the lines of old in a file.
type lineSearch struct {
	change
	content    []byte
	rows       []row
	want, have []uint64 // hashes of the words of the old lines, and of those of the file
}

func newLineSearch(content []byte, old, new string) *lineSearch {
	s := &lineSearch{change: newChange(old, new), content: content, rows: rows(content)}
	seed := maphash.MakeSeed()
	for _, line := range s.old {
		s.want = append(s.want, hashWords(seed, []byte(line)))
	}
	for _, r := range s.rows {
		s.have = append(s.have, hashWords(seed, content[r.from:r.to]))
	}
	return s
}

// matches returns the places where is reports that the rows from there on stand for
// the old lines.
func (s *lineSearch) matches(is func(first int) bool) (found []match) {
	n := len(s.want)
	for _, first := range occurrences(n, func(from int) int {
		for ; from+n <= len(s.have); from++ {
			if s.have[from] == s.want[0] && s.have[from+n-1] == s.want[n-1] && is(from) {
				return from
			}
		}
		return -1
	}) {
		found = append(found, s.matchAt(s.content, s.rows, first))
	}
	return found
}

// findLines finds whole lines where only whitespace differs.
func findLines(content []byte, old, new string) []match {
	s := newLineSearch(content, old, new)
	return s.matches(func(first int) bool { return slices.Equal(s.want, s.have[first:first+len(s.want)]) })
}

// findBlocks finds lines of which the first and the last are those of old, but
// for whitespace, and the lines between are similar.
func findBlocks(content []byte, old, new string) []match {
	s := newLineSearch(content, old, new)
	n := len(s.old)
	if n < 3 || strings.TrimSpace(s.old[0]) == "" || strings.TrimSpace(s.old[n-1]) == "" {
		return nil
	}
	var p pairs
	compared := 0
	found := s.matches(func(first int) bool {
		if compared++; compared > maxBlocks {
			return false
		}
		var like similarity
		for k := 1; k < n-1; k++ {
			r := s.rows[first+k]
			like.add(p.common([]byte(s.old[k]), content[r.from:r.to]))
		}
		return like.value() >= minSimilar
	})
	if compared > maxBlocks {
		return nil
	}
	return found
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
