package toolpost

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Layer returns ts with its tools and features replaced by the results of the
// functions; a nil function changes nothing. Each function is called only when
// its input has changed, and never concurrently with itself; features is not
// called if ts has none. The functions must not modify their arguments.
func Layer(ts Toolset, tools func([]*Tool) ([]*Tool, error), features func(*Features) *Features) Toolset {
	return &layer{Toolset: ts, tools: tools, features: features}
}

type layer struct {
	Toolset
	tools    func([]*Tool) ([]*Tool, error)
	features func(*Features) *Features

	listing   sync.Mutex
	in, out   []*Tool // of the last listing
	mu        sync.Mutex
	from, own *Features
}

func (l *layer) Tools(ctx context.Context) ([]*Tool, error) {
	in, err := l.Toolset.Tools(ctx)
	if err != nil || l.tools == nil {
		return in, err
	}
	l.listing.Lock()
	defer l.listing.Unlock()
	if l.out != nil && slices.Equal(in, l.in) {
		return l.out, nil
	}
	out, err := l.tools(in)
	if err != nil {
		return nil, err
	}
	l.in, l.out = slices.Clone(in), out
	return out, nil
}

func (l *layer) Features() *Features {
	f := l.Toolset.Features()
	if f == nil || l.features == nil {
		return f
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f != l.from {
		l.from, l.own = f, l.features(f)
	}
	return l.own
}

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

// A Middleware returns a handler that runs around next: it may change the call and its
// result, or answer itself.
type Middleware func(next Handler) Handler

// Wrap returns ts with middleware around every handler: of tools, prompts,
// resources, completions and extensions. Middleware sees each call after its
// arguments were validated and approved, and may change the call and its
// result, or answer itself. Subscriptions and notifications are not calls, and
// pass it by. Call.Name is the name of a tool or prompt, the URI of a resource, or
// the method of an extension, and does not say which: to run around tools alone,
// change their Handler with Map.
//
// The first middleware runs around the others.
func Wrap(ts Toolset, middleware ...Middleware) Toolset {
	all := func(next Handler) Handler {
		for _, m := range slices.Backward(middleware) {
			next = m(next)
		}
		return next
	}
	return Layer(ts, eachTool(func(t *Tool) *Tool {
		t.Handler = all(t.Handler)
		return t
	}), func(f *Features) *Features { return f.wrap(all) })
}
