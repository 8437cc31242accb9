// Package bind makes tools that need data of a program before they can run, such
// as a configuration or an account, and tools of the values of other frameworks. The data
// is passed by value.
//
// Experimental: it may change.
package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/toolpost/toolpost"
)

// A Tool is a tool that needs a value of type D before it can run: a
// configuration, an account, a table of prices. D is data that is passed by
// value; for something that is opened and closed, such as a client, see [github.com/toolpost/toolpost/dep.Dep].
// It is safe for concurrent use.
type Tool[D any] struct {
	tool *toolpost.Tool
}

// A Context gives a handler the dependencies that its tool was bound to.
type Context[D any] struct {
	deps D
}

// Deps returns the dependencies. After [Tool.Bind] they are a copy for this
// call; a change to them affects nothing else.
func (c *Context[D]) Deps() D { return c.deps }

// key is where a bound tool finds its *Context[D].
type key struct{}

// New is [toolpost.New] for a function that needs dependencies. The tool can run
// once they are bound.
func New[D, In, Out any](name, description string, fn func(context.Context, *Context[D], In) (Out, error), opts *toolpost.Options) *Tool[D] {
	return &Tool[D]{toolpost.New(name, description, func(ctx context.Context, in In) (Out, error) {
		deps, _ := ctx.Value(key{}).(*Context[D]) // bind put it there
		return fn(ctx, deps, in)
	}, opts)}
}

// Bind returns the tool with a copy of d, made by [Encode]. Later changes
// to d do not affect the tool, and changes that a call makes to its
// dependencies do not affect other calls. If d cannot be copied in this way,
// the error is an *[UnsupportedTypeError] or a *[TypeHintError].
func (t *Tool[D]) Bind(d D) (*toolpost.Tool, error) {
	fail := func(err error) (*toolpost.Tool, error) { return nil, fmt.Errorf("bind tool %s: %w", t.tool.Name, err) }
	if err := check(reflect.TypeFor[D]()); err != nil {
		return fail(err)
	}
	data, err := Encode(d)
	if err != nil {
		return fail(err)
	}
	return t.bind(func() (D, error) { return decode[D](data) }), nil
}

// BindLocal returns the tool with d itself, which may be of any type. All calls
// share d, including concurrent ones.
func (t *Tool[D]) BindLocal(d D) *toolpost.Tool {
	return t.bind(func() (D, error) { return d, nil })
}

func (t *Tool[D]) bind(get func() (D, error)) *toolpost.Tool {
	c, next := *t.tool, t.tool.Handler
	c.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		d, err := get()
		if err != nil {
			return nil, err
		}
		return next(context.WithValue(ctx, key{}, &Context[D]{d}), call)
	}
	return &c
}

// Definition returns the definition of the tool.
func (t *Tool[D]) Definition() toolpost.Definition { return t.tool.Definition }

// Encode writes dependencies as JSON from which [Decode] restores them
// exactly. If a value would be restored as something else, the error is an
// *[UnsupportedTypeError]. Types with their own JSON or text methods are
// trusted to restore themselves. A value in a field of type any is restored as
// plain JSON, and a warning is logged. A field of another interface type is a
// *[TypeHintError]. A value that several pointers share is written once for
// each of them, so they point to separate copies afterwards.
func Encode(v any) (json.RawMessage, error) {
	if v == nil {
		return json.RawMessage("null"), nil
	}
	rt := &roundTrip{root: reflect.TypeOf(v)}
	data, err := rt.encode("", reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	if rt.loose != "" {
		slog.Default().Warn("dependencies contain a value of type any; its Go type is not restored", "type", rt.root.String(), "field", rt.loose)
	}
	return data, nil
}

// Decode restores what [Encode] wrote. It refuses JSON with members for
// which T has no field.
func Decode[T any](data []byte) (T, error) {
	if err := check(reflect.TypeFor[T]()); err != nil {
		var zero T
		return zero, err
	}
	return decode[T](data)
}
