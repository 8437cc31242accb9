package schema

import "github.com/toolpost/toolpost/internal/jsontree"

// Kinds is a set of JSON types. A number is an integer or a fraction.
type Kinds = jsontree.Kinds

// The JSON types.
const (
	KindNull     = jsontree.KindNull
	KindBoolean  = jsontree.KindBoolean
	KindInteger  = jsontree.KindInteger
	KindFraction = jsontree.KindFraction
	KindString   = jsontree.KindString
	KindArray    = jsontree.KindArray
	KindObject   = jsontree.KindObject
	KindNumber   = jsontree.KindNumber
	KindAny      = jsontree.KindAny
)
