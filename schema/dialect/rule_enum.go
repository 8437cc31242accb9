package dialect

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

func enumRules() []*Rule {
	return []*Rule{
		{
			Name: "enum-type", Effect: refusesCall, rest: true,
			What:  "The values of an enum have types that the reader accepts there.",
			Why:   "The reader refuses other values, or turns numbers into strings, which the tool then refuses.",
			Fix:   "Use strings. Adapting writes the values as strings; the tool still gets the original values.",
			when:  func(d *Dialect) bool { e := d.form.Input.Enum; return e.Strings || e.Numbers || e.Scalars },
			check: check{schema: enumType},
		},
		{
			Name: "enum-empty", Effect: refusesCall,
			What:  "An enum has at least one value, and for some readers no value is an empty string.",
			Why:   "The reader refuses the whole request because of an enum without values, or an empty value.",
			Fix:   `Give the value a name, such as "none". Adapting writes "empty"; the tool still gets the empty string.`,
			when:  func(d *Dialect) bool { return d.form.Input.Enum.NoEmpty || d.form.Input.Enum.Filled },
			check: check{schema: enumEmpty},
		},
		{
			Name: "const", Effect: refusesCall,
			What:  "A single value is written as an enum, not as const.",
			Why:   "The reader does not support const: it refuses the request, or the model does not see the value.",
			Fix:   "Write an enum with one value. Adapting does this.",
			when:  func(d *Dialect) bool { return d.form.Input.Enum.NoConst },
			check: check{schema: constant},
		},
	}
}

func enumType(v *view, n *node) {
	e := v.form.Input.Enum
	refused := func(k *jsontree.Value) bool {
		switch {
		case k.Kind == jsontree.KindString:
			return false
		case k.Kind&jsontree.KindNumber != 0:
			return e.Strings
		case k.Kind&(jsontree.KindObject|jsontree.KindArray) != 0:
			return true
		}
		return e.Strings || e.Numbers
	}
	other := func(k *jsontree.Value) bool { return n.kinds != 0 && jsontree.ExactKind(k.Raw)&n.kinds == 0 }
	list := n.Get("enum").Items()
	if i := slices.IndexFunc(list, refused); i >= 0 {
		v.report("enum", "a value is %v", list[i])
	} else if i := slices.IndexFunc(list, other); i >= 0 {
		v.report("enum", "the value %v does not have the type of the schema", list[i])
	}
	if k := n.Get("const"); k != nil && (k.Kind == jsontree.KindObject || k.Kind == jsontree.KindArray) {
		v.report("const", "the value is %v", k)
	}
}

func enumEmpty(v *view, n *node) {
	k := n.Get("enum")
	switch {
	case k == nil || k.Kind != jsontree.KindArray:
	case len(k.Kids) == 0:
		v.report("enum", "the enum has no values")
	case v.form.Input.Enum.NoEmpty && slices.ContainsFunc(k.Kids, func(e *jsontree.Value) bool { return e.IsText("") }):
		v.report("enum", "a value is an empty string")
	}
}

func constant(v *view, n *node) {
	if k := n.Get("const"); k != nil {
		v.report("const", "const is %v", k)
	}
}
