package schema

import (
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// CheckSyntax returns the syntax problem of data, nil if there is none.
func CheckSyntax(data []byte) *Problem {
	_, broken := jsontree.Parse(data, shape.MaxLevels)
	if broken == nil {
		return nil
	}
	return &Problem{Expected: broken.Expected, Got: broken.Got}
}

// A Validator is the compiled schema, for tests of the ways to compile one.
type Validator = validator

// Validator returns the compiled schema.
func (s *Schema) Validator() *Validator { return s.validator() }

// Validate validates data.
func (v *Validator) Validate(data []byte) error { return v.validate(data) }

// Report lists what is not validated.
func (v *Validator) Report() []Finding { return v.findings }

// Lenient returns the validator of s for which null counts as left out.
func Lenient(s *Schema) *Validator { return compile(s.raw, true) }

// Unhurried returns the validator of s without the short ways of check_quick.go.
func Unhurried(s *Schema, nullIsAbsent bool) *Validator {
	v := &validator{nullIsAbsent: nullIsAbsent}
	d := subschema.Read(s.raw)
	if d.Root == nil {
		return v
	}
	b := newBuilder(d)
	v.root = b.node(d.Root)
	for _, n := range b.nodes {
		if n.quick = 0; n.object != nil {
			n.object.ordered = false
		}
	}
	return v
}
