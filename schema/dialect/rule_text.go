package dialect

import (
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// textRules are about formats, expressions and counts.
func textRules() []*Rule {
	return []*Rule{
		{
			Name: "format", Effect: refusesCall,
			What:  "Every format is one that the reader supports for the type.",
			Why:   "The reader refuses the whole request because of a format that it does not support.",
			Fix:   "State the format in the description. Adapting does this, and calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return d.form.Input.Formats != nil },
			check: check{schema: format},
		},
		{
			Name: "pattern", Effect: refusesCall,
			What:  "Regular expressions use only syntax that the reader's engine supports.",
			Why:   "The reader compiles the expression to a grammar, and refuses what it cannot translate, such as lookahead.",
			Fix:   "Write a simpler expression. Adapting moves it into the description, and calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return d.form.Input.Pattern != "" },
			check: check{schema: pattern},
		},
		{
			Name: "min-items", Effect: refusesCall,
			What:  "minItems is small.",
			Why:   "The reader compiles the schema to a grammar, and refuses larger counts.",
			Fix:   "State the count in the description. Adapting does this, and calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return d.form.Input.MinItems != nil },
			check: check{schema: minItems},
		},
	}
}

func format(v *view, n *node) {
	k := n.Get("format")
	if k == nil {
		return
	}
	kinds := n.kinds
	if kinds == 0 {
		kinds = jsontree.KindAny
	}
	for name, formats := range v.form.Input.Formats {
		if kinds&kindOf(name) != 0 && slices.Contains(formats, k.Text) {
			return
		}
	}
	v.report("format", "the format is %v", k)
}

func pattern(v *view, n *node) {
	if k := n.Get("pattern"); k != nil && !v.form.Input.PatternFits(k.Text) {
		v.report("pattern", "the regular expression is %v", k)
	}
}

func minItems(v *view, n *node) {
	k := n.Get("minItems")
	if k == nil {
		return
	}
	if f, err := strconv.ParseFloat(string(k.Raw), 64); err == nil && f > float64(*v.form.Input.MinItems) {
		v.report("minItems", "minItems is %v; the limit is %d", k, *v.form.Input.MinItems)
	}
}
