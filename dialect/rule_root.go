package dialect

func rootRules() []*Rule {
	return []*Rule{
		{
			Name: "root-object", Effect: RefusesCall, rest: true,
			What:  `The root of an input schema is of "type": "object", and of no other type.`,
			Why:   "Arguments are an object. A root that says anything else is refused, with the whole request.",
			Fix:   `Write "type": "object" at the root. Adapting adds it, and wraps what is no object in a property.`,
			when:  func(d *Dialect) bool { return d.Input.Root.Object },
			check: eachSchema(rootType),
		},
		{
			Name: "root-union", Effect: RefusesCall,
			What:  "The root of an input schema has no anyOf, oneOf, allOf, not, enum or const.",
			Why:   "The model's API refuses the whole request, so that no tool works, or the client skips the tool.",
			Fix:   "List all properties together, and say in the description which go together. Adapting does so, and still checks the original schema.",
			when:  func(d *Dialect) bool { return d.Input.Root.NoUnion },
			check: eachSchema(rootUnion),
		},
		{
			Name: "root-properties", Effect: RefusesCall,
			What:  "The root of an input schema has properties, even if there are none.",
			Why:   "The model's API refuses a tool without the keyword: object schema missing properties.",
			Fix:   `Write "properties": {}. Adapting does so.`,
			when:  func(d *Dialect) bool { return d.Input.Root.Properties },
			check: eachSchema(rootProperties),
		},
		{
			Name: "root-empty", Effect: RefusesCall,
			What:  "A tool without arguments has no schema for them.",
			Why:   "The model's API refuses an object that has no properties.",
			Fix:   "Nothing, in MCP: the schema has to be there. Adapting leaves it out where the request is made.",
			when:  func(d *Dialect) bool { return d.Input.Root.OmitEmpty },
			check: eachSchema(rootEmpty),
		},
	}
}

func rootUnion(v *view, n *node) {
	if n.parent != nil {
		return
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const"} {
		if n.get(keyword) != nil {
			v.report(keyword, "%s stands at the root", keyword)
		}
	}
}

func rootProperties(v *view, n *node) {
	if n.parent == nil && n.get("properties") == nil {
		v.report("properties", "the root has no properties")
	}
}

func rootEmpty(v *view, n *node) {
	if n.parent == nil && len(n.get("properties").members()) == 0 {
		v.report("properties", "the tool has no arguments")
	}
}
