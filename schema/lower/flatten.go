package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// maxMerging is how many alternatives inside alternatives are merged.
const maxMerging = 3

// flatten writes alternatives as one schema that takes all of them.
func flatten(l *lowering, f *schema.Form, at place) (*node, codec) {
	if l.merging > maxMerging {
		l.reshape(Checked, f.At, "alternatives inside alternatives are written as JSON text")
		return writeText(l, f)
	}
	l.merging++
	defer func() { l.merging-- }()
	l.lose(Widened, f.At, l.first(f.At, "anyOf", "oneOf", "type"), "alternatives are merged into one; which members go together is checked when the tool is called")
	n, c := writeKinds(l, merge(f), at)
	if s := togetherSentence(f.Alts); n.typeName() != "" && s != "" && !l.rules.Silent {
		n.tell(s)
	}
	return n, c
}

// merge returns one form that takes what any of the alternatives takes.
func merge(f *schema.Form) *schema.Form {
	merged := &schema.Form{At: f.At, Kinds: f.Kinds & schema.KindNull}
	byKind := map[string][]*schema.Form{}
	for _, alt := range f.Alts.Forms {
		for _, name := range typesOf(content(alt).Kinds) {
			byKind[name] = append(byKind[name], content(alt))
			merged.Kinds |= kindsOf(name)
		}
	}
	merged.Object = mergeObjects(byKind["object"])
	merged.Array = mergeArrays(byKind["array"])
	mergeScalars(merged, byKind)
	return merged
}

// content follows a reference.
func content(f *schema.Form) *schema.Form {
	for range 8 {
		if f.Ref == nil {
			break
		}
		f = f.Ref.Form
	}
	return f
}

// mergeScalars keeps enums, and the rules of types that only one alternative has.
func mergeScalars(merged *schema.Form, byKind map[string][]*schema.Form) {
	enum := &schema.EnumForm{}
	mixed := byKind["integer"] != nil && byKind["number"] != nil
	for _, name := range []string{"string", "integer", "number", "boolean"} {
		forms := byKind[name]
		kind := kindsOf(name)
		switch {
		case len(forms) == 0, name == "integer" && mixed:
		case allEnums(forms, kind):
			enum.Kinds |= kind
			for _, f := range forms {
				enum.Values = union(enum.Values, enumOf(f, kind))
			}
		case len(forms) > 1, name == "boolean", name == "number" && mixed:
		case name == "string":
			merged.Text = forms[0].Text
		default:
			merged.Number = forms[0].Number
		}
	}
	if enum.Kinds != 0 {
		merged.Enum = enum
	}
}

// allEnums says that each form has an enum for values of a kind.
func allEnums(forms []*schema.Form, kind schema.Kinds) bool {
	return !slices.ContainsFunc(forms, func(f *schema.Form) bool { return enumOf(f, kind) == nil })
}

// union adds the values of b to those of a that are not among them.
func union(a, b []json.RawMessage) []json.RawMessage {
	for _, v := range b {
		if !slices.ContainsFunc(a, func(w json.RawMessage) bool { return same(v, w) }) {
			a = append(a, v)
		}
	}
	return a
}

func mergeArrays(forms []*schema.Form) *schema.ArrayForm {
	if len(forms) == 0 {
		return nil
	}
	merged := &schema.ArrayForm{MaxItems: -1}
	var items []*schema.Form
	for _, f := range forms {
		if f.Array == nil || f.Array.Items == nil {
			return merged
		}
		items = append(append(items, f.Array.Prefix...), f.Array.Items)
	}
	merged.Items = schema.AnyOf(items...)
	return merged
}

// mergeObjects returns an object with the properties of all forms; required is
// what all require.
func mergeObjects(forms []*schema.Form) *schema.ObjectForm {
	if len(forms) == 0 {
		return nil
	}
	merged := &schema.ObjectForm{Additional: &schema.Form{}, MaxProperties: -1}
	alternatives := map[string][]*schema.Form{}
	required := map[string]int{}
	for _, f := range forms {
		o := f.Object
		if o == nil {
			o = &schema.ObjectForm{}
		}
		for _, p := range o.Properties {
			if alternatives[p.Name] == nil {
				merged.Properties = append(merged.Properties, schema.Property{Name: p.Name})
			}
			alternatives[p.Name] = append(alternatives[p.Name], p.Form)
			if p.Required {
				required[p.Name]++
			}
		}
		merged.Additional = mergeAdditional(merged.Additional, o.Additional)
	}
	for i := range merged.Properties {
		p := &merged.Properties[i]
		p.Form = anyOf(alternatives[p.Name])
		p.Required = required[p.Name] == len(forms)
	}
	return merged
}

// mergeAdditional joins what two objects say of other members: one that keeps
// them out gives way.
func mergeAdditional(a, b *schema.Form) *schema.Form {
	switch {
	case b == nil && a != nil && a.Kinds == 0:
		return nil
	case b != nil && b.Kinds != 0:
		return b
	}
	return a
}

// anyOf joins forms that may be the same.
func anyOf(forms []*schema.Form) *schema.Form {
	forms = slices.Compact(slices.Clone(forms))
	if len(forms) == 1 {
		return forms[0]
	}
	return schema.AnyOf(forms...)
}

// togetherSentence tells which members go together, "" if that says little or
// is too long.
func togetherSentence(u *schema.Union) string {
	var list []string
	for _, alt := range u.Forms {
		o := content(alt).Object
		if o == nil {
			return ""
		}
		var need []string
		for _, p := range o.Properties {
			if p.Required {
				need = append(need, p.Name)
			}
		}
		if need == nil {
			return ""
		}
		list = append(list, strings.Join(need, " with "))
	}
	s := strings.Join(list, "; or ")
	if len(s) >= maxTold {
		return ""
	}
	return "Give together: " + s + "."
}
