package subschema

import "github.com/toolpost/toolpost/internal/jsontree"

// Kinds finds the types of the values that schemas allow.
type Kinds struct {
	// Target returns what the $ref of a schema refers to, nil if nothing.
	Target func(*jsontree.Value) *jsontree.Value

	// RefAlone is set if a reference replaces what stands beside it, as up to
	// draft 7.
	RefAlone bool

	known map[*jsontree.Value]jsontree.Kinds
}

// Of returns the types of the values that fit v, or more.
func (f *Kinds) Of(v *jsontree.Value) jsontree.Kinds {
	if v.Is("false") {
		return 0
	}
	if kinds, ok := f.known[v]; ok {
		return kinds
	}
	if f.known == nil {
		f.known = map[*jsontree.Value]jsontree.Kinds{}
	}
	kinds := jsontree.KindAny
	f.known[v] = kinds // for a schema that refers to itself
	t := f.Target(v)
	if t != nil {
		kinds = f.Of(t)
	}
	if t == nil || !f.RefAlone {
		for _, k := range v.Members() {
			kinds &= f.by(k)
		}
	}
	f.known[v] = kinds
	return kinds
}

// by returns the types that one keyword allows.
func (f *Kinds) by(k *jsontree.Value) jsontree.Kinds {
	kinds := jsontree.KindAny
	switch k.Name {
	case "type":
		return jsontree.KindsNamed(k)
	case "const":
		return k.Kind
	case "allOf":
		for _, kid := range k.Kids {
			kinds &= f.Of(kid)
		}
	case "anyOf", "oneOf":
		kinds = 0
		for _, kid := range k.Kids {
			kinds |= f.Of(kid)
		}
	case "enum":
		kinds = 0
		for _, kid := range k.Kids {
			kinds |= kid.Kind
		}
	}
	return kinds
}
