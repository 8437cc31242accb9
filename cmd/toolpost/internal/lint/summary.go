package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// summary writes a table of the targets, and what to do next.
func (t *textReport) summary() {
	counts, clean := t.perTarget()
	t.Line("", "")
	if len(counts) > 0 {
		longest := len("TARGET")
		for _, d := range t.targets {
			longest = max(longest, len(d.ID))
		}
		fmt.Fprintf(t, "%-*s  ERRORS  WARNINGS  NOTES\n", longest, "TARGET")
		for _, d := range t.targets {
			if n, ok := counts[d.ID]; ok {
				fmt.Fprintf(t, "%-*s  %6s  %8s  %5s\n", longest, d.ID, number(n[0]), number(n[1]), number(n[2]))
			}
		}
	}
	if len(clean) > 0 {
		t.Line("", "Nothing found for "+strings.Join(clean, ", ")+".")
	}
	var unasked []string
	for _, d := range t.Unasked {
		unasked = append(unasked, d.ID)
	}
	if len(unasked) > 0 {
		t.Line("", "Only checked if named with --for: "+strings.Join(unasked, ", ")+".")
	}
	t.writeTotal()
}

// perTarget counts by target and level, and returns the targets without any.
func (t *textReport) perTarget() (counts map[string][Never]int, clean []string) {
	counts = map[string][Never]int{}
	for _, p := range t.problems {
		for _, h := range slices.Concat(p.byEffect()...) {
			n := counts[h.target.ID]
			n[levelOf(h.Effect)]++
			counts[h.target.ID] = n
		}
	}
	for _, d := range t.targets {
		if _, ok := counts[d.ID]; !ok {
			clean = append(clean, d.ID)
		}
	}
	return counts, clean
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (t *textReport) writeTotal() {
	n := t.count()
	concerned := map[*Tool]bool{}
	for _, p := range t.problems {
		if p.tool != nil {
			concerned[p.tool] = true
		}
	}
	t.Line("", "")
	t.Line("", fmt.Sprintf("%s, %s, %s; findings in %d of %s.", terminal.Count(n[Error], "error"),
		terminal.Count(n[Warning], "warning"), terminal.Count(n[Note], "note"), len(concerned), terminal.Count(len(t.Tools), "tool")))
	switch {
	case t.verbose || len(t.problems) == 0:
	case n[Note] > 0:
		t.Line("", `--verbose shows the notes, every place and the evidence; --explain RULE explains a rule.`)
	default:
		t.Line("", `--verbose shows every place and the evidence; --explain RULE explains a rule.`)
	}
}
