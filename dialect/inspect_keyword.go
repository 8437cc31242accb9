package dialect

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// wants describes the shapes in words.
var wants = map[shape.Shape]string{
	shape.Schema: "a schema", shape.Items: "one schema, not a list of schemas", shape.Schemas: "a list of schemas",
	shape.Table: "an object of schemas", shape.Dependencies: "an object of schemas or lists of names",
	shape.Names: "a list of unique names", shape.NameLists: "an object of lists of names",
	shape.Count: "a non-negative integer", shape.Number: "a number", shape.Positive: "a number above 0",
	shape.Bool: "true or false", shape.Text: "a string", shape.URI: "a string", shape.Type: "the name of a type, or a list of names", shape.List: "a list",
}

// fits reports whether v has a shape, as strict readers see it. Older drafts have
// lists of items.
func fits(s shape.Shape, v *jsontree.Value, older bool) bool {
	switch s {
	case shape.Items:
		return shape.IsSchema(v) || older && shape.Fits(s, v)
	case shape.URI:
		return v.Kind == jsontree.KindString
	case shape.Type: // OpenAPI has other names
		return v.Kind == jsontree.KindString && kindOf(v.Text) != 0 ||
			len(v.Items()) > 0 && shape.Fits(shape.Names, v) && !slices.ContainsFunc(v.Kids, func(t *jsontree.Value) bool { return kindOf(t.Text) == 0 })
	}
	return shape.Fits(s, v)
}
