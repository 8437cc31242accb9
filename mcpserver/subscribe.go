package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// watchTime bounds one call of Features.Subscribe.
const watchTime = 10 * time.Second

// watchers ask the source of a resource for updates when its first listener
// comes, and for no more of them when the last one has left.
type watchers struct {
	core  *core
	mu    sync.Mutex
	turns map[string]chan struct{} // by URI, while its source is asked; closed after that
}

// take takes the turn to ask the source of a resource, so that such requests stay
// in order; other resources do not wait. The returned function gives it back.
func (w *watchers) take(ctx context.Context, uri string) (release func(), err error) {
	for {
		w.mu.Lock()
		taken := w.turns[uri]
		if taken == nil {
			w.turns[uri] = make(chan struct{})
			w.mu.Unlock()
			return func() { w.giveBack(uri) }, nil
		}
		w.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (w *watchers) giveBack(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.turns[uri])
	delete(w.turns, uri)
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
	watched := false
	defer func() {
		if !watched { // also after a panic
			w.core.changes.part(l, resource)
		}
	}()
	if err := w.ask(ctx, uri, true); err != nil {
		return faultOf(&request{Message: &wire.Message{Method: readResource, Call: wire.Call{URI: uri}}, peer: &peer{}}, err)
	}
	watched = true
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

// leave ends the subscriptions of a listener that has ended.
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
