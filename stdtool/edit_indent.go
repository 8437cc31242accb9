package stdtool

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// An indentation maps the indentation of old text to that of the file.
type indentation struct {
	pairs     []indentPair // each of old only once
	old, file string       // one more level
}

type indentPair struct{ old, file string }

func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// indentation compares the old lines with those of the file. Where they do not
// agree, the lines that are replaced count, then those before them.
func (c change) indentation(content []byte, all []row, d lcs.Diff) *indentation {
	in := new(indentation)
	seen := map[string]bool{}
	add := func(i int) {
		line := c.old[i]
		p := indentPair{indentOf(line), indentOf(string(content[all[i].from:all[i].to]))}
		if strings.TrimSpace(line) != "" && !seen[p.old] {
			seen[p.old] = true
			in.pairs = append(in.pairs, p)
		}
	}
	for i := d.Start; i < d.End; i++ {
		add(i)
	}
	for i := d.Start - 1; i >= 0; i-- {
		add(i)
	}
	for i := d.End; i < len(c.old); i++ {
		add(i)
	}
	in.level()
	return in
}

// level finds two lines of which one is deeper in both texts.
func (in *indentation) level() {
	in.old, in.file = in.usual()
	found := false
	for _, a := range in.pairs {
		for _, b := range in.pairs {
			old, file := strings.TrimPrefix(b.old, a.old), strings.TrimPrefix(b.file, a.file)
			deeper := len(old)+len(a.old) == len(b.old) && len(file)+len(a.file) == len(b.file) && old != "" && file != ""
			if deeper && (!found || len(old) < len(in.old)) {
				in.old, in.file, found = old, file, true
			}
		}
	}
}

// usual returns a level where no two lines show one.
func (in *indentation) usual() (old, file string) {
	const spaces = "    "
	for _, p := range in.pairs {
		switch oldTab, fileTab := strings.Contains(p.old, "\t"), strings.Contains(p.file, "\t"); {
		case fileTab && !oldTab:
			return spaces, "\t"
		case oldTab && !fileTab:
			return "\t", spaces
		}
	}
	return spaces, spaces
}

// adapt indents a line of new text as the file would.
func (in *indentation) adapt(line string) string {
	indent := indentOf(line)
	text := line[len(indent):]
	if text == "" {
		return ""
	}
	var best, shallow *indentPair
	for i := range in.pairs {
		p := &in.pairs[i]
		if strings.HasPrefix(indent, p.old) && (best == nil || len(p.old) > len(best.old)) {
			best = p
		}
		if strings.HasPrefix(p.old, indent) && (shallow == nil || len(p.old) < len(shallow.old)) {
			shallow = p
		}
	}
	switch {
	case best != nil:
		return best.file + in.deeper(indent[len(best.old):]) + text
	case shallow != nil: // less than any old line
		less := in.deeper(shallow.old[len(indent):])
		return shallow.file[:max(0, len(shallow.file)-len(less))] + text
	}
	return line
}

// deeper is how the file writes further indentation.
func (in *indentation) deeper(indent string) string {
	levels := strings.Count(indent, in.old)
	return strings.Repeat(in.file, levels) + indent[levels*len(in.old):]
}
