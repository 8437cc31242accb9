package schema

import "strings"

// CompileOptions are the optional parts of [Compile].
type CompileOptions struct {
	// NullIsAbsent accepts null for an optional property whose schema does
	// not allow it: models write null where they mean "left out".
	NullIsAbsent bool
}

// A Validator checks raw JSON against one schema. It is safe for concurrent use.
type Validator struct{}

// Compile compiles s. It always returns a Validator: what cannot be compiled
// is not validated, and [Validator.Report] says so.
func Compile(s *Schema, opts *CompileOptions) *Validator { return &Validator{} }

// Report lists what the validator does not check, and why. Empty means exact.
func (v *Validator) Report() []Finding { return nil }

// Validate checks data and reports every problem at once as a *[ValidationError].
func (v *Validator) Validate(data []byte) error { return nil }

// A Finding is one thing worth telling about a schema or a type.
type Finding struct {
	Pointer string // JSON pointer into the schema (RFC 6901)
	Message string
}

// A Problem is one way in which a value does not fit its schema.
type Problem struct {
	Pointer  string   // JSON pointer into the value (RFC 6901), "" for the whole
	Expected string   // what the schema asks for
	Got      string   // what came, shortened
	Valid    []string // the valid names, where the problem is an unknown name
}

// A ValidationError holds all problems of one value. Its text is written for
// the model that sent the value: one line per problem.
type ValidationError struct {
	Problems []Problem
}

func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Pointer + ": expected " + p.Expected + ", got " + p.Got)
	}
	return b.String()
}
