package form

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// maxPairs is how many alternatives are compared each with each.
const maxPairs = 64

// disjoint reports whether no value fits two of the alternatives; false if that
// is unknown.
func disjoint(list []*Form) bool {
	if len(list) > maxPairs {
		return tagOf(list) != "" && !slices.ContainsFunc(list, func(f *Form) bool { return f.Kinds != jsontree.KindObject })
	}
	for i, f := range list {
		for _, g := range list[:i] {
			if !areDisjoint(f, g) {
				return false
			}
		}
	}
	return true
}

// areDisjoint reports whether no value matches both a and b, by their types, lists of
// values, and tags.
func areDisjoint(a, b *Form) bool {
	a, b = target(a), target(b)
	both := a.Kinds & b.Kinds
	if a.Enum != nil && b.Enum != nil && !common(a.Enum, b.Enum) {
		both &^= a.Enum.Kinds & b.Enum.Kinds
	}
	if both&jsontree.KindObject != 0 && tagOf([]*Form{a, b}) != "" {
		both &^= jsontree.KindObject
	}
	return both == 0
}

// target returns the form that f refers to, if it says nothing itself.
func target(f *Form) *Form {
	for range shape.MaxRefs {
		if f.Ref == nil || f.Ref.Form == nil || !f.onlyRefers() {
			break
		}
		c := *f.Ref.Form
		c.Kinds &= f.Kinds
		f = &c
	}
	return f
}

// common reports whether two enums share a value.
func common(a, b *Enum) bool {
	in := map[string]bool{}
	for _, v := range a.Values {
		in[valueKey(v)] = true
	}
	return slices.ContainsFunc(b.Values, func(v json.RawMessage) bool { return in[valueKey(v)] })
}

// tagOf returns the required property that has a single value of its own in
// each of the alternatives that are objects, "" if there is none, or only one
// such alternative.
func tagOf(list []*Form) string {
	var objects []*Object
	for _, f := range list {
		if f.Kinds&jsontree.KindObject == 0 {
			continue
		}
		if f = target(f); f.Object == nil {
			return ""
		}
		objects = append(objects, f.Object)
	}
	if len(objects) < 2 {
		return ""
	}
	for _, p := range objects[0].Properties {
		if isTag(objects, p.Name) {
			return p.Name
		}
	}
	return ""
}

// isTag reports whether a property has a single value of its own in each
// object.
func isTag(objects []*Object, name string) bool {
	seen := make(map[string]bool, len(objects))
	for _, o := range objects {
		i := slices.IndexFunc(o.Properties, func(p Property) bool { return p.Name == name && p.Required })
		if i < 0 {
			return false
		}
		f := target(o.Properties[i].Form)
		if f.Enum == nil || f.Kinds != f.Enum.Kinds || len(f.Enum.Values) != 1 {
			return false
		}
		key := valueKey(f.Enum.Values[0])
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
