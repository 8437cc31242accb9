package toolpost

import (
	"context"
	"slices"
	"sync"
)

// A Source is a Toolset that also offers prompts and resources, and reports what
// happens outside of calls. An upstream, a [Live] and every layer are Sources.
// A Toolset may have some of these methods only: [SourceOf] adds the others.
type Source interface {
	Toolset

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

// An Event is a change that a Source reports outside of calls. The zero Event
// reports that the result of Tools or Features has changed.
type Event struct {
	Server       string // the server that reports it, where a Source has several; "" if it has not
	Resource     string // the URI of a resource that has changed
	Notification *Call  // a notification of an extension, or a log message: Name is its method; for the client session Session, or for all if that is empty
}

// lists reports whether the lists have changed.
func (e Event) lists() bool { return e == Event{} }

// Watchers implement [Source].Watch for a type that embeds them. The zero value
// is ready, and safe for concurrent use.
type Watchers struct {
	mu  sync.Mutex // held while they are called, so that they see events in order
	all map[*func(Event)]bool
}

// Watch calls f with every later event until stop is called.
func (w *Watchers) Watch(f func(Event)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[*func(Event)]bool{}
	}
	w.all[&f] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, &f)
	}
}

// Notify calls the watchers.
func (w *Watchers) Notify(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.all {
		(*f)(e)
	}
}

// SourceOf returns ts as a Source. If ts lacks a method of Source, the result has
// no features, reports no events, or is always ready.
func SourceOf(ts Toolset) Source {
	if s, ok := ts.(Source); ok {
		return s
	}
	return partial{ts}
}

// A partial is a Toolset that may have some methods of a Source.
type partial struct{ Toolset }

func (p partial) Features() *Features {
	if ts, ok := p.Toolset.(interface{ Features() *Features }); ok {
		return ts.Features()
	}
	return nil
}

func (p partial) Watch(f func(Event)) (stop func()) {
	if ts, ok := p.Toolset.(interface{ Watch(func(Event)) func() }); ok {
		return ts.Watch(f)
	}
	return func() {}
}

func (p partial) Ready(ctx context.Context) error {
	if ts, ok := p.Toolset.(interface{ Ready(context.Context) error }); ok {
		return ts.Ready(ctx)
	}
	return nil
}

// Layer returns ts with its tools and features replaced by the results of the
// functions; a nil function changes nothing. Each function is called only when
// its input has changed, and never concurrently with itself; features is not
// called if ts has none. The functions must not modify their arguments.
func Layer(ts Toolset, tools func([]*Tool) ([]*Tool, error), features func(*Features) *Features) Source {
	return &layer{Source: SourceOf(ts), tools: tools, features: features}
}

type layer struct {
	Source
	tools    func([]*Tool) ([]*Tool, error)
	features func(*Features) *Features

	listing   sync.Mutex
	in, out   []*Tool // of the last listing
	mu        sync.Mutex
	from, own *Features
}

func (l *layer) Tools(ctx context.Context) ([]*Tool, error) {
	in, err := l.Source.Tools(ctx)
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
	f := l.Source.Features()
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
