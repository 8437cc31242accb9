package schema

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
