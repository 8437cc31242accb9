package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A textReport writes a report as a page.
type textReport struct {
	*Report
	*terminal.Page
	verbose bool
	known   map[*dialect.Rule]bool // rules that were explained
	shown   map[string]string      // the tool where the same text was written before
}

func writeText(w io.Writer, r *Report, o *Options) error {
	t := &textReport{Report: r, Page: terminal.NewPage(w), verbose: o.Verbose, known: map[*dialect.Rule]bool{}, shown: map[string]string{}}
	t.Line("", fmt.Sprintf("%s: %s, %s", r.Title, terminal.Count(len(r.Tools), "tool"), terminal.Count(len(r.targets), "target")))
	above := &Tool{} // the tool of the last heading
	for _, g := range r.groups() {
		if g[0].level() == Note && !t.verbose {
			continue
		}
		if tool := g[0].tool; tool != above {
			above = tool
			t.writeHeading(tool)
		}
		t.group(g)
	}
	t.switchedOff()
	t.summary()
	return t.Flush()
}

// groups returns the problems of one tool and rule together.
func (r *Report) groups() (groups [][]*problem) {
	for i, p := range r.problems {
		if i > 0 && r.problems[i-1].tool == p.tool && r.problems[i-1].rule == p.rule && r.problems[i-1].level() == p.level() {
			last := len(groups) - 1
			groups[last] = append(groups[last], p)
			continue
		}
		groups = append(groups, []*problem{p})
	}
	return groups
}

func (t *textReport) writeHeading(tool *Tool) {
	fmt.Fprintf(t, "\n%s\n", t.Paint("1", terminal.Cut(cleartext.Printable(title(tool)), t.Width)))
}

// title is the name of a tool for people; nil is the list.
func title(t *Tool) string {
	switch {
	case t == nil:
		return "the list as a whole"
	case t.name == "":
		return "a tool without a name"
	}
	return t.name
}

const textIndent = "           "

// group writes the problems of one tool and rule.
func (t *textReport) group(g []*problem) {
	shown := g
	if !t.verbose {
		shown = g[:1]
		if t.repeats(g) {
			return
		}
	}
	for _, p := range shown {
		t.head(p, "")
		t.problem(p)
	}
	if more := g[len(shown):]; len(more) > 0 {
		label := "also at  "
		for _, p := range more[:min(len(more), 3)] {
			t.WriteString(textIndent + label + cleartext.Printable(p.where()) + "\n")
			label = strings.Repeat(" ", len(label))
		}
		if rest := len(more) - 3; rest > 0 {
			t.Line(textIndent+label, fmt.Sprintf("and %s", terminal.Count(rest, "more place")))
		}
	}
	if text := t.together(g); text != "" {
		t.Line(textIndent+"adapted  ", text)
	}
	rule := g[0].rule
	if !t.known[rule] {
		t.known[rule] = true
		t.Line(textIndent+"why      ", rule.Why)
		t.Line(textIndent+"fix      ", rule.Fix)
	}
}

// repeats reports whether problems are described in full at another tool, and writes a line that says so.
func (t *textReport) repeats(g []*problem) bool {
	same := g[0].rule.Name + "/" + g[0].keyword
	for _, h := range slices.Concat(g[0].byEffect()...) {
		same += fmt.Sprintf(" %s %s", h.target.ID, h.Effect)
	}
	same += " " + t.remedy(g[0]).outline()
	before, known := t.shown[same]
	if !known {
		t.shown[same] = title(g[0].tool)
		return false
	}
	text := "as for " + before
	if n := len(g) - 1; n > 0 {
		text = fmt.Sprintf("and %s, %s", terminal.Count(n, "more place"), text)
	}
	t.head(g[0], text)
	return true
}

// head writes the level, the rule and the place.
func (t *textReport) head(p *problem, more string) {
	colors := [...]string{"31;1", "33;1", "36;1"}
	text := p.rule.Name + "  " + p.where()
	if at, ok := t.spot(p); ok {
		text += fmt.Sprintf("  %s:%d:%d", t.File.Path, at.line, at.column)
	}
	if more != "" {
		text += "  (" + more + ")"
	}
	t.WriteString("  " + t.Paint(colors[p.level()], fmt.Sprintf("%-7s", p.level())) + "  " + cleartext.Printable(text) + "\n")
}

// problem writes what is wrong in one place.
func (t *textReport) problem(p *problem) {
	if text := p.excerpt(); text != "" {
		t.WriteString(textIndent + t.Paint("2", terminal.Cut(cleartext.Printable(text), t.Width-len(textIndent))) + "\n")
	}
	t.Line(textIndent, p.message())
	for _, hits := range p.byEffect() {
		t.Line(textIndent+"→ ", string(hits[0].Effect)+": "+t.readers(p, hits))
	}
	if t.verbose {
		t.evidence(p)
	}
	if m := t.remedy(p); m.text != "" && !m.derived {
		t.Line(textIndent+"adapted  ", m.text)
	}
}

// where is the place for people: the pointer and the keyword.
func (p *problem) where() string {
	if p.keyword == "" {
		return p.pointer
	}
	return p.pointer + "/" + p.keyword
}

// readers names those that a problem hits, with their versions.
func (t *textReport) readers(p *problem, hits []hit) string {
	const few = 6
	var names []string
	for i, h := range hits {
		if i == few && !t.verbose && len(hits) > few+1 {
			names = append(names, fmt.Sprintf("and %d more", len(hits)-few))
			break
		}
		names = append(names, h.target.ID+versions(h, p.rule))
	}
	return strings.Join(names, ", ")
}

// versions names the versions of the target in which the effect was seen.
func versions(h hit, r *dialect.Rule) string {
	const short = 24
	for _, s := range r.Sources(h.target) {
		if s.Effect == h.Effect && s.Versions != "" && s.Dialect == h.target.ID && utf8.RuneCountInString(s.Versions) <= short {
			return " (versions: " + s.Versions + ")"
		}
	}
	return ""
}

func (t *textReport) evidence(p *problem) {
	for _, h := range p.hits {
		if h.Message != p.hits[0].Message {
			t.Line(textIndent+"  ", h.target.ID+": "+h.Message)
		}
	}
	for _, h := range slices.Concat(p.byEffect()...) {
		for _, text := range evidence(h.target, p.rule) {
			t.Line(textIndent+"  ", h.target.ID+": "+text)
		}
	}
}

// switchedOff lists the rules that do not count, and why.
func (t *textReport) switchedOff() {
	counts, order := map[string]int{}, []string{}
	for _, p := range t.off {
		key := p.rule.Name + ": " + p.reason
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	for i, key := range order {
		if i == 0 {
			t.Line("", "")
		}
		t.Line("switched off  ", fmt.Sprintf("%s of %s", terminal.Count(counts[key], "finding"), key))
	}
}
