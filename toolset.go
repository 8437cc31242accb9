package toolpost

import (
	"context"
	"fmt"
	"sync"
)

// A Toolset supplies tools. The list may change from call to call.
type Toolset interface {
	Tools(ctx context.Context) ([]*Tool, error)
}

// Tools is a fixed Toolset.
type Tools []*Tool

// Tools returns ts itself.
func (ts Tools) Tools(context.Context) ([]*Tool, error) { return ts, nil }

// A ToolsetFunc is a function used as a Toolset.
type ToolsetFunc func(ctx context.Context) ([]*Tool, error)

// Tools calls f.
func (f ToolsetFunc) Tools(ctx context.Context) ([]*Tool, error) { return f(ctx) }

// Map returns a Toolset with f applied to a copy of every tool. Tools for which
// f returns nil are left out. Map calls f once for each tool: a tool that ts
// lists again yields the same tool again, so that layers above can recognize it.
func Map(ts Toolset, f func(*Tool) *Tool) Toolset { return &mapped{source: ts, change: f} }

type mapped struct {
	source Toolset
	change func(*Tool) *Tool

	mu      sync.Mutex
	results map[*Tool]*Tool // of the last listing; nil for a tool that is left out
}

// Tools lists the source.
func (m *mapped) Tools(ctx context.Context) ([]*Tool, error) {
	in, err := m.source.Tools(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out, results := make([]*Tool, 0, len(in)), make(map[*Tool]*Tool, len(in))
	for i, t := range in {
		if t == nil {
			return nil, fmt.Errorf("tool %d of %d is nil", i+1, len(in))
		}
		result, known := m.results[t]
		if !known {
			c := *t
			result = m.change(&c)
		}
		if results[t] = result; result != nil {
			out = append(out, result)
		}
	}
	m.results = results
	return out, nil
}

// Filter returns the tools of ts for which keep returns true.
func Filter(ts Toolset, keep func(*Tool) bool) Toolset {
	return Map(ts, func(t *Tool) *Tool {
		if !keep(t) {
			return nil
		}
		return t
	})
}

// Prefix returns ts with prefix added before every tool's name. Handlers still
// receive the name without it.
func Prefix(ts Toolset, prefix string) Toolset {
	return Map(ts, func(t *Tool) *Tool { return Rename(t, prefix+t.Name) })
}

// Rename returns t with a new name; its handler still receives the old one.
func Rename(t *Tool, name string) *Tool {
	old, next := t.Name, t.Handler
	c := *t
	c.Name = name
	c.Handler = func(ctx context.Context, call *Call) (*Result, error) {
		inner := *call
		inner.Name = old
		return next(ctx, &inner)
	}
	return &c
}

// Wrap returns ts with middleware around the handler of every tool. Middleware
// sees each call after its arguments were validated and approved, and may
// change the call and its result, or answer itself.
func Wrap(ts Toolset, middleware func(next Handler) Handler) Toolset {
	return Map(ts, func(t *Tool) *Tool {
		t.Handler = middleware(t.Handler)
		return t
	})
}

// Join returns a Toolset with the tools of all sets, in order.
func Join(sets ...Toolset) Toolset {
	return ToolsetFunc(func(ctx context.Context) ([]*Tool, error) {
		var all []*Tool
		for _, ts := range sets {
			tools, err := ts.Tools(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, tools...)
		}
		return all, nil
	})
}
