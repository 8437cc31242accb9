package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
)

// DoAs runs the CLI on prompt and returns its answer as a Go value. The output
// schema is that of T unless opts has an Output. The response contains what is
// known about the run; it may be non-nil together with an error.
func DoAs[T any](ctx context.Context, prompt string, opts *Options, blocks ...Block) (T, *Response, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Output == nil {
		o.Output = OutputOf[T]()
	}
	r, err := Collect(Run(ctx, prompt, &o, blocks...))
	if err != nil {
		var none T
		return none, r, err
	}
	v, err := Decode[T](r)
	return v, r, err
}

// Decode returns the structured output of a response as a Go value. If the
// response has none, the error is an *OutputError.
func Decode[T any](r *Response) (v T, err error) {
	if r == nil || r.StructuredOutput == nil || string(r.StructuredOutput) == "null" && !takesNull[T]() {
		e := &OutputError{Reason: "the response has none; set Options.Output to get one"}
		if r != nil {
			e.SessionID, e.Result = r.SessionID, r.Result
		}
		return v, e
	}
	if err := json.Unmarshal(r.StructuredOutput, &v); err != nil {
		return v, fmt.Errorf("decode the structured output into %T: %w", v, err)
	}
	return v, nil
}

// takesNull reports whether null is a value of T. Else it is what a response
// without an output becomes when it is written as JSON and read again.
func takesNull[T any]() bool {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	}
	_, ok := any(new(T)).(json.Unmarshaler)
	return ok
}
