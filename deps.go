package toolpost

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
)

// An Unbound is a tool that needs a D before it can run: a configuration, an
// account, a table of prices. What is bound is data, given by value; for what
// is opened and closed, such as a client, see [Dep].
//
// Experimental: it may change.
type Unbound[D any] struct {
	tool *Tool
}

// A DepsContext gives a handler what its tool was bound to.
//
// Experimental: it may change.
type DepsContext[D any] struct {
	deps D
}

// Deps returns the dependencies. After [Unbound.Bind] they are the call's own:
// to change them changes nothing elsewhere.
func (c *DepsContext[D]) Deps() D { return c.deps }

// depsKey is where a bound tool finds its *DepsContext[D].
type depsKey struct{}

// NewWithDeps is [New] for a function that needs dependencies. The tool runs
// once they are bound.
//
// Experimental: it may change.
func NewWithDeps[D, In, Out any](name, description string, fn func(context.Context, *DepsContext[D], In) (Out, error), opts *Options) *Unbound[D] {
	return &Unbound[D]{New(name, description, func(ctx context.Context, in In) (Out, error) {
		deps, _ := ctx.Value(depsKey{}).(*DepsContext[D]) // bind put it there
		return fn(ctx, deps, in)
	}, opts)}
}

// Bind returns the tool with a copy of d, made by [EncodeDeps]: what is changed
// in d later does not reach the tool, and what a call changes in its
// dependencies does not reach the next. What cannot be copied so is an
// *[UnsupportedDepsTypeError] or a *[TypeHintError].
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

// BindLocal returns the tool with d itself, of any type. Calls share it, also
// those that run at once.
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
// exactly; what would come back as something else is an
// *[UnsupportedDepsTypeError]. Types with JSON or text methods are taken at
// their word. A value in a field of type any comes back as plain JSON does, and
// is warned of; a field of another interface type is a *[TypeHintError]. What
// several pointers point to is written for each: they point to copies then.
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

// DecodeDeps restores what [EncodeDeps] wrote. JSON with members that T has no
// field for is refused.
func DecodeDeps[T any](data []byte) (T, error) {
	if err := checkDeps(reflect.TypeFor[T]()); err != nil {
		var zero T
		return zero, err
	}
	return decodeDeps[T](data)
}
