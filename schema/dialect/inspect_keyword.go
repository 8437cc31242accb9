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

// fits reports whether v has a shape, as strict readers of a dialect see it. Older
// drafts have lists of items, and OpenAPI has other names of types.
func fits(s shape.Shape, v *jsontree.Value, dialect string) bool {
	switch {
	case s == shape.Items:
		return shape.IsSchema(v) || dialect == "draft-07" && shape.Fits(s, v)
	case s == shape.URI:
		return v.Kind == jsontree.KindString
	case s == shape.Type && dialect == "openapi":
		return v.Kind == jsontree.KindString && kindOf(v.Text) != 0 ||
			len(v.Items()) > 0 && shape.Fits(shape.Names, v) && !slices.ContainsFunc(v.Kids, func(t *jsontree.Value) bool { return kindOf(t.Text) == 0 })
	}
	return shape.Fits(s, v)
}
