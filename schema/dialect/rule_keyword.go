package dialect

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// keywordRules report keywords that no other rule reports.
func keywordRules() []*Rule {
	return []*Rule{
		{
			Name: "draft", Effect: losesSilently, rest: true,
			What:  "The schema declares no draft that the reader refuses, and uses no keyword of a later draft.",
			Why:   "Some validators refuse a schema that declares draft-07, others one that declares 2020-12. None needs the declaration.",
			Fix:   "Leave out $schema. Adapting does this, and uses the keywords of the draft that the reader supports.",
			when:  func(d *Dialect) bool { return d.form.Input.Dialect == "draft-07" || !d.takes("$schema") },
			check: check{schema: draft},
		},
		{
			Name: "boolean-schema", Effect: refusesCall, rest: true,
			What:  "A schema is an object, not true or false.",
			Why:   "The reader refuses true and false, or reads true as a schema of type boolean.",
			Fix:   "Write {} for true. Adapting does this, and leaves out what no value can match.",
			when:  func(d *Dialect) bool { return !d.form.Input.Booleans },
			check: check{schema: booleanSchema},
		},
		{
			Name: "metaschema", Effect: refusesCall, rest: true,
			What:  "Every keyword has a value of the type that the draft requires.",
			Why:   "The reader validates the schema against the metaschema of its draft, and refuses the request or drops the tool.",
			Fix:   "Write the keyword as the draft defines it: prefixItems instead of a list in items, a number for exclusiveMinimum, a list for required. Adapting repairs values with one clear meaning, and leaves out the others.",
			check: check{schema: metaschema},
		},
		{
			Name: "keyword", Effect: refusesCall, rest: true,
			What:  "The schema uses only keywords that the reader supports.",
			Why:   "The reader refuses the keyword, or the model does not see it.",
			Fix:   "State the constraint in the description. Adapting does this, and calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return d.form.Input.Keywords != nil || d.form.Input.Without != nil },
			check: check{schema: keyword},
		},
	}
}

// takes reports whether the dialect's input schemas may have the keyword.
func (d *Dialect) takes(keyword string) bool {
	in := &d.form.Input
	return (in.Keywords == nil || slices.Contains(in.Keywords, keyword)) && !slices.Contains(in.Without, keyword)
}

func draft(v *view, n *node) {
	old := v.form.Input.Dialect == "draft-07"
	for _, k := range n.Members() {
		switch {
		case k.Name == "$schema" && (!v.takes("$schema") || old && !strings.Contains(k.Text, "draft-07")):
			v.report("$schema", "the schema declares %v", k)
		case old && shape.IsLater(k.Name) && v.takes(k.Name):
			v.report(k.Name, "%s came after draft-07", k.Name)
		}
	}
}

func booleanSchema(v *view, n *node) {
	if n.Kind == jsontree.KindBoolean && n.keyword != "additionalProperties" && n.keyword != "additionalItems" {
		v.report("", "the schema is %v", n.Value)
	}
}

func metaschema(v *view, n *node) {
	for _, k := range n.Members() {
		if k.Name == "$schema" && n.parent == nil && !knownDraft(k) {
			v.report("$schema", "%v is not a known draft", k)
		}
		if k.Name == "pattern" && k.Kind == jsontree.KindString && !new(lower.Rules).PatternFits(k.Text) {
			v.report("pattern", "%v is not a valid regular expression", k)
		}
		s := shape.Of(k.Name)
		if s != 0 && !fits(s, k, v.form.Input.Dialect) {
			v.report(k.Name, "%s is %v; it must be %s", k.Name, k, wants[s])
		}
	}
}

func knownDraft(k *jsontree.Value) bool {
	return strings.Contains(k.Text, "//json-schema.org/")
}

func keyword(v *view, n *node) {
	for _, k := range n.Members() {
		if !v.takes(k.Name) {
			v.report(k.Name, "the keyword %q is not supported", clip(k.Name, 60))
		}
	}
}
