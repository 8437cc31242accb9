package dialect

func rootRules() []*Rule {
	return []*Rule{
		{
			Name: "root-object", Effect: refusesCall, rest: true,
			What:  `The root of an input schema has "type": "object" and no other type.`,
			Why:   "Arguments are an object. A root with any other type makes the reader refuse the whole request.",
			Fix:   `Write "type": "object" at the root. Adapting adds it, and wraps alternatives that are not objects in a property.`,
			when:  func(d *Dialect) bool { return d.form.Input.Root.Object },
			check: check{schema: rootType},
		},
		{
			Name: "root-union", Effect: refusesCall,
			What:  "The root of an input schema has no anyOf, oneOf, allOf, not, enum or const.",
			Why:   "The model's API refuses the whole request, so no tool works, or the client skips the tool.",
			Fix:   "List all properties together, and state in the description which belong together. Adapting does this, and calls are still validated against the original schema.",
			when:  func(d *Dialect) bool { return d.form.Input.Root.NoUnion },
			check: check{schema: rootUnion},
		},
		{
			Name: "root-properties", Effect: refusesCall,
			What:  "The root of an input schema has the keyword properties, even if it is empty.",
			Why:   "The model's API refuses a tool without the keyword: object schema missing properties.",
			Fix:   `Write "properties": {}. Adapting does this.`,
			when:  func(d *Dialect) bool { return d.form.Input.Root.Properties },
			check: check{schema: rootProperties},
		},
		{
			Name: "root-empty", Effect: refusesCall,
			What:  "A tool without arguments has no input schema.",
			Why:   "The model's API refuses an object that has no properties.",
			Fix:   "Nothing: MCP requires the schema. Adapting leaves it out of the request to the model.",
			when:  func(d *Dialect) bool { return d.form.Input.Root.OmitEmpty },
			check: check{schema: rootEmpty},
		},
	}
}

func rootUnion(v *view, n *node) {
	if n.parent != nil {
		return
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const"} {
		if n.Get(keyword) != nil {
			v.report(keyword, "the root has %s", keyword)
		}
	}
}

func rootProperties(v *view, n *node) {
	if n.parent == nil && n.Get("properties") == nil {
		v.report("properties", "the root has no properties")
	}
}

func rootEmpty(v *view, n *node) {
	if n.parent == nil && len(n.Get("properties").Members()) == 0 {
		v.report("properties", "the tool has no arguments")
	}
}
