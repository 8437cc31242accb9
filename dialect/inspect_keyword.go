package dialect

import (
	"strings"

	"github.com/toolpost/toolpost/internal/shape"
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
func fits(s shape.Shape, v *value, older bool) bool {
	if s == shape.Items && older && isList(v, (*value).isSchema) {
		return true
	}
	ok := fitting[s]
	return ok == nil || ok(v)
}

// fitting tells a proper value from others, without a look into subschemas.
// Shapes that are not here take anything.
var fitting = map[shape.Shape]func(*value) bool{
	shape.Schema:       (*value).isSchema,
	shape.Items:        (*value).isSchema,
	shape.Schemas:      func(v *value) bool { return len(v.kids) > 0 && isList(v, (*value).isSchema) },
	shape.Table:        func(v *value) bool { return v.kind == '{' && all(v.kids, (*value).isSchema) },
	shape.Dependencies: func(v *value) bool { return v.kind == '{' && all(v.kids, isDependency) },
	shape.Names:        isNames,
	shape.NameLists:    func(v *value) bool { return v.kind == '{' && all(v.kids, isNames) },
	shape.Count:        func(v *value) bool { return isPositive(v) && isInteger(v.text) },
	shape.Number:       func(v *value) bool { return v.kind == '0' },
	shape.Positive:     func(v *value) bool { return isPositive(v) && strings.ContainsAny(mantissa(v.text), "123456789") },
	shape.Bool:         (*value).isBool,
	shape.Text:         isText,
	shape.URI:          isText,
	shape.Type:         func(v *value) bool { return isType(v) || len(v.kids) > 0 && isNames(v) && all(v.kids, isType) },
	shape.List:         func(v *value) bool { return v.kind == '[' },
}

func all(vs []*value, ok func(*value) bool) bool {
	for _, v := range vs {
		if !ok(v) {
			return false
		}
	}
	return true
}

func isList(v *value, of func(*value) bool) bool { return v.kind == '[' && all(v.kids, of) }
func isText(v *value) bool                       { return v.kind == '"' }
func isPositive(v *value) bool                   { return v.kind == '0' && v.text[0] != '-' }
func isDependency(v *value) bool                 { return v.isSchema() || isNames(v) }

func isNames(v *value) bool {
	seen := make(map[string]bool, len(v.items()))
	return v.kind == '[' && all(v.kids, func(v *value) bool {
		fresh := !seen[v.text]
		seen[v.text] = true
		return v.kind == '"' && fresh
	})
}

func isType(v *value) bool { return v.kind == '"' && kindOf(v.text) != 0 }

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
