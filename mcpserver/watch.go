package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// watchTime bounds one call of Features.Subscribe.
const watchTime = 10 * time.Second

var errPanicked = errors.New("the source of the resource failed")

// watchers ask the source of a resource for updates when its first listener
// comes, and for no more of them when the last one has left.
type watchers struct {
	core  *core
	mu    sync.Mutex
	turns map[string]*turn // by URI
}

// A turn is held while the source of a resource is asked, so that these
// requests stay in order; other resources do not wait.
type turn struct {
	taken chan struct{} // full while a goroutine has the turn
	uses  int           // guarded by watchers.mu
}

// take takes the turn of a resource. The returned function gives it back.
func (w *watchers) take(ctx context.Context, uri string) (release func(), err error) {
	w.mu.Lock()
	t := w.turns[uri]
	if t == nil {
		t = &turn{taken: make(chan struct{}, 1)}
		w.turns[uri] = t
	}
	t.uses++
	w.mu.Unlock()
	done := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if t.uses--; t.uses == 0 {
			delete(w.turns, uri)
		}
	}
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken; done() }, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}

func (w *watchers) subscribe(ctx context.Context, l *listener, uri string) error {
	if w.core.features().Subscribe == nil {
		return wire.Errorf(wire.CodeMethodNotFound, "resources cannot be watched here")
	}
	release, err := w.take(ctx, uri)
	if err != nil {
		return err
	}
	defer release()
	resource := topic{resourceUpdated, uri}
	first, err := w.core.changes.join(l, resource)
	if err != nil || !first {
		return err
	}
	err = errPanicked
	defer func() {
		if err != nil {
			w.core.changes.part(l, resource)
		}
	}()
	if err = w.ask(ctx, uri, true); err != nil {
		return faultOf(&request{Message: &wire.Message{Method: readResource, Call: wire.Call{URI: uri}}, peer: &peer{}}, err)
	}
	return nil
}

func (w *watchers) unsubscribe(ctx context.Context, l *listener, uri string) error {
	release, err := w.take(ctx, uri)
	if err != nil {
		return err
	}
	defer release()
	if !w.core.changes.part(l, topic{resourceUpdated, uri}) {
		return nil
	}
	if err := w.ask(ctx, uri, false); err != nil && w.core.life.Err() == nil {
		w.core.log.Warn("resource is still watched", "uri", clip(uri), "err", err)
	}
	return nil
}

// leave ends what a listener watches that has ended.
func (w *watchers) leave(l *listener, uris []string) {
	for _, uri := range uris {
		_ = w.unsubscribe(context.Background(), l, uri) // it fails only with its context
	}
}

// ask asks the source of a resource for updates, or for no more of them.
func (w *watchers) ask(ctx context.Context, uri string, on bool) error {
	f := w.core.features()
	if f.Subscribe == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchTime)
	defer cancel()
	return f.Subscribe(ctx, uri, on)
}
