package toolpost

import (
	"context"
	"fmt"
)

// A Toolset supplies tools, and may offer prompts and resources, and report changes. A type
// that has tools only embeds [Base]. A type that embeds a Toolset, to change one of its methods,
// keeps the others. All methods may be called concurrently.
type Toolset interface {
	// Tools returns the tools. The list may change from call to call.
	Tools(ctx context.Context) ([]*Tool, error)

	// Features returns the prompts and resources, nil if there are none. While
	// they are the same, it returns the same pointer.
	Features() *Features

	// Watch calls f with every event until stop is called. F must return soon,
	// and must call neither Watch nor stop.
	Watch(f func(Event)) (stop func())

	// Ready returns once the first lists are complete. An error is the reason
	// why they are not.
	Ready(ctx context.Context) error
}

// Tools is a fixed Toolset.
type Tools []*Tool

// Tools returns ts itself.
func (ts Tools) Tools(context.Context) ([]*Tool, error) { return ts, nil }

// Features returns nil.
func (ts Tools) Features() *Features { return nil }

// Watch does nothing: the tools do not change.
func (ts Tools) Watch(func(Event)) (stop func()) { return func() {} }

// Ready returns nil.
func (ts Tools) Ready(context.Context) error { return nil }

// A ToolsetFunc is a function used as a Toolset.
type ToolsetFunc func(ctx context.Context) ([]*Tool, error)

// Tools calls f.
func (f ToolsetFunc) Tools(ctx context.Context) ([]*Tool, error) { return f(ctx) }

// Features returns nil.
func (f ToolsetFunc) Features() *Features { return nil }

// Watch does nothing: a function reports no changes.
func (f ToolsetFunc) Watch(func(Event)) (stop func()) { return func() {} }

// Ready returns nil.
func (f ToolsetFunc) Ready(context.Context) error { return nil }

// Map returns ts with f applied to a copy of every tool. Tools for which f
// returns nil are left out. Map calls f once for each tool: a tool that ts lists
// again yields the same tool again, so that layers above can recognize it.
func Map(ts Toolset, f func(*Tool) *Tool) Toolset { return Layer(ts, eachTool(f), nil) }

func eachTool(f func(*Tool) *Tool) func([]*Tool) ([]*Tool, error) {
	var before map[*Tool]*Tool // of the last listing; nil for a tool that is left out
	return func(in []*Tool) ([]*Tool, error) {
		out, now := make([]*Tool, 0, len(in)), make(map[*Tool]*Tool, len(in))
		for i, t := range in {
			if t == nil {
				return nil, fmt.Errorf("tool %d of %d is nil", i+1, len(in))
			}
			result, known := before[t]
			if !known {
				c := *t
				result = f(&c)
			}
			if now[t] = result; result != nil {
				out = append(out, result)
			}
		}
		before = now
		return out, nil
	}
}

// Filter returns ts with the tools for which keep returns true. Prompts and
// resources all remain.
func Filter(ts Toolset, keep func(*Tool) bool) Toolset {
	return Map(ts, func(t *Tool) *Tool {
		if !keep(t) {
			return nil
		}
		return t
	})
}

// Prefix returns ts with prefix added before the name of every tool and prompt.
// Handlers still receive the name without it. Resources keep their URIs.
func Prefix(ts Toolset, prefix string) Toolset {
	return Layer(ts,
		eachTool(func(t *Tool) *Tool { return t.Rename(prefix + t.Name) }),
		func(f *Features) *Features {
			return f.change(func(p *Prompt) {
				p.Get = withName(p.Get, p.Name)
				p.Name = prefix + p.Name
			}, func(*Resource) {})
		})
}

// Rename returns t with a new name; its handler still receives the old one.
func (t *Tool) Rename(name string) *Tool {
	c := *t
	c.Name, c.Handler = name, withName(t.Handler, t.Name)
	return &c
}

// withName returns a handler that calls h under another name.
func withName(h Handler, name string) Handler {
	if h == nil {
		return nil
	}
	return func(ctx context.Context, call *Call) (*Result, error) {
		inner := *call
		inner.Name = name
		return h(ctx, &inner)
	}
}

// Wrap returns ts with middleware around every handler: of tools, prompts,
// resources, completions and extensions. Middleware sees each call after its
// arguments were validated and approved, and may change the call and its
// result, or answer itself. Subscriptions and notifications are not calls, and
// pass it by.
func Wrap(ts Toolset, middleware func(next Handler) Handler) Toolset {
	return Layer(ts, eachTool(func(t *Tool) *Tool {
		t.Handler = middleware(t.Handler)
		return t
	}), func(f *Features) *Features { return f.wrap(middleware) })
}
