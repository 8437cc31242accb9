package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
)

// adapt writes the tools as the one target gets them, or what is different.
func (o *lintOptions) adapt(cmd *cobra.Command, src *toolSource) error {
	d, err := src.target(o.targets)
	if err != nil {
		return err
	}
	a := adaptSource(src, d, &dialect.Options{Server: o.server})
	for _, w := range a.Withheld {
		who := "a tool without a name"
		if w.Name != "" {
			who = fmt.Sprintf("tool %q", printable(w.Name))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: %s is withheld: %s (%s)\n", who, printable(w.Why), w.Rule)
	}
	if o.diff {
		p := newPage(cmd.OutOrStdout())
		if err := a.diff(p); err != nil {
			return err
		}
		return p.flush()
	}
	list := struct {
		Tools []json.RawMessage `json:"tools"`
	}{[]json.RawMessage{}}
	for _, t := range a.Tools {
		raw, err := t.Definition.MarshalJSON()
		if err != nil {
			return err
		}
		list.Tools = append(list.Tools, raw)
	}
	return writeIndented(cmd.OutOrStdout(), list)
}

// diff shows the tools that adapting changes.
func (a *adapted) diff(p *page) error {
	changed := 0
	for _, t := range a.Tools {
		before, err := definitionLines(t.Original)
		if err != nil {
			return err
		}
		after, err := definitionLines(t.Tool)
		if err != nil {
			return err
		}
		lines := diffLines(before, after)
		if !differs(lines) {
			continue
		}
		changed++
		p.WriteString(p.paint("1", printable(t.Original.Name)) + "\n")
		if p.sides {
			p.columns(lines)
		} else {
			p.unified(lines)
		}
		p.WriteString("\n")
	}
	p.line("", fmt.Sprintf("%d of %s changed for %s.", changed, counted(len(a.Tools), "tool"), a.Dialect.ID))
	return nil
}

func definitionLines(t *toolpost.Tool) ([]string, error) {
	raw, err := t.Definition.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return nil, err
	}
	return strings.Split(b.String(), "\n"), nil
}

// A diffLine is a line of two texts: of both, or of one.
type diffLine struct {
	before, after string
	mark          byte // ' ' both, '-' only before, '+' only after
}

func differs(lines []diffLine) bool {
	for _, l := range lines {
		if l.mark != ' ' {
			return true
		}
	}
	return false
}

// mostDiff bounds the table of the longest common subsequence.
const mostDiff = 4 << 20

// diffLines compares line by line.
func diffLines(a, b []string) []diffLine {
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	lines := sameLines(a[:start])
	lines = append(lines, changedLines(a[start:len(a)-end], b[start:len(b)-end])...)
	return append(lines, sameLines(a[len(a)-end:])...)
}

func sameLines(both []string) (lines []diffLine) {
	for _, l := range both {
		lines = append(lines, diffLine{l, l, ' '})
	}
	return lines
}

// changedLines compares by the longest common subsequence; of very long texts
// all is different.
func changedLines(a, b []string) (lines []diffLine) {
	common := commonLines(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, diffLine{a[i], b[j], ' '})
			i, j = i+1, j+1
		case common(i+1, j) >= common(i, j+1):
			lines = append(lines, diffLine{before: a[i], mark: '-'})
			i++
		default:
			lines = append(lines, diffLine{after: b[j], mark: '+'})
			j++
		}
	}
	for ; i < len(a); i++ {
		lines = append(lines, diffLine{before: a[i], mark: '-'})
	}
	for ; j < len(b); j++ {
		lines = append(lines, diffLine{after: b[j], mark: '+'})
	}
	return lines
}

// commonLines returns how many lines a[i:] and b[j:] have in common.
func commonLines(a, b []string) func(i, j int) int {
	if len(a)*len(b) > mostDiff {
		return func(int, int) int { return 0 }
	}
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	return func(i, j int) int { return int(table[i*width+j]) }
}

// unified writes one line after the other.
func (p *page) unified(lines []diffLine) {
	colors := map[byte]string{'-': "31", '+': "32"}
	for i, l := range lines {
		switch {
		case l.mark != ' ':
			p.WriteString(p.paint(colors[l.mark], string(l.mark)+" "+printable(l.before+l.after)) + "\n")
		case nearDifference(lines, i):
			p.WriteString("  " + printable(l.after) + "\n")
		}
	}
}

// nearDifference reports whether a difference is at most three lines away.
func nearDifference(lines []diffLine, i int) bool {
	const context = 3
	return differs(lines[max(0, i-context):min(len(lines), i+context+1)])
}

// sideBySide is the width that two columns need.
const sideBySide = 100

// columns writes what was before at the left.
func (p *page) columns(lines []diffLine) {
	half := (p.width - 3) / 2
	for i := 0; i < len(lines); {
		if lines[i].mark == ' ' {
			if nearDifference(lines, i) {
				p.pair(half, lines[i].before, lines[i].after, " ")
			}
			i++
			continue
		}
		var before, after []string
		for ; i < len(lines) && lines[i].mark != ' '; i++ {
			if lines[i].mark == '-' {
				before = append(before, lines[i].before)
			} else {
				after = append(after, lines[i].after)
			}
		}
		for n := range max(len(before), len(after)) {
			p.pair(half, lineAt(before, n), lineAt(after, n), "|")
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func (p *page) pair(half int, before, after, mark string) {
	before, after = cut(printable(before), half), cut(printable(after), half)
	padding := strings.Repeat(" ", half-utf8.RuneCountInString(before))
	if mark != " " {
		before, after = p.paint("31", before), p.paint("32", after)
	}
	p.WriteString(strings.TrimRight(before+padding+" "+mark+" "+after, " ") + "\n")
}
