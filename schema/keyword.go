package schema

import (
	"iter"
	"net/url"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/shape"
)

var typeNames = map[string]Kinds{
	"null": KindNull, "boolean": KindBoolean, "integer": KindInteger, "number": KindNumber,
	"string": KindString, "array": KindArray, "object": KindObject,
}

// proper tells a value of a shape from others, without a look into subschemas.
// Shapes that are not here take anything.
var proper = map[shape.Shape]func(*value) bool{
	shape.Schema:       isSchema,
	shape.Schemas:      func(v *value) bool { return len(v.kids) > 0 && isListOf(v, isSchema) },
	shape.Table:        func(v *value) bool { return isTableOf(v, isSchema) },
	shape.Items:        func(v *value) bool { return isSchema(v) || isListOf(v, isSchema) },
	shape.Dependencies: func(v *value) bool { return isTableOf(v, func(v *value) bool { return isSchema(v) || isNames(v) }) },
	shape.Count:        func(v *value) bool { return v.kind == KindInteger && v.raw[0] != '-' && isMeasure(v) },
	shape.Number:       isMeasure,
	shape.Positive:     func(v *value) bool { return isMeasure(v) && v.raw[0] != '-' && !parseDecimal(v.raw).isZero() },
	shape.Bool:         func(v *value) bool { return v.kind == KindBoolean },
	shape.Text:         isString,
	shape.URI:          isURI,
	shape.Names:        isNames,
	shape.NameLists:    func(v *value) bool { return isTableOf(v, isNames) },
	shape.Type:         func(v *value) bool { return isType(v) || len(v.kids) > 0 && isListOf(v, isType) && isNames(v) },
	shape.List:         func(v *value) bool { return v.kind == KindArray },
}

// fits reports whether v has a shape.
func fits(s shape.Shape, v *value) bool {
	ok := proper[s]
	return ok == nil || ok(v)
}

func isSchema(v *value) bool { return v.kind&(KindObject|KindBoolean) != 0 }
func isString(v *value) bool { return v.kind == KindString }
func isType(v *value) bool   { return v.kind == KindString && typeNames[v.text] != 0 }

func isURI(v *value) bool {
	_, err := url.Parse(v.text)
	return v.kind == KindString && err == nil
}

func isListOf(v *value, ok func(*value) bool) bool {
	return v.kind == KindArray && !slices.ContainsFunc(v.kids, func(kid *value) bool { return !ok(kid) })
}

func isTableOf(v *value, ok func(*value) bool) bool {
	return v.kind == KindObject && !slices.ContainsFunc(v.kids, func(kid *value) bool { return !ok(kid) })
}

func isNames(v *value) bool {
	seen := map[string]bool{}
	return isListOf(v, func(kid *value) bool {
		fresh := !seen[kid.text]
		seen[kid.text] = true
		return kid.kind == KindString && fresh
	})
}

// isMeasure bounds numbers, so that arithmetic with them is cheap.
func isMeasure(v *value) bool {
	if v.kind&KindNumber == 0 || len(v.raw) > 300 {
		return false
	}
	d := parseDecimal(v.raw)
	return d.exp <= 400 && d.exp >= -700
}

// subschemas yields the schemas that a keyword holds, with the pointer to
// each from the keyword's own place.
func subschemas(v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		if shape.Annotates(v.name) {
			return
		}
		switch shape.Of(v.name) {
		case shape.Schema, shape.Items:
			if isSchema(v) {
				yield("", v)
				return
			}
			fallthrough
		case shape.Schemas, shape.Table, shape.Dependencies:
			for i, kid := range v.kids {
				name := strconv.Itoa(i)
				if v.kind == KindObject {
					name = escapePointer(kid.name)
				}
				if isSchema(kid) && !yield("/"+name, kid) {
					return
				}
			}
		}
	}
}
