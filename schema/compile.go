package schema

import "slices"
import "github.com/toolpost/toolpost/internal/jsontree"

// CompileOptions are the optional parts of [Compile].
type CompileOptions struct {
	// NullIsAbsent accepts null for an optional property whose schema does not
	// allow it: models write null for a value that they leave out.
	NullIsAbsent bool
}

// A Validator validates raw JSON against one schema. It is safe for concurrent
// use.
type Validator struct {
	root         *node // nil if nothing can be checked
	findings     []Finding
	nullIsAbsent bool
}

// Compile compiles s. It always returns a Validator: parts that cannot be
// compiled are not validated, and [Validator.Report] lists them.
func Compile(s *Schema, opts *CompileOptions) *Validator {
	v := &Validator{nullIsAbsent: opts != nil && opts.NullIsAbsent}
	d := load(s.raw)
	if d.root != nil {
		v.root = build(d)
	}
	v.findings = d.findings
	return v
}

// Report lists what the validator does not validate, and why. If it is empty,
// validation is complete.
func (v *Validator) Report() []Finding { return slices.Clip(v.findings) }

// Validate validates data. The error is a *[ValidationError] with all problems.
func (v *Validator) Validate(data []byte) error {
	if valid(v.root, data, v.nullIsAbsent) {
		return nil
	}
	tree, broken := jsontree.Parse(data, maxDepth)
	if broken != nil {
		return &ValidationError{Problems: []Problem{*syntaxProblem(broken, data)}}
	}
	x := explainer{nullIsAbsent: v.nullIsAbsent}
	jsontree.Duplicates(tree, "", func(pointer string) {
		x.found.add(Problem{Pointer: pointer, Expected: "one property of this name", Got: "a duplicate"})
	})
	x.node(v.root, tree)
	if len(x.found.Problems) == 0 {
		x.wrong(tooMuchWork, tree)
	}
	return &x.found
}

// A Finding is a remark about a schema or a type.
type Finding struct {
	Pointer string // JSON pointer into the schema (RFC 6901)
	Message string
}
