package dialect

import (
	"errors"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema"
)

// poisonRules are about single tools that cost many clients all tools of the
// server: they read the whole list strictly, and forget it at the first fault.
func poisonRules() []*Rule {
	return []*Rule{
		{
			Name: "poison-root-type", All: true, Effect: advice,
			What:  `The root of an input schema has "type": "object".`,
			Why:   "Many clients parse the whole list of tools strictly. Because of one tool without this type they show no tool of the server, often without a message.",
			Fix:   `Write "type": "object" at the root. Adapting adds it if the schema accepts an object. A tool whose root accepts no object, such as an array or a string, is withheld.`,
			check: check{schema: rootType},
		},
		{
			Name: "poison-null", All: true, Effect: advice,
			What:  "At the root, properties is an object and required is a list of names, or they are left out.",
			Why:   "Generators write null for an empty list or map. Strict clients then lose all tools of the server.",
			Fix:   "Leave out a keyword that has no content. Adapting does this.",
			check: check{schema: rootNull},
		},
		{
			Name: "poison-boolean", All: true, Effect: advice,
			What:  "The schema of a parameter is an object, not true or false.",
			Why:   "true is a valid schema, and Go's MCP SDK writes it for every field of type any. Clients that expect an object there lose all tools of the server.",
			Fix:   "Write {} for true, and leave out a property whose schema is false. Adapting does this.",
			check: check{schema: rootBoolean},
		},
		{
			Name: "poison-output", All: true, Effect: advice,
			What:  `An output schema has "type": "object" at its root.`,
			Why:   "Strict clients lose all tools of the server because of an output schema that is a list, a union or has no type.",
			Fix:   "Return an object, or declare no output schema. Adapting removes such an output schema.",
			check: check{tool: outputType},
		},
		{
			Name: "poison-output-schema", All: true, Effect: advice,
			What:  "Validators can compile the output schema.",
			Why:   "Clients with the official TypeScript SDK compile every output schema when they list the tools, with Ajv. One that it does not compile takes all tools from the client, those of other servers behind a gateway too: a reference to nowhere, a pattern of another language such as (?i), nullable without a type, an empty enum, a keyword with a wrong value.",
			Fix:   "Write what the finding names in JSON Schema, with patterns that JavaScript accepts with the flag u. Adapting repairs what has a clear meaning, and otherwise removes the output schema.",
			when:  func(d *Dialect) bool { return d.form.Output.Object },
			check: check{tool: outputCompiles},
		},
	}
}

func rootType(v *view, n *node) {
	if n.parent == nil {
		v.objectType(v.base, n, v.form.Input.Dialect == "openapi")
	}
}

func outputType(v *view, t *toolpost.Tool) {
	if t.Output == nil {
		return
	}
	if d := inspect(t.Output.Raw()); d.root != nil {
		v.objectType("/outputSchema", d.root, false)
	}
}

func outputCompiles(v *view, t *toolpost.Tool) {
	if t.Output == nil || !t.Output.IsObject() { // poison-output reports the type
		return
	}
	var strict *schema.StrictError
	if errors.As(t.Output.StrictOutput(), &strict) {
		at := max(strings.LastIndexByte(strict.Pointer, '/'), 0)
		v.add("/outputSchema"+strict.Pointer[:at], strings.TrimPrefix(strict.Pointer[at:], "/"), "the schema takes all tools from clients that compile it: %s", clip(strict.Problem, 200))
	}
}

// objectType reports a root that is not of type object.
func (v *view) objectType(pointer string, root *node, capitals bool) {
	switch k := root.Get("type"); {
	case k == nil:
		v.add(pointer, "type", "the root has no type")
	case !k.IsText("object") && !(capitals && k.IsText("OBJECT")):
		v.add(pointer, "type", "the type of the root is %v", k)
	}
}

func rootNull(v *view, n *node) {
	if n.parent != nil {
		return
	}
	if k := n.Get("properties"); k != nil && k.Kind != jsontree.KindObject {
		v.report("properties", "properties is %v", k)
	}
	notText := func(v *jsontree.Value) bool { return v.Kind != jsontree.KindString }
	if k := n.Get("required"); k != nil && (k.Kind != jsontree.KindArray || slices.ContainsFunc(k.Kids, notText)) {
		v.report("required", "required is %v", k)
	}
}

func rootBoolean(v *view, n *node) {
	switch {
	case n.parent == nil:
		for _, p := range n.Get("properties").Members() {
			if !shape.IsSchema(p) {
				v.report("properties", "the schema of %q is %v", clip(p.Name, 60), p)
			}
		}
	case n.parent.parent == nil && n.keyword == "properties" && n.Kind == jsontree.KindBoolean:
		v.report("", "the schema of %q is %v", clip(n.Name, 60), n.Value)
	}
}
