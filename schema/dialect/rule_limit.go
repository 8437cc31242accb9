package dialect

import "github.com/toolpost/toolpost/schema/internal/lower"

// limitRules are about the size of a schema. A schema that is larger than
// Toolpost reads is reported here too, by every dialect.
func limitRules() []*Rule {
	return []*Rule{
		{
			Name: "depth", Effect: refusesCall,
			What:  "Objects and arrays are not nested too deeply.",
			Why:   "The reader refuses deeper schemas, and models make mistakes in them.",
			Fix:   "Use fewer levels. From the last level on, adapting asks for a string that contains JSON.",
			check: check{document: depth},
		},
		{
			Name: "size", Effect: refusesCall,
			What:  "A schema is not too large.",
			Why:   "The reader refuses a schema with too many properties, values or characters. Also, every request of the model pays for them.",
			Fix:   "Use fewer parameters, or a string where there are hundreds of choices. Adapting moves long lists into descriptions; a tool that is still too large is withheld.",
			check: check{document: size},
		},
	}
}

func depth(v *view, d *document) {
	switch limit := v.form.Input.Limits.Depth; {
	case d.over != "":
		if d.tooDeep {
			v.report("", "%s", d.over)
		}
	case limit > 0:
		if levels := lower.CountsOf(d.root.Raw).Depth; levels > limit {
			v.report("", "objects and arrays are nested %d levels deep; the limit is %d", levels, limit)
		}
	}
}

func size(v *view, d *document) {
	if d.over != "" {
		if !d.tooDeep {
			v.report("", "%s", d.over)
		}
		return
	}
	limits := v.form.Input.Limits
	if limits.LongEnum > 0 {
		longEnums(v, d)
	}
	if limits.Properties+limits.EnumValues+limits.Runes+limits.Bytes == 0 {
		return
	}
	counts := lower.CountsOf(d.root.Raw)
	for _, l := range []struct {
		n, most int
		what    string
	}{
		{counts.Properties, limits.Properties, "properties"},
		{counts.EnumValues, limits.EnumValues, "values of enums"},
		{counts.Runes, limits.Runes, "characters in names and values"},
		{counts.Bytes, limits.Bytes, "bytes"},
	} {
		if l.most > 0 && l.n > l.most {
			v.report("", "there are %d %s; the limit is %d", l.n, l.what, l.most)
		}
	}
}

func longEnums(v *view, d *document) {
	limits := &v.form.Input.Limits
	for _, n := range d.nodes {
		list := n.Get("enum")
		if list == nil {
			continue
		}
		if runes := limits.OverLong(list.Raw); runes > 0 {
			v.add(v.base+n.pointer(), "enum", "the %d values have %d characters; the limit is %d", len(list.Items()), runes, limits.LongEnumRunes)
		}
	}
}
