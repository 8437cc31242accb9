package dialect

import (
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
	check check
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

// EffectFor returns the worst effect in the sources of d for the rule.
func (r *Rule) EffectFor(d *Dialect) Effect {
	worst := len(severities)
	for _, s := range d.Sources {
		if n := slices.Index(severities, s.Effect); n >= 0 && n < worst && slices.Contains(s.Rules, r.Name) {
			worst = n
		}
	}
	if worst == len(severities) {
		return r.Effect
	}
	return severities[worst]
}

// A check is how a rule looks at tools: at each schema, at each text, …
type check interface {
	join(l *linter, r *Rule)
}

type (
	eachSchema  func(v *view, n *node)                // the schemas in an input schema, each alone
	wholeSchema func(v *view, d *document)            // an input schema as a whole
	eachText    func(v *view, text string)            // the descriptions, of the tool and in its input schema
	eachTool    func(v *view, t *toolpost.Tool)       // the rest of a definition
	wholeList   func(v *view, tools []*toolpost.Tool) // all tools together
)

// ruled is a check that knows its rule.
type ruled[F any] struct {
	*Rule
	run F
}

func (f eachSchema) join(l *linter, r *Rule)  { l.schemas = append(l.schemas, ruled[eachSchema]{r, f}) }
func (f wholeSchema) join(l *linter, r *Rule) { l.wholes = append(l.wholes, ruled[wholeSchema]{r, f}) }
func (f eachText) join(l *linter, r *Rule)    { l.texts = append(l.texts, ruled[eachText]{r, f}) }
func (f eachTool) join(l *linter, r *Rule)    { l.tools = append(l.tools, ruled[eachTool]{r, f}) }
func (f wholeList) join(l *linter, r *Rule)   { l.lists = append(l.lists, ruled[wholeList]{r, f}) }
