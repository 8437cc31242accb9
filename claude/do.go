package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/toolpost/toolpost/schema"
)

// Do runs the CLI on prompt and waits for the end: it is [Collect] of [Run].
// The response contains what is known about the run; it may be non-nil together
// with an error.
func Do(ctx context.Context, prompt string, opts *Options, blocks ...Block) (*Response, error) {
	return Collect(Run(ctx, prompt, opts, blocks...))
}

// DoAs is [Do] for an answer that is a Go value. The output schema is that of T, by the rules
// of [schema.ForInput], unless opts has an Output. Pointers do not accept null: for an answer
// that may be null, set an Output that allows it.
func DoAs[T any](ctx context.Context, prompt string, opts *Options, blocks ...Block) (T, *Response, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	var none T
	if o.Output == nil {
		var err error
		if o.Output, err = schema.ForInput[T](); err != nil {
			return none, nil, fmt.Errorf("infer the output schema: %w", err)
		}
	}
	r, err := Do(ctx, prompt, &o, blocks...)
	if err != nil {
		return none, r, err
	}
	v, err := decode[T](r)
	return v, r, err
}

// decode returns the structured output of a response as a Go value. If the
// response has none, the error is an *OutputError.
func decode[T any](r *Response) (v T, err error) {
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
