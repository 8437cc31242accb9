package schema

import (
	"iter"
	"net/url"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// proper tells a value of a shape from others, without a look into subschemas.
// Shapes that are not here take anything.
var proper = map[shape.Shape]func(*jsontree.Value) bool{
	shape.Schema:  isSchema,
	shape.Schemas: func(v *jsontree.Value) bool { return len(v.Kids) > 0 && isListOf(v, isSchema) },
	shape.Table:   func(v *jsontree.Value) bool { return isTableOf(v, isSchema) },
	shape.Items:   func(v *jsontree.Value) bool { return isSchema(v) || isListOf(v, isSchema) },
	shape.Dependencies: func(v *jsontree.Value) bool {
		return isTableOf(v, func(v *jsontree.Value) bool { return isSchema(v) || isNames(v) })
	},
	shape.Count:  func(v *jsontree.Value) bool { return v.Kind == KindInteger && v.Raw[0] != '-' && isMeasure(v) },
	shape.Number: isMeasure,
	shape.Positive: func(v *jsontree.Value) bool {
		return isMeasure(v) && v.Raw[0] != '-' && !jsontree.ParseDecimal(v.Raw).IsZero()
	},
	shape.Bool:      func(v *jsontree.Value) bool { return v.Kind == KindBoolean },
	shape.Text:      isString,
	shape.URI:       isURI,
	shape.Names:     isNames,
	shape.NameLists: func(v *jsontree.Value) bool { return isTableOf(v, isNames) },
	shape.Type:      func(v *jsontree.Value) bool { return isType(v) || len(v.Kids) > 0 && isListOf(v, isType) && isNames(v) },
	shape.List:      func(v *jsontree.Value) bool { return v.Kind == KindArray },
}

// fits reports whether v has a shape.
func fits(s shape.Shape, v *jsontree.Value) bool {
	ok := proper[s]
	return ok == nil || ok(v)
}

func isSchema(v *jsontree.Value) bool { return v.Kind&(KindObject|KindBoolean) != 0 }
func isString(v *jsontree.Value) bool { return v.Kind == KindString }
func isType(v *jsontree.Value) bool   { return v.Kind == KindString && jsontree.KindNamed(v.Text) != 0 }

func isURI(v *jsontree.Value) bool {
	_, err := url.Parse(v.Text)
	return v.Kind == KindString && err == nil
}

func isListOf(v *jsontree.Value, ok func(*jsontree.Value) bool) bool {
	return v.Kind == KindArray && !slices.ContainsFunc(v.Kids, func(kid *jsontree.Value) bool { return !ok(kid) })
}

func isTableOf(v *jsontree.Value, ok func(*jsontree.Value) bool) bool {
	return v.Kind == KindObject && !slices.ContainsFunc(v.Kids, func(kid *jsontree.Value) bool { return !ok(kid) })
}

func isNames(v *jsontree.Value) bool {
	seen := map[string]bool{}
	return isListOf(v, func(kid *jsontree.Value) bool {
		fresh := !seen[kid.Text]
		seen[kid.Text] = true
		return kid.Kind == KindString && fresh
	})
}

// isMeasure bounds numbers, so that arithmetic with them is cheap.
func isMeasure(v *jsontree.Value) bool {
	if v.Kind&KindNumber == 0 || len(v.Raw) > 300 {
		return false
	}
	d := jsontree.ParseDecimal(v.Raw)
	return d.Exp <= 400 && d.Exp >= -700
}

// subschemas yields the schemas that a keyword holds, with the pointer to
// each from the keyword's own place.
func subschemas(v *jsontree.Value) iter.Seq2[string, *jsontree.Value] {
	return func(yield func(string, *jsontree.Value) bool) {
		if shape.Annotates(v.Name) {
			return
		}
		switch shape.Of(v.Name) {
		case shape.Schema, shape.Items:
			if isSchema(v) {
				yield("", v)
				return
			}
			fallthrough
		case shape.Schemas, shape.Table, shape.Dependencies:
			for i, kid := range v.Kids {
				name := strconv.Itoa(i)
				if v.Kind == KindObject {
					name = jsontree.EscapePointer(kid.Name)
				}
				if isSchema(kid) && !yield("/"+name, kid) {
					return
				}
			}
		}
	}
}
