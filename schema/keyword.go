package schema

import (
	"iter"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// subschemas yields the schemas that a keyword about validity holds, with the
// pointer to each from the keyword's own place.
func subschemas(keyword *jsontree.Value) iter.Seq2[string, *jsontree.Value] {
	if shape.Annotates(keyword.Name) {
		return func(func(string, *jsontree.Value) bool) {}
	}
	return shape.Subschemas(keyword)
}
