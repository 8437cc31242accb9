package schema

import (
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// CheckSyntax returns the syntax problem of data, nil if there is none.
func CheckSyntax(data []byte) *Problem {
	_, broken := jsontree.Parse(data, shape.MaxLevels)
	if broken == nil {
		return nil
	}
	return &Problem{Expected: broken.Expected, Got: broken.Got}
}

// Lenient returns the validator of s for which null counts as left out.
func Lenient(s *Schema) *Validator { return compile(s.raw, true) }
