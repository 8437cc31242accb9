package terminal

import (
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// A Line is a line of two texts: of both, or of one.
type Line struct {
	Before, After string
	Mark          byte // ' ' both, '-' only before, '+' only after
}

// Differs reports whether one of the lines is not of both texts.
func Differs(lines []Line) bool {
	for _, l := range lines {
		if l.Mark != ' ' {
			return true
		}
	}
	return false
}

// maxDiff bounds the table of the longest common subsequence.
const maxDiff = 4 << 20

// Diff compares two texts line by line.
func Diff(a, b []string) []Line {
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

func sameLines(both []string) (lines []Line) {
	for _, l := range both {
		lines = append(lines, Line{l, l, ' '})
	}
	return lines
}

// changedLines compares by the longest common subsequence; of very long texts
// all is different.
func changedLines(a, b []string) (lines []Line) {
	common := commonLines(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, Line{a[i], b[j], ' '})
			i, j = i+1, j+1
		case common(i+1, j) >= common(i, j+1):
			lines = append(lines, Line{Before: a[i], Mark: '-'})
			i++
		default:
			lines = append(lines, Line{After: b[j], Mark: '+'})
			j++
		}
	}
	for ; i < len(a); i++ {
		lines = append(lines, Line{Before: a[i], Mark: '-'})
	}
	for ; j < len(b); j++ {
		lines = append(lines, Line{After: b[j], Mark: '+'})
	}
	return lines
}

// commonLines returns how many lines a[i:] and b[j:] have in common.
func commonLines(a, b []string) func(i, j int) int {
	if len(a)*len(b) > maxDiff {
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

// Diff writes the lines that differ, with some around them.
func (p *Page) Diff(lines []Line) {
	if p.Wide {
		p.columns(lines)
	} else {
		p.writeUnified(lines)
	}
}

// writeUnified writes one line after the other.
func (p *Page) writeUnified(lines []Line) {
	colors := map[byte]string{'-': "31", '+': "32"}
	for i, l := range lines {
		switch {
		case l.Mark != ' ':
			p.WriteString(p.Paint(colors[l.Mark], string(l.Mark)+" "+cleartext.Printable(l.Before+l.After)) + "\n")
		case nearDifference(lines, i):
			p.WriteString("  " + cleartext.Printable(l.After) + "\n")
		}
	}
}

// nearDifference reports whether a difference is at most three lines away.
func nearDifference(lines []Line, i int) bool {
	const context = 3
	return Differs(lines[max(0, i-context):min(len(lines), i+context+1)])
}

// sideBySide is the width that two columns need.
const sideBySide = 100

// columns writes what was before at the left.
func (p *Page) columns(lines []Line) {
	half := (p.Width - 3) / 2
	for i := 0; i < len(lines); {
		if lines[i].Mark == ' ' {
			if nearDifference(lines, i) {
				p.pair(half, lines[i].Before, lines[i].After, " ")
			}
			i++
			continue
		}
		var before, after []string
		for ; i < len(lines) && lines[i].Mark != ' '; i++ {
			if lines[i].Mark == '-' {
				before = append(before, lines[i].Before)
			} else {
				after = append(after, lines[i].After)
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

func (p *Page) pair(half int, before, after, mark string) {
	before, after = Cut(cleartext.Printable(before), half), Cut(cleartext.Printable(after), half)
	padding := strings.Repeat(" ", half-Width(before))
	if mark != " " {
		before, after = p.Paint("31", before), p.Paint("32", after)
	}
	p.WriteString(strings.TrimRight(before+padding+" "+mark+" "+after, " ") + "\n")
}
