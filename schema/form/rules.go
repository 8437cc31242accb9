package form

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mergeNumbers merges bounds on numbers, for m; rules that it cannot express
// together go to its Rest.
func mergeNumbers(m *Form, a, b *Number) *Number {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	n := &Number{
		Minimum:          tighter(a.Minimum, b.Minimum, 1),
		Maximum:          tighter(a.Maximum, b.Maximum, -1),
		ExclusiveMinimum: tighter(a.ExclusiveMinimum, b.ExclusiveMinimum, 1),
		ExclusiveMaximum: tighter(a.ExclusiveMaximum, b.ExclusiveMaximum, -1),
		MultipleOf:       cmp.Or(a.MultipleOf, b.MultipleOf),
		Format:           cmp.Or(a.Format, b.Format),
	}
	keepBoth(m, "format", a.Format, b.Format)
	if differ(a.MultipleOf, b.MultipleOf) {
		d, e := jsontree.ParseDecimal([]byte(a.MultipleOf)), jsontree.ParseDecimal([]byte(b.MultipleOf))
		switch {
		case d.MultipleOf(e):
		case e.MultipleOf(d):
			n.MultipleOf = b.MultipleOf
		default:
			keepBoth(m, "multipleOf", a.MultipleOf, b.MultipleOf)
		}
	}
	return n
}

// tighter returns the larger of two bounds if sign is 1, the smaller one if it
// is -1.
func tighter(a, b json.Number, sign int) json.Number {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	if jsontree.ParseDecimal([]byte(a)).Cmp(jsontree.ParseDecimal([]byte(b)))*sign < 0 {
		return b
	}
	return a
}

// fewer returns the smaller of two limits, of which those below 0 are none.
func fewer(a, b int) int {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}

// mergeTexts merges bounds on strings, for m; rules that it cannot express
// together go to its Rest.
func mergeTexts(m *Form, a, b *Text) *Text {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	keepBoth(m, "pattern", a.Pattern, b.Pattern)
	keepBoth(m, "format", a.Format, b.Format)
	return &Text{
		MinLength: max(a.MinLength, b.MinLength), MaxLength: fewer(a.MaxLength, b.MaxLength),
		Pattern: cmp.Or(a.Pattern, b.Pattern), Format: cmp.Or(a.Format, b.Format),
		Content: slices.Concat(a.Content, b.Content),
	}
}

// differ reports whether both are set, to different values.
func differ[T comparable](a, b T) bool {
	var zero T
	return a != zero && b != zero && a != b
}

// keepBoth keeps a second value of a keyword that holds one, if it is another.
func keepBoth[T comparable](m *Form, keyword string, a, b T) {
	if differ(a, b) {
		text, _ := json.Marshal(map[string]T{keyword: b}) // strings and numbers always encode
		*m = *m.withSchemas(text)
	}
}
