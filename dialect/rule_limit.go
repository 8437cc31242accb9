package dialect

import (
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// limitRules are about the size of a schema. A schema that is larger than
// Toolpost reads is reported here too, by every dialect.
func limitRules() []*Rule {
	return []*Rule{
		{
			Name: "depth", Effect: RefusesCall,
			What:  "Objects and arrays are not nested too deeply.",
			Why:   "The reader refuses deeper schemas, and models make mistakes in them.",
			Fix:   "Use fewer levels. From the last level on, adapting asks for a string that contains JSON.",
			check: check{document: depth},
		},
		{
			Name: "size", Effect: RefusesCall,
			What:  "A schema is not too large.",
			Why:   "The reader refuses a schema with too many properties, values or characters. Also, every request of the model pays for them.",
			Fix:   "Use fewer parameters, or a string where there are hundreds of choices. Adapting moves long lists into descriptions; a tool that is still too large is withheld.",
			check: check{document: size},
		},
	}
}

func depth(v *view, d *document) {
	switch limit := v.Input.Limits.Depth; {
	case d.over != "":
		if d.tooDeep {
			v.report("", "%s", d.over)
		}
	case limit > 0:
		if levels := d.depth(d.root, make([]int, len(d.nodes))); levels > limit {
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
	limits := v.Input.Limits
	if limits.Properties+limits.EnumValues+limits.LongEnum+limits.Runes == 0 {
		return
	}
	properties, values, runes := 0, 0, 0
	for _, n := range d.nodes {
		list := n.Get("enum").Items()
		own := runesOf(list...)
		if limits.LongEnum > 0 && len(list) > limits.LongEnum && own > limits.LongEnumRunes {
			v.add(v.base+n.pointer(), "enum", "the %d values have %d characters; the limit is %d", len(list), own, limits.LongEnumRunes)
		}
		properties += len(n.Get("properties").Members())
		values += len(list)
		runes += own + n.named()
	}
	for _, l := range []struct {
		n, most int
		what    string
	}{
		{properties, limits.Properties, "properties"},
		{values, limits.EnumValues, "values of enums"},
		{runes, limits.Runes, "characters in names and values"},
	} {
		if l.most > 0 && l.n > l.most {
			v.report("", "there are %d %s; the limit is %d", l.n, l.what, l.most)
		}
	}
}

// named returns how many characters there are in the names of properties and
// definitions, and in const.
func (n *node) named() int {
	runes := 0
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		for _, v := range n.Get(keyword).Members() {
			runes += utf8.RuneCountInString(v.Name)
		}
	}
	if k := n.Get("const"); k != nil {
		runes += runesOf(k)
	}
	return runes
}

// runesOf returns how many characters there are in values.
func runesOf(values ...*jsontree.Value) int {
	n := 0
	for _, v := range values {
		n += runesOf(v.Kids...)
		switch {
		case v.Kind == jsontree.KindString:
			n += utf8.RuneCountInString(v.Text)
		case v.Kind&jsontree.KindNumber != 0:
			n += len(v.Raw)
		}
	}
	return n
}
