package toolpost

import (
	"context"
	"sync"
)

// A Toolset supplies tools, and may offer prompts and resources, and report changes. A type
// that has tools only embeds [Base]. A type that embeds a Toolset, to change one of its methods,
// keeps the others. All methods may be called concurrently.
type Toolset interface {
	// Tools returns the tools. The list may change from call to call; who gets it must not
	// change it or its tools. [Map] and [Wrap] change copies. A tool that has not changed is
	// the same pointer again: a [Live] takes any other for a change.
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

// A Base has the methods of a [Toolset] but for Tools, for a type that embeds it: no features,
// always ready, and events by Notify. The zero value is ready, and safe for concurrent use.
type Base struct {
	mu       sync.Mutex // held while they are called, so that they see events in order
	watchers map[*func(Event)]bool
}

// Features returns nil.
func (b *Base) Features() *Features { return nil }

// Ready returns nil.
func (b *Base) Ready(context.Context) error { return nil }

// Watch calls f with every later event until stop is called.
func (b *Base) Watch(f func(Event)) (stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watchers == nil {
		b.watchers = map[*func(Event)]bool{}
	}
	b.watchers[&f] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, &f)
	}
}

// Notify calls the watchers.
func (b *Base) Notify(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.watchers {
		(*f)(e)
	}
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
