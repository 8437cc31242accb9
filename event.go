package toolpost

import (
	"context"
	"sync"
)

// An Event is a change that a Toolset reports outside of calls. The zero Event
// reports that the result of Tools or Features has changed.
type Event struct {
	Server       string // the server that reports it, where a Toolset has several; "" if it has not
	Resource     string // the URI of a resource that has changed
	Notification *Call  // a notification of an extension, or a log message: Name is its method; for the client session Session, or for all if that is empty
}

// lists reports whether the lists have changed.
func (e Event) lists() bool { return e == Event{} }

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
