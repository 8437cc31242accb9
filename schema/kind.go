package schema

// Kinds is a set of JSON types. A number is an integer or a fraction.
type Kinds = kinds

// The JSON types.
const (
	KindNull     = kindNull
	KindBoolean  = kindBoolean
	KindInteger  = kindInteger
	KindFraction = kindFraction
	KindString   = kindString
	KindArray    = kindArray
	KindObject   = kindObject
	KindNumber   = kindNumber
	KindAny      = kindAny
)
