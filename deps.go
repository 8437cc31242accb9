package toolpost

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
)

// An Unbound is a tool that needs a value of type D before it can run: a
// configuration, an account, a table of prices. D is data that is passed by
// value; for something that is opened and closed, such as a client, see [Dep].
//
// Experimental: it may change.
type Unbound[D any] struct {
	tool *Tool
}

// A DepsContext gives a handler the dependencies that its tool was bound to.
//
// Experimental: it may change.
type DepsContext[D any] struct {
	deps D
}

// Deps returns the dependencies. After [Unbound.Bind] they are a copy for this
// call; a change to them affects nothing else.
func (c *DepsContext[D]) Deps() D { return c.deps }

// depsKey is where a bound tool finds its *DepsContext[D].
type depsKey struct{}

// NewWithDeps is [New] for a function that needs dependencies. The tool can run
// once they are bound.
//
// Experimental: it may change.
func NewWithDeps[D, In, Out any](name, description string, fn func(context.Context, *DepsContext[D], In) (Out, error), opts *Options) *Unbound[D] {
	return &Unbound[D]{New(name, description, func(ctx context.Context, in In) (Out, error) {
		deps, _ := ctx.Value(depsKey{}).(*DepsContext[D]) // bind put it there
		return fn(ctx, deps, in)
	}, opts)}
}

// Bind returns the tool with a copy of d, made by [EncodeDeps]. Later changes
// to d do not affect the tool, and changes that a call makes to its
// dependencies do not affect other calls. If d cannot be copied in this way,
// the error is an *[UnsupportedDepsTypeError] or a *[TypeHintError].
func (u *Unbound[D]) Bind(d D) (*Tool, error) {
	fail := func(err error) (*Tool, error) { return nil, fmt.Errorf("bind tool %s: %w", u.tool.Name, err) }
	if err := checkDeps(reflect.TypeFor[D]()); err != nil {
		return fail(err)
	}
	data, err := EncodeDeps(d)
	if err != nil {
		return fail(err)
	}
	return u.bind(func() (D, error) { return decodeDeps[D](data) }), nil
}

// BindLocal returns the tool with d itself, which may be of any type. All calls
// share d, including concurrent ones.
func (u *Unbound[D]) BindLocal(d D) *Tool {
	return u.bind(func() (D, error) { return d, nil })
}

func (u *Unbound[D]) bind(get func() (D, error)) *Tool {
	c, next := *u.tool, u.tool.Handler
	c.Handler = func(ctx context.Context, call *Call) (*Result, error) {
		d, err := get()
		if err != nil {
			return nil, err
		}
		return next(context.WithValue(ctx, depsKey{}, &DepsContext[D]{d}), call)
	}
	return &c
}

func (u *Unbound[D]) unbound() *Tool { return u.tool }

// EncodeDeps writes dependencies as JSON from which [DecodeDeps] restores them
// exactly. If a value would be restored as something else, the error is an
// *[UnsupportedDepsTypeError]. Types with their own JSON or text methods are
// trusted to restore themselves. A value in a field of type any is restored as
// plain JSON, and a warning is logged. A field of another interface type is a
// *[TypeHintError]. A value that several pointers share is written once for
// each of them, so they point to separate copies afterwards.
func EncodeDeps(v any) (json.RawMessage, error) {
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

// DecodeDeps restores what [EncodeDeps] wrote. It refuses JSON with members for
// which T has no field.
func DecodeDeps[T any](data []byte) (T, error) {
	if err := checkDeps(reflect.TypeFor[T]()); err != nil {
		var zero T
		return zero, err
	}
	return decodeDeps[T](data)
}
