package toolpost

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// A Live holds the current Set of a toolset that may change. It is a [Toolset]
// itself: layers over it, and a Live of these layers, follow it. It is safe for concurrent use.
type Live struct {
	source   Toolset
	set      atomic.Pointer[Set]
	listing  sync.Mutex // held while the source is listed, so that sets come in order
	watchers Base
	stop     func()
}

// NewLive lists ts and returns a Live with the first Set. The Live
// follows the events of ts until Close. The error is that of [NewSet].
func NewLive(ctx context.Context, ts Toolset) (*Live, error) {
	l := &Live{source: ts}
	later := context.WithoutCancel(ctx)
	l.stop = l.source.Watch(func(e Event) {
		if e.lists() {
			l.follow(later)
		} else {
			l.watchers.Notify(e)
		}
	})
	if err := l.Refresh(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Set returns the current Set.
func (l *Live) Set() *Set { return l.set.Load() }

// Call runs a tool of the current Set, see [Set.Call].
func (l *Live) Call(ctx context.Context, call *Call) (*Result, error) { return l.Set().Call(ctx, call) }

// CallText runs a tool of the current Set, see [Set.CallText].
func (l *Live) CallText(ctx context.Context, name string, args any) (string, error) {
	return l.Set().CallText(ctx, name, args)
}

// Lookup returns the tool of the current Set with that name, or nil if there is none.
func (l *Live) Lookup(name string) *Tool { return l.Set().Lookup(name) }

// Tools returns the tools of the current Set.
func (l *Live) Tools(ctx context.Context) ([]*Tool, error) { return l.Set().Tools(ctx) }

// Features returns the prompts and resources of the current Set, nil if it has
// none.
func (l *Live) Features() *Features { return l.Set().Features() }

// Ready waits until the source is ready, and refreshes. The error is the
// source's.
func (l *Live) Ready(ctx context.Context) error {
	err := l.source.Ready(ctx)
	l.follow(ctx)
	return err
}

// Watch calls f with every event of the source until stop is called, and with
// the zero Event after the Set has changed. F must not call Refresh or Watch of
// this Live.
func (l *Live) Watch(f func(Event)) (stop func()) { return l.watchers.Watch(f) }

// Close stops following the source. The current Set remains.
func (l *Live) Close() { l.stop() }

// Refresh lists the source again, and notifies the watchers if the list has
// changed. If listing fails, the current Set remains.
func (l *Live) Refresh(ctx context.Context) error {
	l.listing.Lock()
	defer l.listing.Unlock()
	s, err := NewSet(ctx, l.source)
	if err != nil {
		return err
	}
	if before := l.Set(); before != nil && before.features == s.features && slices.Equal(before.tools, s.tools) {
		return nil
	}
	l.set.Store(s)
	l.watchers.Notify(Event{})
	return nil
}

// follow refreshes after an event of the source. A layer that panics must not
// end the source.
func (l *Live) follow(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			log(ctx, "panic while tools are listed", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if err := l.Refresh(ctx); err != nil {
		log(ctx, "tools are not listed again", "err", err)
	}
}
