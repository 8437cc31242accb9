package dialect

func arrayRules() []*Rule {
	return []*Rule{
		{
			Name: "tuple", Effect: RefusesCall,
			What:  "An array has one schema for all its items, not one for each place.",
			Why:   "The reader does not know tuples: it refuses the request, or the model sees nothing of the items.",
			Fix:   "Take an object with a property for each place. Adapting does so, and gives the tool the array.",
			when:  func(d *Dialect) bool { return d.Input.Array.Tuples == "object" },
			check: eachSchema(tuple),
		},
		{
			Name: "array-items", Effect: RefusesCall, rest: true,
			What:  "Every array says what its items are, by a schema.",
			Why:   "The reader refuses an array without items, with the whole request.",
			Fix:   "Write items. Adapting writes a schema that takes what the original takes.",
			when:  func(d *Dialect) bool { return d.Input.Array.Items },
			check: eachSchema(arrayItems),
		},
	}
}

func tuple(v *view, n *node) {
	if n.get("prefixItems") != nil {
		v.report("prefixItems", "the items are a tuple")
	}
	if k := n.get("items"); k != nil && k.kind == '[' {
		v.report("items", "the items are a tuple")
	}
}

func arrayItems(v *view, n *node) {
	if !n.array() {
		return
	}
	switch items := n.get("items"); {
	case n.get("prefixItems") != nil || items != nil && items.kind == '[':
	case items == nil:
		v.report("items", "the array does not say what its items are")
	case items.kind != '{':
		v.report("items", "items is %v", items)
	case v.Input.Array.Typed && !typed(items):
		v.report("items", "the items have no type")
	}
}

func typed(s *value) bool {
	return s.get("type") != nil || s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("$ref") != nil || s.get("enum") != nil
}
