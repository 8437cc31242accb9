package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// maxMerging is how many alternatives inside alternatives are merged.
const maxMerging = 3

// flatten writes alternatives as one schema that takes all of them.
func flatten(l *lowering, f *form.Form, at place) (*node, codec) {
	if l.merging > maxMerging {
		l.reshape(Checked, f.At, "alternatives inside alternatives are written as a string of JSON")
		return writeText(l, f)
	}
	l.merging++
	defer func() { l.merging-- }()
	l.lose(Widened, f.At, l.first(f.At, "anyOf", "oneOf", "type"), "the alternatives are merged; which members belong together is checked when the tool is called")
	n, c := writeKinds(l, merge(l, f), at)
	if s := togetherSentence(f.Alts); n.typeName() != "" && s != "" {
		n.addSentence(s)
	}
	return n, c
}

// merge returns one form that takes what any of the alternatives takes.
func merge(l *lowering, f *form.Form) *form.Form {
	merged := &form.Form{At: f.At, Kinds: f.Kinds & jsontree.KindNull}
	byKind := map[string][]*form.Form{}
	for _, alt := range f.Alts.Forms {
		for _, name := range typesOf(content(alt).Kinds) {
			byKind[name] = append(byKind[name], content(alt))
			merged.Kinds |= kindsOf(name)
		}
	}
	merged.Object = mergeObjects(l, byKind["object"])
	merged.Array = mergeArrays(byKind["array"])
	mergeScalars(merged, byKind)
	return merged
}

// content follows a reference.
func content(f *form.Form) *form.Form {
	for range 8 {
		if f.Ref == nil {
			break
		}
		f = f.Ref.Form
	}
	return f
}

// mergeScalars keeps enums, and the rules of types that only one alternative has.
func mergeScalars(merged *form.Form, byKind map[string][]*form.Form) {
	enum := &form.Enum{}
	numbers := slices.Concat(byKind["integer"], byKind["number"]) // 1 is a value of both types
	for _, t := range []struct {
		kind  jsontree.Kinds
		forms []*form.Form
	}{
		{jsontree.KindString, byKind["string"]}, {jsontree.KindNumber, numbers}, {jsontree.KindBoolean, byKind["boolean"]},
	} {
		switch {
		case len(t.forms) == 0:
		case allEnums(t.forms, t.kind):
			enum.Kinds |= t.kind & merged.Kinds
			for _, f := range t.forms {
				enum.Values = union(enum.Values, enumOf(f, t.kind))
			}
		case len(t.forms) > 1:
		case t.kind == jsontree.KindString:
			merged.Text = t.forms[0].Text
		case t.kind == jsontree.KindNumber:
			merged.Number = t.forms[0].Number
		}
	}
	if enum.Kinds != 0 {
		merged.Enum = enum
	}
}

// allEnums reports whether each form lists all of its values of a kind.
func allEnums(forms []*form.Form, kind jsontree.Kinds) bool {
	return !slices.ContainsFunc(forms, func(f *form.Form) bool {
		return f.Enum == nil || f.Kinds&kind&^f.Enum.Kinds != 0
	})
}

// union adds the values of b to those of a that are not among them.
func union(a, b []json.RawMessage) []json.RawMessage {
	for _, v := range b {
		if !slices.ContainsFunc(a, func(w json.RawMessage) bool { return equalValues(v, w) }) {
			a = append(a, v)
		}
	}
	return a
}

func mergeArrays(forms []*form.Form) *form.Array {
	if len(forms) == 0 {
		return nil
	}
	merged := &form.Array{MaxItems: -1}
	var items []*form.Form
	for _, f := range forms {
		if f.Array == nil || f.Array.Items == nil {
			return merged
		}
		items = append(append(items, f.Array.Prefix...), f.Array.Items)
	}
	merged.Items = form.AnyOf(items...)
	return merged
}

// mergeObjects returns an object with the properties of all forms. It requires
// what all of them require.
func mergeObjects(l *lowering, forms []*form.Form) *form.Object {
	if len(forms) == 0 {
		return nil
	}
	merged := &form.Object{MaxProperties: -1}
	var names []string
	byName := map[string]*mergedProperty{}
	var others []*form.Form
	for _, f := range forms {
		o := f.Object
		if o == nil {
			o = &form.Object{}
		}
		for _, p := range o.Properties {
			if byName[p.Name] == nil {
				names, byName[p.Name] = append(names, p.Name), &mergedProperty{}
			}
			byName[p.Name].add(p, isTyped(o.Additional))
		}
		others = append(others, o.Additional)
	}
	merged.Additional = mergeAdditional(others)
	typed := slices.DeleteFunc(others, func(f *form.Form) bool { return !isTyped(f) })
	for _, name := range names {
		p := byName[name]
		if p.typed < len(typed) {
			p.forms = append(p.forms, typed...)
		}
		merged.Properties = append(merged.Properties, form.Property{Name: name, Form: anyOf(p.forms), Required: p.required == len(forms)})
	}
	reportOpen(l, forms, len(names))
	return merged
}

// A mergedProperty collects what alternatives declare under one name.
type mergedProperty struct {
	forms           []*form.Form
	required, typed int // of the alternatives: those that require it, those whose further members have a type
}

func (m *mergedProperty) add(p form.Property, typed bool) {
	m.forms = append(m.forms, p.Form)
	if p.Required {
		m.required++
	}
	if typed {
		m.typed++
	}
}

// isTyped reports whether further members are allowed and have a type.
func isTyped(additional *form.Form) bool {
	return additional != nil && additional.Kinds != 0 && !additional.Any()
}

// reportOpen reports the alternatives that take anything as a property that
// only others declare: the merged property has the type that these give it.
func reportOpen(l *lowering, forms []*form.Form, properties int) {
	for _, f := range forms {
		declared, open := 0, f.Object == nil || f.Object.Additional == nil || f.Object.Additional.Any() || f.Keeps("patternProperties")
		if f.Object != nil {
			declared = len(f.Object.Properties)
		}
		if open && declared < properties {
			l.lose(Narrowed, f.At, "additionalProperties", "a property that another alternative declares is written as declared there")
		}
	}
}

// mergeAdditional returns a form for the further members of some objects, of
// which each is nil if its schema does not say.
func mergeAdditional(forms []*form.Form) *form.Form {
	closed := func(f *form.Form) bool { return f != nil && f.Kinds == 0 }
	open := slices.DeleteFunc(slices.Clone(forms), closed)
	said := slices.DeleteFunc(slices.Clone(open), func(f *form.Form) bool { return f == nil })
	switch {
	case len(open) == 0:
		return forms[0]
	case len(said) == 0:
		return nil
	case len(said) < len(open):
		return &form.Form{At: said[0].At, Kinds: jsontree.KindAny}
	}
	return anyOf(said)
}

// anyOf joins forms that may be the same.
func anyOf(forms []*form.Form) *form.Form {
	forms = slices.Compact(slices.Clone(forms))
	if len(forms) == 1 {
		return forms[0]
	}
	return form.AnyOf(forms...)
}

// togetherSentence describes which members go together, "" if that means little
// or is too long.
func togetherSentence(u *form.Union) string {
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
	if len(s) >= maxDescribed {
		return ""
	}
	return "Give together: " + s + "."
}
