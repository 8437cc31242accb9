package bind

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/schema"
)

// A foreign is a function of another framework's tool.
type foreign struct {
	call    reflect.Value
	context bool         // it takes one
	in      reflect.Type // of its argument, nil if it takes none
	text    bool         // the argument is the member input
	fails   bool         // what it returns last is an error
}

// foreignFunction returns nil if f cannot be called with a JSON object.
func foreignFunction(f reflect.Value) *foreign {
	t := f.Type()
	ins, outs := t.NumIn(), t.NumOut()
	if t.IsVariadic() {
		ins-- // options, which are left out
	}
	s := &foreign{call: f, fails: outs > 0 && t.Out(outs-1) == reflect.TypeFor[error]()}
	at := 0
	if at < ins && t.In(at) == reflect.TypeFor[context.Context]() {
		s.context = true
		at++
	}
	if at < ins {
		s.in = t.In(at)
		at++
	}
	if at < ins || outs > 2 || outs == 2 && !s.fails || s.in != nil && !takesObject(s.in) {
		return nil
	}
	return s
}

func takesObject(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.String:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Struct
	}
	return false
}

// schema is inferred from the argument; nil if it cannot be.
func (f *foreign) schema() (*schema.Schema, error) {
	switch {
	case f.text:
		return schema.Parse([]byte(textSchema))
	case f.in == nil:
		return schema.Parse([]byte(`{"type":"object"}`))
	case f.in == reflect.TypeFor[*toolpost.Call]():
		return nil, nil
	}
	switch in := f.in; {
	case in.Kind() == reflect.Pointer:
		return schema.ForInputType(in.Elem())
	case in.Kind() == reflect.Struct:
		return schema.ForInputType(in)
	}
	return nil, nil
}

// handle is the Handler.
func (f *foreign) handle(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	in, err := f.argument(call)
	if err != nil {
		return nil, &toolpost.ArgumentsError{Tool: call.Name, Err: err}
	}
	if f.context {
		return f.run(ctx, in)
	}
	return runDetached(ctx, func() (*toolpost.Result, error) { return f.run(ctx, in) })
}

// runDetached runs f, which does not watch ctx, and stops waiting for it when ctx ends.
func runDetached(ctx context.Context, f func() (*toolpost.Result, error)) (*toolpost.Result, error) {
	type outcome struct {
		result   *toolpost.Result
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.result, o.err = f()
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked) // in the goroutine of the call, which recovers it
		}
		return o.result, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *foreign) run(ctx context.Context, in []reflect.Value) (*toolpost.Result, error) {
	out, err := f.invoke(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case !out.IsValid():
		return toolpost.TextResult(""), nil
	}
	r, err := hidden.ResultOf(out.Interface())
	return r.(*toolpost.Result), err
}

// argument makes the function's argument of a call.
func (f *foreign) argument(call *toolpost.Call) ([]reflect.Value, error) {
	raw := call.Arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	switch {
	case f.in == nil:
		return nil, nil
	case f.in == reflect.TypeFor[*toolpost.Call]():
		return []reflect.Value{reflect.ValueOf(call)}, nil
	case f.text:
		var in struct {
			Input string `json:"input"`
		}
		err := codec.Decode(raw, &in)
		return []reflect.Value{reflect.ValueOf(in.Input).Convert(f.in)}, err
	case f.in.Kind() == reflect.String, f.in.Kind() == reflect.Slice:
		return []reflect.Value{reflect.ValueOf(bytes.Clone(raw)).Convert(f.in)}, nil
	}
	in := reflect.New(f.in)
	err := codec.Decode(raw, in.Interface())
	return []reflect.Value{in.Elem()}, err
}

// invoke returns what the function returns besides an error; it is invalid if
// that is nothing.
func (f *foreign) invoke(ctx context.Context, in []reflect.Value) (value reflect.Value, err error) {
	if f.context {
		in = append([]reflect.Value{reflect.ValueOf(ctx)}, in...)
	}
	out := f.call.Call(in)
	if f.fails {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		err, _ = last.Interface().(error)
	}
	if len(out) > 0 {
		value = out[0]
	}
	return value, err
}
