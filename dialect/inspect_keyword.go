package dialect

import (
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema"
)

// wants tells the shapes in words.
var wants = map[shape.Shape]string{
	shape.Schema: "a schema", shape.Items: "one schema, not a list of schemas", shape.Schemas: "a list of schemas",
	shape.Table: "an object of schemas", shape.Dependencies: "an object of schemas or lists of names",
	shape.Names: "a list of unique names", shape.NameLists: "an object of lists of names",
	shape.Count: "a non-negative integer", shape.Number: "a number", shape.Positive: "a number above 0",
	shape.Bool: "true or false", shape.Text: "a string", shape.URI: "a string", shape.Type: "the name of a type, or a list of names", shape.List: "a list",
}

// fits reports whether v has a shape. Older drafts have lists of items.
func fits(s shape.Shape, v *jsontree.Value, older bool) bool {
	if s == shape.Items && older && isList(v, (*jsontree.Value).IsSchema) {
		return true
	}
	ok := fitting[s]
	return ok == nil || ok(v)
}

// fitting tells a proper value from others, without a look into subschemas.
// Shapes that are not here take anything.
var fitting = map[shape.Shape]func(*jsontree.Value) bool{
	shape.Schema:  (*jsontree.Value).IsSchema,
	shape.Items:   (*jsontree.Value).IsSchema,
	shape.Schemas: func(v *jsontree.Value) bool { return len(v.Kids) > 0 && isList(v, (*jsontree.Value).IsSchema) },
	shape.Table: func(v *jsontree.Value) bool {
		return v.Kind == schema.KindObject && all(v.Kids, (*jsontree.Value).IsSchema)
	},
	shape.Dependencies: func(v *jsontree.Value) bool { return v.Kind == schema.KindObject && all(v.Kids, isDependency) },
	shape.Names:        isNames,
	shape.NameLists:    func(v *jsontree.Value) bool { return v.Kind == schema.KindObject && all(v.Kids, isNames) },
	shape.Count:        func(v *jsontree.Value) bool { return isPositive(v) && isInteger(string(v.Raw)) },
	shape.Number:       func(v *jsontree.Value) bool { return v.Kind&schema.KindNumber != 0 },
	shape.Positive: func(v *jsontree.Value) bool {
		return isPositive(v) && strings.ContainsAny(mantissa(string(v.Raw)), "123456789")
	},
	shape.Bool: func(v *jsontree.Value) bool { return v.Kind == schema.KindBoolean },
	shape.Text: isText,
	shape.URI:  isText,
	shape.Type: func(v *jsontree.Value) bool { return isType(v) || len(v.Kids) > 0 && isNames(v) && all(v.Kids, isType) },
	shape.List: func(v *jsontree.Value) bool { return v.Kind == schema.KindArray },
}

func all(vs []*jsontree.Value, ok func(*jsontree.Value) bool) bool {
	for _, v := range vs {
		if !ok(v) {
			return false
		}
	}
	return true
}

func isList(v *jsontree.Value, of func(*jsontree.Value) bool) bool {
	return v.Kind == schema.KindArray && all(v.Kids, of)
}
func isText(v *jsontree.Value) bool       { return v.Kind == schema.KindString }
func isPositive(v *jsontree.Value) bool   { return v.Kind&schema.KindNumber != 0 && v.Raw[0] != '-' }
func isDependency(v *jsontree.Value) bool { return v.IsSchema() || isNames(v) }

func isNames(v *jsontree.Value) bool {
	seen := make(map[string]bool, len(v.Items()))
	return v.Kind == schema.KindArray && all(v.Kids, func(v *jsontree.Value) bool {
		fresh := !seen[v.Text]
		seen[v.Text] = true
		return v.Kind == schema.KindString && fresh
	})
}

func isType(v *jsontree.Value) bool { return v.Kind == schema.KindString && kindOf(v.Text) != 0 }

func mantissa(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i]
	}
	return number
}

// isInteger reports whether a number is written as a whole number: 3 or 3.0.
// Others, such as 30e-1, are nothing that anyone writes as a count.
func isInteger(number string) bool {
	_, fraction, _ := strings.Cut(number, ".")
	return strings.Trim(fraction, "0") == "" && mantissa(number) == number
}

// later has the keywords that came after draft 7.
var later = map[string]bool{
	"$defs": true, "$anchor": true, "$dynamicRef": true, "$dynamicAnchor": true, "$recursiveRef": true,
	"$recursiveAnchor": true, "$vocabulary": true, "prefixItems": true, "dependentSchemas": true,
	"dependentRequired": true, "unevaluatedProperties": true, "unevaluatedItems": true,
	"minContains": true, "maxContains": true,
}
