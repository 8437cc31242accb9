package dialect

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// unionRules are about schemas that leave a choice.
func unionRules() []*Rule {
	return []*Rule{
		{
			Name: "no-union", Effect: refusesCall,
			What:  "A schema has no alternatives: no anyOf, no oneOf, and no list of several types.",
			Why:   "The reader cannot handle alternatives. Depending on the client, it crashes, drops the tool, or hides them from the model.",
			Fix:   `Accept a number or a string as a string, and convert it in the tool. Adapting does this: "5" reaches the tool as 5 where the original schema accepts a number.`,
			when:  func(d *Dialect) bool { return d.form.Input.Union.None },
			check: check{schema: noUnion},
		},
		{
			Name: "type-list", Effect: refusesCall, rest: true,
			What:  "The keyword type is one name, not a list.",
			Why:   `The reader does not understand "type": ["string", "null"], or uses only the first type.`,
			Fix:   "Use anyOf, or nullable, or make the property optional instead of nullable. Adapting writes the form that the reader supports.",
			when:  func(d *Dialect) bool { return d.form.Input.Union.NoList },
			check: check{schema: typeList},
		},
		{
			Name: "one-of", Effect: refusesCall, rest: true,
			What:  "Alternatives are written as anyOf, not as oneOf.",
			Why:   "The reader does not support oneOf: it refuses the request, or the model does not see the alternatives.",
			Fix:   "Use anyOf. Adapting does this even if a value may match several alternatives; calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return !d.form.Input.Union.OneOf },
			check: check{schema: oneOf},
		},
		{
			Name: "union-siblings", Effect: refusesCall, rest: true,
			What:  "The keywords beside anyOf are those that the reader accepts there.",
			Why:   "The reader refuses a type beside anyOf, or ignores one of the two.",
			Fix:   "Move the keywords into each alternative. Adapting does this.",
			when:  func(d *Dialect) bool { return d.form.Input.Union.Siblings != nil },
			check: check{schema: unionSiblings},
		},
		{
			Name: "first-key", Effect: refusesCall,
			What:  "Objects in one anyOf begin with different properties, or with one property whose value distinguishes them.",
			Why:   "The reader selects the alternative by the first property, and refuses alternatives that begin with the same one.",
			Fix:   "Put the property that distinguishes the alternatives first. Adapting reorders properties, or merges the alternatives.",
			when:  func(d *Dialect) bool { return d.form.Input.Union.FirstKey },
			check: check{schema: firstKey},
		},
	}
}

func noUnion(v *view, n *node) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if n.Get(keyword) != nil {
			v.report(keyword, "the schema has %s", keyword)
		}
	}
	if k := n.Get("type"); k != nil {
		several := slices.DeleteFunc(slices.Clone(k.Items()), func(t *jsontree.Value) bool { return t.IsText("null") })
		if len(several) > 1 {
			v.report("type", "type lists several types: %v", k)
		}
	}
}

func typeList(v *view, n *node) {
	if k := n.Get("type"); k != nil && k.Kind == jsontree.KindArray {
		v.report("type", "type is a list: %v", k)
	}
}

func oneOf(v *view, n *node) {
	if n.Get("oneOf") != nil {
		v.report("oneOf", "oneOf is not supported")
	}
}

func unionSiblings(v *view, n *node) {
	if n.Get("anyOf") != nil {
		v.reportSiblings(n, "anyOf", v.form.Input.Union.Siblings)
	}
}

// reportSiblings reports the keywords beside one that do not belong there.
func (v *view) reportSiblings(n *node, keyword string, allowed []string) {
	for _, k := range n.Members() {
		if k.Name != keyword && !slices.Contains(allowed, k.Name) {
			v.report(k.Name, "%s is beside %s", clip(k.Name, 60), keyword)
		}
	}
}

func firstKey(v *view, n *node) {
	begun := map[string]map[string]bool{} // by the first property, the values that distinguish it; "" is any
	for _, kid := range n.kids {
		properties := kid.follow().Get("properties").Members()
		if kid.keyword != "anyOf" || len(properties) == 0 {
			continue
		}
		first, tag := properties[0], ""
		if only := single(first); only != nil {
			tag = jsontree.Key(only)
		}
		others := begun[first.Name]
		switch {
		case others == nil:
			begun[first.Name] = map[string]bool{tag: true}
		case tag == "" || others[""] || others[tag]:
			v.report("anyOf", "more than one alternative begins with %q", clip(first.Name, 60))
			return
		default:
			others[tag] = true
		}
	}
}

// single returns the only scalar that a schema takes, nil if it takes others.
func single(s *jsontree.Value) *jsontree.Value {
	k := s.Get("const")
	if list := s.Get("enum").Items(); len(list) == 1 {
		k = list[0]
	}
	if k == nil || k.Kind == jsontree.KindObject || k.Kind == jsontree.KindArray {
		return nil
	}
	return k
}
