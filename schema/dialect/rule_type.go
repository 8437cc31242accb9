package dialect

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// typeRules are about what says the type of a value.
func typeRules() []*Rule {
	return []*Rule{
		{
			Name: "null", Effect: refusesCall,
			What:  "null is written in the way that the reader supports, or not at all.",
			Why:   "Schema generators for Go and Python add null to the type of every optional value. The reader refuses it, or misreads the type.",
			Fix:   "Make the property optional instead of nullable. Adapting writes nullable if the reader supports it; otherwise the model leaves out the value.",
			when:  func(d *Dialect) bool { return d.form.Input.Null != "" },
			check: check{schema: null},
		},
		{
			Name: "untyped", Effect: losesSilently,
			What:  "Every schema constrains the value.",
			Why:   "{} accepts any value. The reader refuses it, or the model can write only one type there.",
			Fix:   "Add the type. Adapting asks for a string that contains JSON, and converts it back.",
			when:  func(d *Dialect) bool { return d.form.Input.Untyped != "" },
			check: check{schema: untyped},
		},
		{
			Name: "type-required", Effect: refusesCall, rest: true,
			What:  "Every schema has a type, anyOf or $ref; an enum alone is not enough.",
			Why:   "The reader refuses the whole request because of a schema without a type.",
			Fix:   "Add the type of the values. Adapting infers it from the other keywords.",
			when:  func(d *Dialect) bool { return d.form.Input.TypeRequired },
			check: check{schema: typeRequired},
		},
	}
}

func null(v *view, n *node) {
	keyword := v.form.Input.Null == "keyword"
	if k := n.Get("type"); k.IsText("null") || slices.ContainsFunc(k.Items(), func(t *jsontree.Value) bool { return t.IsText("null") }) {
		if !(keyword && n.onlyNull()) {
			v.report("type", "the type is %v", k)
		}
	}
	if k := n.Get("nullable"); k != nil && k.Is("true") && !keyword {
		v.report("nullable", "null is accepted")
	}
	if slices.ContainsFunc(n.Get("enum").Items(), func(e *jsontree.Value) bool { return e.Kind == jsontree.KindNull }) {
		v.report("enum", "null is among the values")
	}
	if k := n.Get("const"); k != nil && k.Kind == jsontree.KindNull {
		v.report("const", "null is the value")
	}
}

// onlyNull reports whether n takes null alone, outside of alternatives.
func (n *node) onlyNull() bool {
	return n.Get("type").IsText("null") && n.keyword != "anyOf" && n.keyword != "oneOf"
}

func untyped(v *view, n *node) {
	if n.Kind == jsontree.KindObject && n.parent != nil && !n.further() && !slices.ContainsFunc(n.Value.Kids, saysSomething) {
		v.report("type", "the schema accepts any value")
	}
}

// saysSomething reports whether a keyword is about the value.
func saysSomething(k *jsontree.Value) bool {
	return shape.Of(k.Name) != 0 && !shape.Silent(k.Name)
}

// further reports whether n is about the undeclared members: {}
// says nothing more there than true.
func (n *node) further() bool {
	return n.keyword == "additionalProperties" || n.keyword == "unevaluatedProperties"
}

func typeRequired(v *view, n *node) {
	if n.Kind != jsontree.KindObject || n.further() && len(n.Value.Kids) == 0 {
		return
	}
	for _, keyword := range []string{"type", "anyOf", "oneOf", "allOf", "$ref"} {
		if n.Get(keyword) != nil {
			return
		}
	}
	v.report("type", "the schema has no type")
}
