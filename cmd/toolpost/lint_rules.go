package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/dialect"
)

func ruleNames() (names []string) {
	for _, r := range dialect.Rules() {
		names = append(names, r.Name)
	}
	return names
}

// writeRules lists the rules.
func writeRules(w io.Writer) error {
	longest := 0
	for _, name := range ruleNames() {
		longest = max(longest, len(name))
	}
	width, _ := terminalSize(w)
	for _, r := range dialect.Rules() {
		if _, err := fmt.Fprintln(w, cut(fmt.Sprintf("%-*s  %s", longest, r.Name, r.What), width)); err != nil {
			return err
		}
	}
	return nil
}

// explain tells all about a rule. A name with a target before it has only the
// evidence of that one.
func explain(w io.Writer, name string) error {
	target, rule, ok := strings.Cut(name, "/")
	if !ok {
		target, rule = "", name
	}
	r := rulesByName()[rule]
	if r == nil {
		return usagef("there is no rule %q; %s", name, didYouMean(name))
	}
	p := newPage(w)
	p.line("", r.Name)
	p.line("", "")
	p.line("What  ", r.What)
	p.line("Why   ", r.Why)
	p.line("Fix   ", r.Fix)
	for _, d := range dialect.All() {
		if target != "" && target != "all" && target != d.ID || !r.Demanded(d) {
			continue
		}
		p.line("", "")
		p.line("", fmt.Sprintf("%s (%s): %s", r.ID(d), d.Title, r.EffectFor(d)))
		for _, s := range evidence(d, r) {
			p.line("  ", s)
		}
	}
	p.line("", "")
	p.line("", ruleAddress(r))
	return p.flush()
}

// evidence tells where the sources of d saw what r is about.
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
