package stdtool

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

const (
	maxNearest = 3   // places that are shown
	maxShown   = 200 // bytes of a line that are shown
)

// lineOf returns the number of the line that content[matchAt] is in, from 1, as read
// and grep count.
func lineOf(content []byte, at int) int {
	return bytes.Count(content[:at], []byte("\n")) + 1
}

// lineNumbers lists the lines where matches begin, in words.
func lineNumbers(content []byte, found []match) string {
	var all []string
	n, last := 1, 0
	for _, m := range found[:min(len(found), 10)] {
		n, last = n+lineOf(content[last:], m.from-last)-1, m.from
		all = append(all, fmt.Sprint(n))
	}
	if len(found) > len(all) {
		all = append(all, "…")
	}
	if len(all) == 1 {
		return "line " + all[0]
	}
	return "lines " + strings.Join(all, ", ")
}

// A nearby is a line of the file that is like one of old text.
type nearby struct {
	row   int // its index
	score float64
}

// lineNumber is what read writes before a line.
var lineNumber = lazyregexp.New(`^ *[0-9]+(  |\t|→)`)

// numberHint asks to remove line numbers, if old may have been copied with them.
func numberHint(old string) string {
	if !lineNumber.MatchString(old) {
		return ""
	}
	return "\nIf the line numbers of read are in old_string, remove them there and in new_string."
}

// escapeHint finds old text that is in the file with other escapes: models write those
// of JSON twice, or not at all.
func escapeHint(content []byte, old string) string {
	if len(content) > maxLoose {
		return ""
	}
	isThere := func(text string) bool {
		if text == old {
			return false
		}
		_, found := find(content, text, "", "")
		return len(found) > 0
	}
	ends := []string{`\r\n`, "\n", `\n`, "\n", `\t`, "\t"}
	all := append(ends, `\"`, `"`, `\'`, "'", `\\`, `\`)
	escaped := strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\t", `\t`).Replace(old)
	switch {
	case isThere(strings.NewReplacer(ends...).Replace(old)), isThere(strings.NewReplacer(all...).Replace(old)):
		return "\nold_string has a backslash before characters that the file has without one: write real line ends, tabs and quotes in old_string and new_string, not \\n, \\t and \\\"."
	case isThere(escaped):
		return "\nThe file has the characters \\n where old_string has a line end, or \\t where it has a tab: write the backslash in old_string and new_string."
	}
	return ""
}

// nearest describes the lines of the file that are most like old, and the first
// character that differs.
func nearest(content []byte, old string) string {
	if hint := escapeHint(content, old); hint != "" {
		return hint
	}
	switch {
	case strings.Contains(old, "\uFFFD") && !utf8.Valid(content):
		return "\nThe file is not UTF-8: \uFFFD stands for a byte that old_string cannot have. Give text without it, or change the file with another program."
	case len(content) > maxLoose:
		return " The file is too large to look for similar lines: find the line with grep."
	}
	all := rows(content)
	lines := strings.Split(strings.TrimSuffix(plainText(old), "\n"), "\n")
	key := 0
	for i, line := range lines {
		if len(clipLine([]byte(line))) > len(clipLine([]byte(lines[key]))) {
			key = i
		}
	}
	best := similarRows(content, all, lines[key])
	if len(best) == 0 {
		return "\nNo line of the file is similar: read the file again."
	}
	var b strings.Builder
	b.WriteString("\nThe most similar lines (· is a space at an end, → a tab, ␍ a carriage return):")
	for _, n := range best {
		r := all[n.row]
		fmt.Fprintf(&b, "\n%5d  %s", lineOf(content, r.from), visible(content[r.from:r.next]))
	}
	for i := range lines {
		at := best[0].row - key + i
		if at < 0 || at >= len(all) {
			continue
		}
		have := string(content[all[at].from:all[at].to])
		if d := difference(have, lines[i], i == 0, i == len(lines)-1); d != "" {
			fmt.Fprintf(&b, "\nThe first difference is in line %d: %s.", lineOf(content, all[at].from), d)
			break
		}
	}
	return b.String()
}

// similarRows returns the rows most like line, best first.
func similarRows(content []byte, all []row, line string) []nearby {
	var best []nearby
	var p pairs
	for i, r := range all {
		var s similarity
		if s.add(p.common([]byte(line), content[r.from:r.to])); s.all == 0 {
			continue
		}
		if score := s.value(); score >= 0.4 {
			best = append(best, nearby{i, score})
			sort.SliceStable(best, func(i, j int) bool { return best[i].score > best[j].score })
			best = best[:min(len(best), maxNearest)]
		}
	}
	return best
}

// visible shows the whitespace of a line that readers overlook.
func visible(line []byte) string {
	s := strings.TrimSuffix(string(line), "\n")
	cr := strings.HasSuffix(s, "\r")
	s = strings.TrimSuffix(s, "\r")
	left := len(s) - len(strings.TrimLeft(s, " \t"))
	right := len(strings.TrimRight(s, " \t"))
	if right < left {
		right = left
	}
	dots := strings.NewReplacer(" ", "·")
	s = dots.Replace(s[:left]) + clip([]byte(s[left:right]), maxShown) + dots.Replace(s[right:])
	if cr {
		s += "␍"
	}
	return strings.ReplaceAll(s, "\t", "→")
}

// difference describes the first character in which two lines differ. Old text may
// begin and end within a line.
func difference(have, want string, begins, ends bool) string {
	if begins {
		if i := strings.Index(have, want); i >= 0 {
			return ""
		}
		first, _ := utf8.DecodeRuneInString(want)
		if !unicode.IsSpace(first) { // it may begin within the line
			have = strings.TrimLeftFunc(have, unicode.IsSpace)
		}
	}
	for want != "" || have != "" && !ends {
		a, n := utf8.DecodeRuneInString(have)
		b, m := utf8.DecodeRuneInString(want)
		if n == 0 || m == 0 || a != b {
			return fmt.Sprintf("the file has %s where old_string has %s", character(a, n), character(b, m))
		}
		have, want = have[n:], want[m:]
	}
	return ""
}

func character(r rune, size int) string {
	switch {
	case size == 0:
		return "the end of the line"
	case r == ' ':
		return "a space"
	case r == '\t':
		return "a tab"
	case r < utf8.RuneSelf && unicode.IsPrint(r):
		return fmt.Sprintf("%q", string(r))
	case unicode.IsPrint(r):
		return fmt.Sprintf("%q (U+%04X)", string(r), r)
	}
	return fmt.Sprintf("U+%04X", r)
}
