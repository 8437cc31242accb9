package dialect

import "slices"

func enumRules() []*Rule {
	return []*Rule{
		{
			Name: "enum-type", Effect: RefusesCall, rest: true,
			What:  "The values of an enum have types that the reader accepts there.",
			Why:   "The reader refuses other values, or turns numbers into strings, which the tool then refuses.",
			Fix:   "Use strings. Adapting writes the values as strings; the tool still gets the original values.",
			when:  func(d *Dialect) bool { e := d.Input.Enum; return e.Strings || e.Numbers || e.Scalars },
			check: eachSchema(enumType),
		},
		{
			Name: "enum-empty", Effect: RefusesCall,
			What:  "An enum has at least one value, and no value is an empty string.",
			Why:   "The reader refuses the whole request because of an empty enum value.",
			Fix:   `Give the value a name, such as "none". Adapting writes "empty"; the tool still gets the empty string.`,
			when:  func(d *Dialect) bool { return d.Input.Enum.NoEmpty },
			check: eachSchema(enumEmpty),
		},
		{
			Name: "const", Effect: RefusesCall,
			What:  "A single value is written as an enum, not as const.",
			Why:   "The reader does not support const: it refuses the request, or the model does not see the value.",
			Fix:   "Write an enum with one value. Adapting does this.",
			when:  func(d *Dialect) bool { return d.Input.Enum.NoConst },
			check: eachSchema(constant),
		},
	}
}

func enumType(v *view, n *node) {
	e := v.Input.Enum
	refused := func(k *value) bool {
		switch k.kind {
		case '"':
			return false
		case '0':
			return e.Strings
		case '{', '[':
			return true
		}
		return e.Strings || e.Numbers
	}
	if i := slices.IndexFunc(n.get("enum").items(), refused); i >= 0 {
		v.report("enum", "a value is %v", n.get("enum").kids[i])
	}
	if k := n.get("const"); k != nil && (k.kind == '{' || k.kind == '[') {
		v.report("const", "the value is %v", k)
	}
}

func enumEmpty(v *view, n *node) {
	k := n.get("enum")
	switch {
	case k == nil || k.kind != '[':
	case len(k.kids) == 0:
		v.report("enum", "the enum has no values")
	case slices.ContainsFunc(k.kids, func(e *value) bool { return e.is("") }):
		v.report("enum", "a value is an empty string")
	}
}

func constant(v *view, n *node) {
	if k := n.get("const"); k != nil {
		v.report("const", "const is %v", k)
	}
}
