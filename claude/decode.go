package claude

import (
	"context"
	"encoding/json"
	"fmt"
)

// RunAs runs the CLI on prompt and returns its answer as a Go value. The output
// is that of T unless opts has one. The response is what is known of the run; it
// may be there beside an error.
func RunAs[T any](ctx context.Context, prompt string, opts *Options) (T, *Response, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Output == nil {
		o.Output = OutputOf[T]()
	}
	r, err := Collect(Run(ctx, prompt, &o))
	if err != nil {
		var none T
		return none, r, err
	}
	v, err := Decode[T](r)
	return v, r, err
}

// Decode returns the structured output of a response as a Go value. A response
// without one is an *OutputError.
func Decode[T any](r *Response) (v T, err error) {
	if r == nil || !hasValue(r.StructuredOutput) {
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
