package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema/dialect"
)

// WriteRules lists the rules.
func WriteRules(w io.Writer) error {
	longest := 0
	for _, r := range dialect.Rules() {
		longest = max(longest, len(r.Name))
	}
	width, _ := terminal.Size(w)
	for _, r := range dialect.Rules() {
		if _, err := fmt.Fprintln(w, terminal.Cut(fmt.Sprintf("%-*s  %s", longest, r.Name, r.What), width)); err != nil {
			return err
		}
	}
	return nil
}

// Explain writes everything about a rule, which must exist. A name with a target before it has only the
// evidence of that one.
func Explain(w io.Writer, name string) error {
	target, rule, ok := strings.Cut(name, "/")
	if !ok {
		target, rule = "", name
	}
	r := rulesByName()[rule]
	p := terminal.NewPage(w)
	p.Line("", r.Name)
	p.Line("", "")
	p.Line("What  ", r.What)
	p.Line("Why   ", r.Why)
	p.Line("Fix   ", r.Fix)
	for _, d := range dialect.All() {
		if target != "" && target != "all" && target != d.ID || !r.Demanded(d) {
			continue
		}
		p.Line("", "")
		p.Line("", fmt.Sprintf("%s (%s): %s", r.ID(d), d.Title, r.EffectFor(d)))
		for _, s := range evidence(d, r) {
			p.Line("  ", s)
		}
	}
	p.Line("", "")
	p.Line("", ruleAddress(r))
	return p.Flush()
}

// evidence names the sources in which d shows the behaviour that r is about.
func evidence(d *dialect.Dialect, r *dialect.Rule) (lines []string) {
	for _, s := range r.Sources(d) {
		text := s.How + " " + s.Date
		if s.Versions != "" {
			of := ""
			if s.Dialect != d.ID {
				of = " of " + s.Dialect
			}
			text += ", versions" + of + ": " + s.Versions
		}
		if s.Effect != "" {
			text += ", " + string(s.Effect)
		}
		if s.Note != "" {
			text += ": " + s.Note
		}
		lines = append(lines, text+" ("+s.Source+")")
	}
	return lines
}

// ruleAddress is where the page of a rule is.
func ruleAddress(r *dialect.Rule) string {
	return "https://github.com/toolpost/toolpost/blob/main/docs/rules/" + r.Name + ".md"
}
