package dialect

import (
	"strings"

	"github.com/toolpost/toolpost"
)

func outputRules() []*Rule {
	return []*Rule{{
		Name: "output-schema", Effect: losesSilently, rest: true,
		What: "The reader accepts the output schema.",
		Why:  "Clients validate results against it with their own validators. If they cannot read it, every call fails, or all tools of the server are lost.",
		Fix:  "Declare none, or use plain objects without $schema. Adapting rewrites the schema if results still match it, and otherwise removes it.",
		when: func(d *Dialect) bool {
			return d.form.Output.Drop || d.form.Output.Object || !isUnrestricted(&d.form.Output.Rules)
		},
		check: check{tool: outputSchema},
	}}
}

func outputSchema(v *view, t *toolpost.Tool) {
	if t.Output == nil {
		return
	}
	if v.form.Output.Drop {
		v.add("/outputSchema", "", "the tool has an output schema; the reader accepts none")
		return
	}
	d := inspect(t.Output.Raw())
	if v.form.Output.Object && d.root != nil {
		v.objectType("/outputSchema", d.root, false)
	}
	if v.output == nil {
		return
	}
	inner := &view{linter: v.output, subject: t, base: "/outputSchema", collect: true}
	inner.schema(d, false)
	for _, f := range inner.found {
		_, rule, _ := strings.Cut(f.Rule, "/")
		v.reported = nil // each is another place
		v.add(f.Pointer, f.Keyword, "%s (%s)", f.Message, rule)
	}
}
