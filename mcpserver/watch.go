package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

const (
	// watchTime bounds one call of Features.Subscribe.
	watchTime = 10 * time.Second
	// maxWatched is how many bytes of URIs one listener may watch.
	maxWatched = 64 << 10
)

var errPanicked = errors.New("the source of the resource failed")

// watchers know which listeners watch which resource. The source of a resource
// is asked for updates by its first listener, and by nobody after the last.
type watchers struct {
	core *core
	mu   sync.Mutex
	uris map[string]*watched
}

// A watched is one resource. Its turn is held while its source is asked, so
// that these requests stay in order; other resources do not wait.
type watched struct {
	turn      sync.Mutex
	uses      int                // of this struct; guarded by watchers.mu
	listeners map[*listener]bool // guarded by watchers.mu
}

// lock returns the resource, with its turn. The returned function ends it.
func (w *watchers) lock(uri string) (*watched, func()) {
	w.mu.Lock()
	r := w.uris[uri]
	if r == nil {
		r = &watched{listeners: map[*listener]bool{}}
		w.uris[uri] = r
	}
	r.uses++
	w.mu.Unlock()
	r.turn.Lock()
	return r, func() {
		r.turn.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.uses--; r.uses == 0 && len(r.listeners) == 0 {
			delete(w.uris, uri)
		}
	}
}

// join adds a listener of a resource, and reports whether it is the first.
func (w *watchers) join(r *watched, l *listener) (first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.listeners[l] = true
	return len(r.listeners) == 1
}

// part removes a listener of a resource, and reports whether it was the last.
func (w *watchers) part(r *watched, l *listener) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !r.listeners[l] {
		return false
	}
	delete(r.listeners, l)
	return len(r.listeners) == 0
}

func (w *watchers) subscribe(ctx context.Context, l *listener, uri string) error {
	if w.core.features.Load().Subscribe == nil {
		return wire.Errorf(wire.CodeMethodNotFound, "resources cannot be watched here")
	}
	if !l.watch(uri) {
		return wire.Errorf(wire.CodeInvalidParams, "the session watches too many resources; end a subscription first")
	}
	r, unlock := w.lock(uri)
	defer unlock()
	first := w.join(r, l)
	if l.isGone() { // forget may have been here already
		w.part(r, l)
		return wire.Errorf(wire.CodeInternal, "the session has ended")
	}
	if !first {
		return nil
	}
	err := errPanicked
	defer func() {
		if err != nil {
			w.part(r, l)
			l.unwatch(uri)
		}
	}()
	if err = w.ask(ctx, uri, true); err != nil {
		return faultOf(&request{Message: wire.Message{Method: readResource, Call: wire.Call{URI: uri}}}, err)
	}
	return nil
}

func (w *watchers) unsubscribe(ctx context.Context, l *listener, uri string) {
	l.unwatch(uri)
	w.leave(ctx, l, uri)
}

// forget ends all that a listener watches.
func (w *watchers) forget(l *listener) {
	for _, uri := range l.leave() {
		w.leave(context.Background(), l, uri)
	}
}

func (w *watchers) leave(ctx context.Context, l *listener, uri string) {
	r, unlock := w.lock(uri)
	defer unlock()
	if !w.part(r, l) {
		return
	}
	if err := w.ask(ctx, uri, false); err != nil {
		w.core.log.Warn("resource is still watched", "uri", clip(uri), "err", err)
	}
}

// ask asks the source of a resource for updates, or for no more of them.
func (w *watchers) ask(ctx context.Context, uri string, on bool) error {
	f := w.core.features.Load()
	if f.Subscribe == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchTime)
	defer cancel()
	return f.Subscribe(ctx, uri, on)
}

// updated tells the listeners of a resource that it has changed.
func (w *watchers) updated(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.uris[uri]; r != nil {
		for l := range r.listeners {
			l.mark(0, uri)
		}
	}
}

// watch records that a listener watches a resource, unless it watches too many.
func (l *listener) watch(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, watches := l.watched[uri]; watches {
		return true
	}
	total := len(uri)
	for u := range l.watched {
		total += len(u)
	}
	if total > maxWatched {
		return false
	}
	if l.watched == nil {
		l.watched = map[string]bool{}
	}
	l.watched[uri] = false
	return true
}

func (l *listener) unwatch(uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watched, uri)
}

// leave ends the listener, and returns what it watched.
func (l *listener) leave() (uris []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	for uri := range l.watched {
		uris = append(uris, uri)
	}
	return uris
}

func (l *listener) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}
