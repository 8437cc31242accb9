package mcpserver

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// watchTime bounds one call of Features.Subscribe.
const watchTime = 10 * time.Second

// watchers ask the source of a resource for updates when its first listener
// comes, and for no more of them when the last one has left.
type watchers struct {
	core *core

	mu    sync.Mutex
	turns map[string]chan struct{} // by URI, while its source is asked; closed after that
	asked map[string]askedViews
}

// askedViews are the views whose sources were asked for updates of a resource, with the
// features by which they were asked. A view that is not used elsewhere any more is
// forgotten.
type askedViews map[weak.Pointer[view]]weak.Pointer[toolpost.Features]

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

// subscribe makes a listener hear of a resource that its view has. Views that have the
// same features share one request to the source.
func (w *watchers) subscribe(ctx context.Context, l *listener, v *view, uri string) error {
	release, err := w.take(ctx, uri)
	if err != nil {
		return err
	}
	defer release()
	if v.catalog.Load().Subscribe == nil {
		return wire.Errorf(wire.CodeMethodNotFound, "resources cannot be watched here")
	}
	if err := w.core.changes.join(l, topic{resourceUpdated, uri}); err != nil {
		return err
	}
	watched := false
	defer func() {
		if !watched { // also after a panic
			w.part(ctx, l, uri)
		}
	}()
	if err := w.ask(ctx, v, uri); err != nil {
		return faultOf(&request{Message: &wire.Message{Method: readResource, Call: wire.Call{URI: uri}}, peer: &peer{}}, err)
	}
	watched = true
	return nil
}

// ask asks the source of a view for updates of a resource. The caller has the turn of
// the resource.
func (w *watchers) ask(ctx context.Context, v *view, uri string) error {
	f := v.catalog.Load().Features
	if f.Subscribe == nil {
		return toolpost.ErrNotFound
	}
	asked := w.askedFor(uri)
	maps.DeleteFunc(asked, func(v weak.Pointer[view], _ weak.Pointer[toolpost.Features]) bool { return v.Value() == nil })
	by := weak.Make(f)
	if !slices.Contains(slices.Collect(maps.Values(asked)), by) { // whether a view has the resource may have changed
		if err := watch(ctx, f, uri, true); err != nil {
			return err
		}
	}
	asked[weak.Make(v)] = by
	return nil
}

// move asks the source of a listener's new view for updates of what the listener
// watches. If the view does not have a resource, the listener hears nothing of it.
func (w *watchers) move(l *listener, v *view, uris []string) {
	defer logPanic(w.core.log, "resources are not watched again")
	for _, uri := range uris {
		release, err := w.take(w.core.life, uri)
		if err != nil {
			return
		}
		if w.core.life.Err() == nil && w.core.changes.watches(l, v, uri) {
			if err := w.ask(w.core.life, v, uri); err != nil {
				w.core.log.Debug("a resource is not watched in another view", "uri", clip(uri), "err", clip(err.Error()))
			}
		}
		release()
	}
}

func (w *watchers) unsubscribe(ctx context.Context, l *listener, uri string) error {
	release, err := w.take(ctx, uri)
	if err != nil {
		return err
	}
	defer release()
	w.part(ctx, l, uri)
	return nil
}

// part ends the subscription of a listener. After the last one, the sources are asked
// for no more updates. The caller has the turn of the resource.
func (w *watchers) part(ctx context.Context, l *listener, uri string) {
	if !w.core.changes.part(l, uri) {
		return
	}
	sources := map[*toolpost.Features]bool{}
	for asked := range w.askedFor(uri) {
		if v := asked.Value(); v != nil {
			sources[v.catalog.Load().Features] = true
		}
	}
	w.mu.Lock()
	delete(w.asked, uri)
	w.mu.Unlock()
	for f := range sources {
		if f.Subscribe == nil {
			continue
		}
		if err := watch(ctx, f, uri, false); err != nil && w.core.life.Err() == nil {
			w.core.log.Warn("resource is still watched", "uri", clip(uri), "err", err)
		}
	}
}

// askedFor returns the views whose sources were asked for updates of a resource. The
// caller has the turn of the resource.
func (w *watchers) askedFor(uri string) askedViews {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked[uri] == nil {
		w.asked[uri] = askedViews{}
	}
	return w.asked[uri]
}

// leave ends the subscriptions of a listener that has ended.
func (w *watchers) leave(l *listener, uris []string) {
	for _, uri := range uris {
		_ = w.unsubscribe(context.Background(), l, uri) // it fails only with its context
	}
}

// watch asks the source of a resource for updates, or for no more of them.
func watch(ctx context.Context, f *toolpost.Features, uri string, on bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchTime)
	defer cancel()
	return f.Subscribe(ctx, uri, on)
}
