package schema

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// ForInput infers the schema of values that Go reads into a T, such as the
// arguments of a tool. See [ForInputType] for the rules.
func ForInput[T any]() (*Schema, error) { return ForInputType(reflect.TypeFor[T]()) }

// ForOutput infers the schema of values that Go writes from a T, such as the
// results of a tool. See [ForOutputType] for the rules.
func ForOutput[T any]() (*Schema, error) { return ForOutputType(reflect.TypeFor[T]()) }

// ForOutputType infers the schema of values that Go writes from a t. It differs
// from [ForInputType] in three points: fields that are always written are
// required, nil pointers may be null, and nil slices and maps are [] and {}.
func ForOutputType(t reflect.Type) (*Schema, error) { return infer(t, true) }

// ForInputType infers the schema of values that Go reads into a t, from its
// fields, tags and methods, by the rules of encoding/json. The schema never
// contains null: its validator reads null as a value that is left out
// ([Schema.Validate]). Parts that have no type in the schema, such as a
// json.Marshaler without a schema method, are in its [Schema.Findings].
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
// A time.Duration is an integer, and its description says "nanoseconds".
// [Schema.ValidateInput] accepts "5m" there too, and so do the values of tags:
// default:"5m" max:"1h".
//
// A tag that another library reads and this package does not, such as minimum:"1" or
// minLength:"1", is an error that names the right one.
// An optional struct with defaults inside has the default {}; one behind a
// pointer has none, and stays nil where it is left out.
//
// A type may describe itself with a method JSONSchema, whose result is a
// [Schema], bytes, or anything whose JSON is a schema; or list its values with
// a method Enum, whose result is a slice.
func ForInputType(t reflect.Type) (*Schema, error) { return infer(t, false) }

func infer(t reflect.Type, output bool) (*Schema, error) {
	if t == nil {
		return nil, errors.New("infer schema: there is no type")
	}
	in := &inference{output: output, open: map[reflect.Type]bool{}, names: defNames{}}
	root := in.root(t)
	if err := errors.Join(in.errs...); err != nil {
		return nil, fmt.Errorf("infer schema of %.80s: %w", t.String(), err)
	}
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("infer schema of %.80s: %w", t.String(), err)
	}
	s := newSchema(raw, !output)
	s.findings = in.findings
	if in.timed && !output {
		s.timed = t
	}
	return s, nil
}
