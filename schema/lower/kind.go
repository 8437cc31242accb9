package lower

import (
	"bytes"
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// typesOf names the types of kinds, as a schema does.
func typesOf(k jsontree.Kinds) []string {
	var types []string
	for _, name := range []string{"null", "boolean", "number", "string", "array", "object"} {
		types = append(types, (k & jsontree.KindNamed(name)).Names()...)
	}
	return types
}

// kindsOf is the other way.
func kindsOf(types ...string) (all jsontree.Kinds) {
	for _, name := range types {
		all |= jsontree.KindNamed(name)
	}
	return all
}

// kindOf returns the kind of a value. A number with a fraction of zero is an integer.
func kindOf(src []byte) jsontree.Kinds {
	kind := jsontree.KindOf(src)
	switch {
	case kind != jsontree.KindNumber:
		return kind
	case isInteger(src):
		return jsontree.KindInteger
	}
	return jsontree.KindFraction
}

// kind returns the kind of the value that comes next.
func (x *trip) kind() jsontree.Kinds {
	q := x.parser
	switch q.peek() {
	case '{', '[', '"':
		return kindOf(q.src[q.pos : q.pos+1])
	}
	return kindOf(q.value())
}

const nested = jsontree.KindArray | jsontree.KindObject

func isNull(src []byte) bool { return string(src) == "null" }

// isInteger reports whether a JSON number has no fraction, however it is
// written. Text that is not a number counts as one: validation reports it.
func isInteger(src []byte) bool {
	return !bytes.ContainsAny(src, ".eE") || !isNumber(string(src)) || jsontree.ParseDecimal(src).IsInteger()
}

// isNumber reports whether s is exactly a JSON number.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
