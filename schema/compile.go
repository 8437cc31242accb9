package schema

import (
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// A validator is a compiled schema. It is safe for concurrent use.
type validator struct {
	root         *node // nil if nothing can be checked
	findings     []Finding
	nullIsAbsent bool
}

// compile always returns a validator: parts that cannot be compiled are not
// validated, and its findings list them. If nullIsAbsent is set, null is
// accepted for an optional property whose schema does not allow it: models write
// null for a value that they leave out.
func compile(raw []byte, nullIsAbsent bool) *validator {
	v := &validator{nullIsAbsent: nullIsAbsent}
	d := subschema.Read(raw)
	if d.Root != nil {
		v.root = newBuilder(d).node(d.Root)
	}
	for _, f := range d.Findings {
		v.findings = append(v.findings, Finding(f))
	}
	return v
}

// validate is [Schema.Validate].
func (v *validator) validate(data []byte) error {
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
