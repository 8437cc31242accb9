package lower

import "github.com/toolpost/toolpost/internal/jsontree"

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

// kind returns the kind of the value that comes next.
func (x *trip) kind() jsontree.Kinds {
	q := x.parser
	q.Peek()
	if kind := jsontree.KindOf(q.Data[q.Pos:]); kind != jsontree.KindNumber {
		return kind
	}
	return jsontree.ExactKind(q.value())
}

const nested = jsontree.KindArray | jsontree.KindObject

func isNull(src []byte) bool { return string(src) == "null" }

// isNumber reports whether s is exactly a JSON number.
func isNumber(s string) bool { return jsontree.ExactKind([]byte(s))&jsontree.KindNumber != 0 }
