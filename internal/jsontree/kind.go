package jsontree

import "strings"

// Kinds is a set of JSON types. A number is an integer or a fraction.
type Kinds uint8

// The JSON types.
const (
	KindNull Kinds = 1 << iota
	KindBoolean
	KindInteger
	KindFraction
	KindString
	KindArray
	KindObject

	KindNumber = KindInteger | KindFraction
	KindAny    = KindNull | KindBoolean | KindNumber | KindString | KindArray | KindObject
)

// Names returns the types as JSON Schema names them.
func (k Kinds) Names() []string {
	var names []string
	for _, name := range []string{"string", "number", "integer", "boolean", "object", "array", "null"} {
		if want := typeNames[name]; k&want == want {
			names = append(names, name)
			k &^= want
		}
	}
	if k&KindFraction != 0 {
		names = append(names, "number")
	}
	return names
}

// String returns the types in words, such as "string or null".
func (k Kinds) String() string { return strings.Join(k.Names(), " or ") }

// typeNames has the types by the names that JSON Schema gives them.
var typeNames = map[string]Kinds{
	"null": KindNull, "boolean": KindBoolean, "integer": KindInteger, "number": KindNumber,
	"string": KindString, "array": KindArray, "object": KindObject,
}

// KindNamed returns the type that JSON Schema calls by that name, 0 if there is
// none.
func KindNamed(name string) Kinds { return typeNames[name] }

// KindsNamed returns the types that v names: one, or a list of them.
func KindsNamed(v *Value) Kinds {
	all := KindNamed(v.Text)
	for _, kid := range v.Items() {
		all |= KindNamed(kid.Text)
	}
	return all
}

// KindOf returns the kind of a value, by its first byte.
func KindOf(data []byte) Kinds {
	if len(data) == 0 {
		return 0
	}
	switch data[0] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBoolean
	case 'n':
		return KindNull
	}
	return KindNumber
}

// ExactKind returns the kind of a value, an integer or a fraction if it is a
// number, 0 if it is none.
func ExactKind(data []byte) Kinds {
	kind := KindOf(data)
	if kind != KindNumber {
		return kind
	}
	s := Scanner{Data: data}
	switch raw, plain, ok := s.Number(); {
	case !ok || s.Pos < len(data):
		return 0
	case plain || ParseDecimal(raw).IsInteger():
		return KindInteger
	}
	return KindFraction
}
