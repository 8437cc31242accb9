package toolpost

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// A Live holds the current Set of a toolset that may change. It is a Toolset
// itself: of the tools of its current Set.
type Live struct {
	source  Toolset
	set     atomic.Pointer[Set]
	listing sync.Mutex // held while the source is listed, so that sets come in order
	mu      sync.Mutex // held while watchers run, so that they see sets in order
	watch   map[int]func(*Set)
	next    int
}

// NewLive lists ts and returns a Live with the first Set.
func NewLive(ctx context.Context, ts Toolset) (*Live, error) {
	l := &Live{source: ts, watch: map[int]func(*Set){}}
	if err := l.Refresh(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Set returns the current Set.
func (l *Live) Set() *Set { return l.set.Load() }

// Tools returns the tools of the current Set.
func (l *Live) Tools(ctx context.Context) ([]*Tool, error) { return l.Set().Tools(ctx) }

// Derive returns a Live of layer applied to l. It is refreshed whenever l is,
// before l's Refresh returns, until stop is called. If listing the layer fails
// then, the derived Live keeps its Set, and its own Refresh returns the reason.
func (l *Live) Derive(ctx context.Context, layer func(Toolset) Toolset) (derived *Live, stop func(), err error) {
	derived, err = NewLive(ctx, layer(l))
	if err != nil {
		return nil, nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stop = l.Watch(func(*Set) { _ = derived.Refresh(ctx) }) // who wants the reason of a failure refreshes again
	return derived, stop, nil
}

// Refresh lists the toolset again, and calls the watchers if the list has other
// tools than before. If listing fails, the current Set remains.
func (l *Live) Refresh(ctx context.Context) error {
	l.listing.Lock()
	defer l.listing.Unlock()
	s, err := NewSet(ctx, l.source)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.set.Load(); before != nil && slices.Equal(before.tools, s.tools) {
		return nil
	}
	l.set.Store(s)
	for _, f := range l.watch {
		f(s)
	}
	return nil
}

// Watch calls f with the current Set and with every later one, until stop is
// called. F must not call Refresh, Watch or Derive of this Live.
func (l *Live) Watch(f func(*Set)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.next
	l.next++
	l.watch[id] = f
	f(l.set.Load())
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watch, id)
	}
}
