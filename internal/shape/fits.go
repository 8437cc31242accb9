package shape

import (
	"iter"
	"net/url"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Fits reports whether v has a shape, without a look into subschemas.
func Fits(s Shape, v *jsontree.Value) bool {
	fits := proper[s]
	return fits == nil || fits(v)
}

// proper has a check for the values of a shape. Shapes without a check accept
// every value.
var proper = map[Shape]func(*jsontree.Value) bool{
	Schema:       IsSchema,
	Schemas:      func(v *jsontree.Value) bool { return len(v.Kids) > 0 && isListOf(v, IsSchema) },
	Table:        func(v *jsontree.Value) bool { return isTableOf(v, IsSchema) },
	Items:        func(v *jsontree.Value) bool { return IsSchema(v) || isListOf(v, IsSchema) },
	Dependencies: func(v *jsontree.Value) bool { return isTableOf(v, isDependency) },
	Count:        func(v *jsontree.Value) bool { return v.Kind == jsontree.KindInteger && v.Raw[0] != '-' && isMeasure(v) },
	Number:       isMeasure,
	Positive: func(v *jsontree.Value) bool {
		return isMeasure(v) && v.Raw[0] != '-' && !jsontree.ParseDecimal(v.Raw).IsZero()
	},
	Bool:      func(v *jsontree.Value) bool { return v.Kind == jsontree.KindBoolean },
	Text:      isText,
	URI:       isURI,
	Names:     isNames,
	NameLists: func(v *jsontree.Value) bool { return isTableOf(v, isNames) },
	Type:      func(v *jsontree.Value) bool { return isType(v) || len(v.Kids) > 0 && isListOf(v, isType) && isNames(v) },
	List:      func(v *jsontree.Value) bool { return v.Kind == jsontree.KindArray },
}

// IsSchema reports whether v could be a schema: an object or a boolean.
func IsSchema(v *jsontree.Value) bool {
	return v.Kind&(jsontree.KindObject|jsontree.KindBoolean) != 0
}

func isText(v *jsontree.Value) bool       { return v.Kind == jsontree.KindString }
func isType(v *jsontree.Value) bool       { return isText(v) && jsontree.KindNamed(v.Text) != 0 }
func isDependency(v *jsontree.Value) bool { return IsSchema(v) || isNames(v) }

func isURI(v *jsontree.Value) bool {
	_, err := url.Parse(v.Text)
	return isText(v) && err == nil
}

func isListOf(v *jsontree.Value, ok func(*jsontree.Value) bool) bool {
	return v.Kind == jsontree.KindArray && !slices.ContainsFunc(v.Kids, func(kid *jsontree.Value) bool { return !ok(kid) })
}

func isTableOf(v *jsontree.Value, ok func(*jsontree.Value) bool) bool {
	return v.Kind == jsontree.KindObject && !slices.ContainsFunc(v.Kids, func(kid *jsontree.Value) bool { return !ok(kid) })
}

func isNames(v *jsontree.Value) bool {
	seen := make(map[string]bool, len(v.Kids))
	return isListOf(v, func(kid *jsontree.Value) bool {
		fresh := !seen[kid.Text]
		seen[kid.Text] = true
		return isText(kid) && fresh
	})
}

// isMeasure bounds numbers, so that arithmetic with them is cheap.
func isMeasure(v *jsontree.Value) bool {
	if v.Kind&jsontree.KindNumber == 0 || len(v.Raw) > 300 {
		return false
	}
	d := jsontree.ParseDecimal(v.Raw)
	return d.Exp <= 400 && d.Exp >= -700
}

// Subschemas yields the schemas that a keyword holds, with the JSON pointer to
// each from the keyword's own place.
func Subschemas(keyword *jsontree.Value) iter.Seq2[string, *jsontree.Value] {
	return func(yield func(string, *jsontree.Value) bool) {
		s := Of(keyword.Name)
		switch {
		case s == Schema, s == Items && keyword.Kind != jsontree.KindArray:
			if IsSchema(keyword) {
				yield("", keyword)
			}
		case s == Schemas, s == Items:
			for i, kid := range keyword.Items() {
				if IsSchema(kid) && !yield("/"+strconv.Itoa(i), kid) {
					return
				}
			}
		case s == Table, s == Dependencies:
			for _, kid := range keyword.Members() {
				if IsSchema(kid) && !yield("/"+jsontree.EscapePointer(kid.Name), kid) {
					return
				}
			}
		}
	}
}

// Held yields the schemas that a keyword about validity holds, with the pointer
// to each from the keyword's own place.
func Held(keyword *jsontree.Value) iter.Seq2[string, *jsontree.Value] {
	if Annotates(keyword.Name) {
		return func(func(string, *jsontree.Value) bool) {}
	}
	return Subschemas(keyword)
}
