package approval

import (
	"bytes"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A server may fill in each default that its schema declares, wherever it is declared:
// also in an alternative, of which only the server knows whether it applies. So a missing
// member counts as every default that is declared for it.

// Limits of the defaults that are added to the arguments of a call.
const (
	maxDefaults     = 10_000
	maxDefaultDepth = 32        // of defaults within defaults
	maxSchemasRead  = 1_000_000 // while they are added
)

// withDefaults returns v with a member for each declared default of a missing member.
// One name can then have several members. It returns false if there are too many.
func withDefaults(v *jsontree.Value, schema []byte) (*jsontree.Value, bool) {
	if !bytes.Contains(schema, []byte("default")) && !bytes.Contains(schema, []byte(`\u`)) || len(schema) > shape.MaxBytes {
		return v, true
	}
	root, syntax := jsontree.Parse(schema, shape.MaxLevels)
	if syntax != nil {
		return v, true
	}
	f := &filler{index: shape.NewIndex(root)}
	filled := f.fill(v, []*jsontree.Value{root}, 0)
	return filled, !f.isExhausted()
}

type filler struct {
	index *shape.Index
	added int // defaults
	read  int // schemas
}

func (f *filler) isExhausted() bool { return f.added > maxDefaults || f.read > maxSchemasRead }

// fill returns v, or a copy with more members. The schemas are those of v.
func (f *filler) fill(v *jsontree.Value, schemas []*jsontree.Value, depth int) *jsontree.Value {
	if len(schemas) == 0 || len(v.Kids) == 0 && v.Kind != jsontree.KindObject || depth > maxDefaultDepth || f.isExhausted() {
		return v
	}
	schemas = f.applicable(schemas)
	var kids []*jsontree.Value
	switch v.Kind {
	case jsontree.KindArray:
		for i, kid := range v.Kids {
			kids = append(kids, f.fill(kid, itemSchemas(schemas, i), depth))
		}
	case jsontree.KindObject:
		present := map[string]bool{}
		for _, kid := range v.Kids {
			present[kid.Name] = kid.Kind != jsontree.KindNull
			kids = append(kids, f.fill(kid, memberSchemas(schemas, kid.Name), depth))
		}
		kids = f.missing(kids, schemas, present, depth)
	}
	if slices.Equal(kids, v.Kids) {
		return v
	}
	return &jsontree.Value{Kind: v.Kind, Raw: v.Raw, Start: v.Start, Name: v.Name, Text: v.Text, Kids: kids}
}

// missing appends the defaults of the properties that are not present.
func (f *filler) missing(kids, schemas []*jsontree.Value, present map[string]bool, depth int) []*jsontree.Value {
	for _, s := range schemas {
		for _, p := range s.Get("properties").Members() {
			if present[p.Name] {
				continue
			}
			for _, own := range f.applicable([]*jsontree.Value{p}) {
				if value := own.Get("default"); value != nil && !f.isExhausted() {
					f.added++
					named := *value
					named.Name = p.Name
					kids = append(kids, f.fill(&named, []*jsontree.Value{p}, depth+1))
				}
			}
		}
	}
	return kids
}

// applicable returns the schemas and all that they refer to or are put together of.
func (f *filler) applicable(schemas []*jsontree.Value) []*jsontree.Value {
	var all []*jsontree.Value
	seen := map[*jsontree.Value]bool{}
	for open := slices.Clone(schemas); len(open) > 0; {
		s := open[0]
		open = open[1:]
		if s == nil || seen[s] || s.Kind != jsontree.KindObject || f.isExhausted() {
			continue
		}
		seen[s] = true
		f.read++
		all = append(all, s)
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			open = append(open, s.Get(keyword).Items()...)
		}
		for _, keyword := range []string{"if", "then", "else"} {
			open = append(open, s.Get(keyword))
		}
		for _, keyword := range []string{"dependentSchemas", "dependencies"} {
			open = append(open, s.Get(keyword).Members()...)
		}
		for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if ref := s.Get(keyword); ref != nil && ref.Kind == jsontree.KindString {
				open = append(open, f.index.Find(s, ref.Text))
			}
		}
	}
	return all
}

// memberSchemas returns the schemas of a member. Those of patterns count for each name.
func memberSchemas(schemas []*jsontree.Value, name string) (found []*jsontree.Value) {
	for _, s := range schemas {
		found = append(found, s.Get("properties").Get(name), s.Get("additionalProperties"), s.Get("unevaluatedProperties"))
		found = append(found, s.Get("patternProperties").Members()...)
	}
	return withoutNil(found)
}

func withoutNil(schemas []*jsontree.Value) []*jsontree.Value {
	return slices.DeleteFunc(schemas, func(s *jsontree.Value) bool { return s == nil })
}

func itemSchemas(schemas []*jsontree.Value, i int) (found []*jsontree.Value) {
	for _, s := range schemas {
		for _, keyword := range []string{"items", "prefixItems"} {
			if list := s.Get(keyword).Items(); i < len(list) {
				found = append(found, list[i])
			}
		}
		found = append(found, s.Get("items"), s.Get("additionalItems"), s.Get("unevaluatedItems"))
	}
	return withoutNil(found)
}
