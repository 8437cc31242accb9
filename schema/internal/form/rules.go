package form

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mergeNumbers merges rules on numbers; ok is false if both have a value for one
// keyword that is not a bound, and they differ.
func mergeNumbers(a, b *Number) (n *Number, ok bool) {
	if a == nil || b == nil {
		return cmp.Or(a, b), true
	}
	ok = !differ(a.MultipleOf, b.MultipleOf) && !differ(a.Format, b.Format)
	return &Number{
		Minimum:          tighter(a.Minimum, b.Minimum, 1),
		Maximum:          tighter(a.Maximum, b.Maximum, -1),
		ExclusiveMinimum: tighter(a.ExclusiveMinimum, b.ExclusiveMinimum, 1),
		ExclusiveMaximum: tighter(a.ExclusiveMaximum, b.ExclusiveMaximum, -1),
		MultipleOf:       cmp.Or(a.MultipleOf, b.MultipleOf),
		Format:           cmp.Or(a.Format, b.Format),
	}, ok
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

// mergeTexts merges rules on strings; ok is false if both have a pattern or a
// format, and they differ.
func mergeTexts(a, b *Text) (t *Text, ok bool) {
	if a == nil || b == nil {
		return cmp.Or(a, b), true
	}
	return &Text{
		MinLength: max(a.MinLength, b.MinLength), MaxLength: fewer(a.MaxLength, b.MaxLength),
		Pattern: cmp.Or(a.Pattern, b.Pattern), Format: cmp.Or(a.Format, b.Format),
		Content: slices.Concat(a.Content, b.Content),
	}, !differ(a.Pattern, b.Pattern) && !differ(a.Format, b.Format)
}

// differ reports whether both are set, to different values.
func differ[T comparable](a, b T) bool {
	var zero T
	return a != zero && b != zero && a != b
}
