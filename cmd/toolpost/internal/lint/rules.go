package lint

import (
	"fmt"
	"io"
	"reflect"
	"slices"
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
	for _, s := range sourcesOf(d, r) {
		text := s.How + " " + s.Date
		if s.Versions != "" {
			of := ""
			if first := origin(d, &s); first != d {
				of = " of " + first.ID
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

func sourcesOf(d *dialect.Dialect, r *dialect.Rule) (all []dialect.Source) {
	for _, s := range d.Sources {
		for _, rule := range s.Rules {
			if rule == r.Name {
				all = append(all, s)
			}
		}
	}
	return all
}

// origin returns the dialect that s was written for: d, or one that it extends.
func origin(d *dialect.Dialect, s *dialect.Source) *dialect.Dialect {
	parent, err := dialect.Find(d.Extends)
	if err != nil {
		return d
	}
	inherited := slices.ContainsFunc(parent.Sources, func(p dialect.Source) bool {
		p.Rules = s.Rules // rules of which d has its own are left out
		return reflect.DeepEqual(p, *s)
	})
	if !inherited {
		return d
	}
	return origin(parent, s)
}

// ruleAddress is where the page of a rule is.
func ruleAddress(r *dialect.Rule) string {
	return "https://github.com/toolpost/toolpost/blob/main/docs/rules/" + r.Name + ".md"
}
