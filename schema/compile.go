package schema

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// A Validator validates raw JSON against one schema. It is safe for concurrent
// use.
type Validator struct {
	root         *node // nil if nothing can be checked
	findings     []Finding
	nullIsAbsent bool
}

// compile always returns a Validator: parts that cannot be compiled are not
// validated, and [Validator.Report] lists them. If nullIsAbsent is set, null is
// accepted for an optional property whose schema does not allow it: models write
// null for a value that they leave out.
func compile(raw []byte, nullIsAbsent bool) *Validator {
	v := &Validator{nullIsAbsent: nullIsAbsent}
	d := subschema.Read(raw)
	if d.Root != nil {
		v.root = newBuilder(d).node(d.Root)
	}
	for _, f := range d.Findings {
		v.findings = append(v.findings, Finding(f))
	}
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
	tree, broken := jsontree.Parse(data, shape.MaxLevels)
	if broken != nil {
		return &ValidationError{Problems: []Problem{{Expected: broken.Expected, Got: broken.Got}}}
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
