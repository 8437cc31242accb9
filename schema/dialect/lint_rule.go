package dialect

import (
	"reflect"
	"slices"

	"github.com/toolpost/toolpost"
)

// A Rule is one requirement that a dialect may have.
type Rule struct {
	Name   string // "no-union"; the id of a finding is this with the dialect before it, or "all" if All is set
	All    bool   // applies to every reader
	Effect Effect // if the dialect's sources give no other
	What   string // the requirement, one sentence
	Why    string // what goes wrong otherwise
	Fix    string // how to avoid it, and what adapting does

	when  func(d *Dialect) bool // d demands it; nil if every dialect does
	rest  bool                  // it skips keywords that another rule has reported
	check check                 // empty if only adapting finds out
}

// A check is how a rule looks at tools: one of these.
type check struct {
	schema   func(v *view, n *node)                // each schema in an input schema
	document func(v *view, d *document)            // an input schema as a whole
	text     func(v *view, text string)            // each description, of the tool and in its input schema
	tool     func(v *view, t *toolpost.Tool)       // the rest of a definition
	list     func(v *view, tools []*toolpost.Tool) // all tools together
}

// Demanded reports whether d has the requirement.
func (r *Rule) Demanded(d *Dialect) bool { return r.when == nil || r.when(d) }

// ID returns the id of the rule's findings under d.
func (r *Rule) ID(d *Dialect) string {
	if r.All {
		return "all/" + r.Name
	}
	return d.ID + "/" + r.Name
}

// Sources returns the evidence that d has for the rule, its own first.
func (r *Rule) Sources(d *Dialect) (all []Source) {
	for _, s := range d.form.Sources {
		if slices.Contains(s.Rules, r.Name) {
			s.Dialect = origin(d, &s).ID
			all = append(all, s)
		}
	}
	return all
}

// origin returns the dialect that s was written for: d, or one that it extends.
func origin(d *Dialect, s *Source) *Dialect {
	parent, err := Find(d.form.Extends)
	if err != nil {
		return d
	}
	inherited := slices.ContainsFunc(parent.form.Sources, func(p Source) bool {
		p.Rules = s.Rules // rules of which d has its own are left out
		return reflect.DeepEqual(p, *s)
	})
	if !inherited {
		return d
	}
	return origin(parent, s)
}

// EffectFor returns the worst effect in the sources of d for the rule.
func (r *Rule) EffectFor(d *Dialect) Effect {
	worst := len(severities)
	for _, s := range d.form.Sources {
		if n := slices.Index(severities, s.Effect); n >= 0 && n < worst && slices.Contains(s.Rules, r.Name) {
			worst = n
		}
	}
	if worst == len(severities) {
		return r.Effect
	}
	return severities[worst]
}
