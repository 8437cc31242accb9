package dialect

import (
	"github.com/toolpost/toolpost/internal/jsontree"
)

func arrayRules() []*Rule {
	return []*Rule{
		{
			Name: "tuple", Effect: refusesCall,
			What:  "An array has one schema for all its items, not one for each position.",
			Why:   "The reader does not support tuples: it refuses the request, or the model does not see the items.",
			Fix:   "Use an object with a property for each position. Adapting does this; the tool still gets the array.",
			when:  func(d *Dialect) bool { return d.form.Input.Array.Tuples == "object" },
			check: check{schema: tuple},
		},
		{
			Name: "array-items", Effect: refusesCall, rest: true,
			What:  "Every array has a schema for its items.",
			Why:   "The reader refuses the whole request because of an array without items.",
			Fix:   "Add items. Adapting adds a schema that accepts what the original accepts.",
			when:  func(d *Dialect) bool { return d.form.Input.Array.Items },
			check: check{schema: arrayItems},
		},
	}
}

func tuple(v *view, n *node) {
	if n.Get("prefixItems") != nil {
		v.report("prefixItems", "the items are a tuple")
	}
	if k := n.Get("items"); k != nil && k.Kind == jsontree.KindArray {
		v.report("items", "the items are a tuple")
	}
}

func arrayItems(v *view, n *node) {
	if !n.array() {
		return
	}
	switch items := n.Get("items"); {
	case n.Get("prefixItems") != nil || items != nil && items.Kind == jsontree.KindArray:
	case items == nil:
		v.report("items", "the array has no schema for its items")
	case items.Kind != jsontree.KindObject:
		v.report("items", "items is %v", items)
	case v.form.Input.Array.Typed && !hasType(items):
		v.report("items", "the items have no type")
	}
}

func hasType(s *jsontree.Value) bool {
	return s.Get("type") != nil || s.Get("anyOf") != nil || s.Get("oneOf") != nil || s.Get("$ref") != nil
}
