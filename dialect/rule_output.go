package dialect

import (
	"strings"

	"github.com/toolpost/toolpost"
)

func outputRules() []*Rule {
	return []*Rule{{
		Name: "output-schema", Effect: LosesSilently, rest: true,
		What: "An output schema is one that the reader takes.",
		Why:  "Clients check results against it with validators of their own. One that they cannot read makes every call fail, or costs all tools of the server.",
		Fix:  "Declare none, or keep to plain objects without $schema. Adapting rewrites the schema where results still fit it, and else leaves it out.",
		when: func(d *Dialect) bool {
			return d.Output.Drop || d.Output.Object || !unruled(&d.Output.Rules)
		},
		check: eachTool(outputSchema),
	}}
}

func outputSchema(v *view, t *toolpost.Tool) {
	if t.Output == nil {
		return
	}
	if v.Output.Drop {
		v.tell("/outputSchema", "", "there is an output schema, and the reader takes none")
		return
	}
	d := inspect(t.Output.Raw())
	if v.Output.Object && d.root != nil {
		v.objectType("/outputSchema", d.root, false)
	}
	if v.output == nil {
		return
	}
	inner := &view{linter: v.output, name: t.Name, base: "/outputSchema", telling: true}
	inner.schema(d, false)
	for _, f := range inner.found {
		_, rule, _ := strings.Cut(f.Rule, "/")
		v.told = nil // each is another place
		v.tell(f.Pointer, f.Keyword, "%s (%s)", f.Message, rule)
	}
}
