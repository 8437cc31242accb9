package schema

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// InferOptions are the optional parts of [Infer] and [For].
type InferOptions struct {
	// Output infers the schema of values that Go writes: fields that are always
	// written are required, and nil pointers may be null. Nil slices and maps
	// are [] and {}. Input schemas never contain null: their validators read it
	// as a value that is left out ([CompileOptions]).
	Output bool
}

// For infers the schema of T.
func For[T any](opts *InferOptions) (*Schema, []Finding, error) {
	return Infer(reflect.TypeFor[T](), opts)
}

// Infer infers the schema of t from its fields, tags and methods, by the rules
// of encoding/json. Findings name parts left untyped, such as a json.Marshaler
// without a schema method; the Schema keeps them, see [Schema.Findings].
//
// A field is described by its tags:
//
//	desc:"text"          description (also description, jsonschema_description)
//	default:"5"          default; the field is optional
//	min:"1" max:"10"     minimum, maximum
//	minlen:"1"           minLength, minItems or minProperties, by the field's type
//	maxlen:"9"           maxLength, maxItems or maxProperties
//	pattern:"^a"         pattern
//	format:"date"        format
//	enum:"a,b"           enum; a comma in a value is \\,
//	example:"a"          examples
//	jsonschema:"text"    description
//	jsonschema:"required,minimum=1,enum=a,enum=b"    any of these keywords
//
// A tag that another library reads and Infer does not, such as minimum:"1" or
// minLength:"1", is an error that names the right one.
// An optional struct with defaults inside has the default {}; one behind a
// pointer has none, and stays nil where it is left out.
//
// A type may describe itself with a method JSONSchema, whose result is a
// [Schema], bytes, or anything whose JSON is a schema; or list its values with
// a method Enum, whose result is a slice.
func Infer(t reflect.Type, opts *InferOptions) (*Schema, []Finding, error) {
	if t == nil {
		return nil, nil, errors.New("infer schema: there is no type")
	}
	output := opts != nil && opts.Output
	in := &inference{output: output, open: map[reflect.Type]bool{}, names: defNames{}}
	root := in.root(t)
	if err := errors.Join(in.errs...); err != nil {
		return nil, nil, fmt.Errorf("infer schema of %.80s: %w", t.String(), err)
	}
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, nil, fmt.Errorf("infer schema of %.80s: %w", t.String(), err)
	}
	s := newSchema(raw, CompileOptions{NullIsAbsent: !output})
	s.findings = in.findings
	return s, s.Findings(), nil
}
