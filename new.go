package toolpost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/schema"
)

// Options are the optional parts of [New].
type Options struct {
	Title       string
	Annotations Annotations
	Policy      Policy
	Input       *schema.Schema // instead of the schema inferred from In
	Output      *schema.Schema // instead of the schema inferred from Out
}

// New returns a tool that calls a typed function. The input schema comes from
// In, a struct or a map. Arguments are validated, and their defaults filled in,
// before fn runs.
//
// Out may be string (text), []Part (parts), *Result, or any type that encodes
// as JSON. The schema of Out is the output schema if Out encodes as an object.
// Without an output schema, nil becomes an empty text, and a value that already
// is an MCP result is sent unchanged: {"content": […]} with content blocks and
// no members other than MCP's.
//
// New panics if some client does not accept the name, or if In or Out has no
// JSON Schema. Like [regexp.MustCompile], it is for definitions that are fixed
// at compile time.
func New[In, Out any](name, description string, fn func(context.Context, In) (Out, error), opts *Options) *Tool {
	return newTool(name, description, reflect.TypeFor[In](), reflect.TypeFor[Out](), opts, func(ctx context.Context, name string, arguments json.RawMessage) (any, error) {
		var in In
		if err := codec.Decode(arguments, &in); err != nil {
			return nil, &ArgumentsError{name, err}
		}
		return fn(ctx, in)
	})
}

// A typedCall decodes the arguments of the tool name and calls the function with them.
type typedCall func(ctx context.Context, name string, arguments json.RawMessage) (any, error)

// newTool is New without type parameters. The compiler copies a generic function for each type, and some
// programs have a hundred tools.
func newTool(name, description string, in, out reflect.Type, opts *Options, fn typedCall) *Tool {
	if opts == nil {
		opts = new(Options)
	}
	t := &Tool{
		Definition: Definition{Name: name, Title: opts.Title, Description: description, Annotations: opts.Annotations},
		Policy:     opts.Policy,
	}
	err := checkName(name)
	if err == nil {
		t.Input, err = inputSchema(in, opts.Input)
	}
	if err == nil {
		t.Output, err = outputSchema(out, opts.Output)
	}
	if err != nil {
		panic(fmt.Sprintf("toolpost.New(%q): %v", name, err))
	}
	t.Handler = handler(t.Input, t.Output != nil, fn)
	return t
}

func handler(input *schema.Schema, declared bool, fn typedCall) Handler {
	return func(ctx context.Context, call *Call) (*Result, error) {
		raw := call.Arguments
		if c, _ := ctx.Value(callContextKey{}).(*callContext); c == nil || !c.valid.cover(input, raw) {
			c, err := validateArguments(input, call) // a layer changed the arguments or the schema
			if err != nil {
				return nil, err
			}
			raw = c.arguments
		}
		out, err := fn(ctx, call.Name, raw)
		if err != nil {
			return nil, err
		}
		if !declared {
			return resultOf(out)
		}
		return result(out)
	}
}

func inputSchema(in reflect.Type, given *schema.Schema) (*schema.Schema, error) {
	s := given
	if s == nil {
		var err error
		if s, err = schema.ForInputType(in); err != nil {
			return nil, fmt.Errorf("input: %w", err)
		}
	}
	if !s.IsObject() {
		return nil, fmt.Errorf("input: the schema of %v is not of type object", in)
	}
	return s, nil
}

// outputSchema returns nil for results that are text, parts, or JSON that is
// not an object: several clients drop servers that declare other outputs.
func outputSchema(out reflect.Type, given *schema.Schema) (*schema.Schema, error) {
	if given != nil {
		return given, nil
	}
	switch out {
	case reflect.TypeFor[string](), reflect.TypeFor[*Result](), reflect.TypeFor[[]Part]():
		return nil, nil
	}
	s, err := schema.ForOutputType(out)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	if !s.IsObject() {
		return nil, nil
	}
	return s, nil
}

func result(out any) (*Result, error) {
	switch out := out.(type) {
	case *Result:
		return out, nil
	case string:
		return TextResult(out), nil
	case []Part:
		return NewResult(out...), nil
	}
	switch v := reflect.ValueOf(out); v.Kind() {
	case reflect.String:
		return TextResult(v.String()), nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, errors.New("the tool returned nothing, not even an error")
		}
	}
	return JSONResult(out)
}
