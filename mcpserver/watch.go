package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watchTime bounds one call of Features.Subscribe.
const watchTime = 10 * time.Second

// watchers know who watches which resource, so that its source is asked by
// the first and left by the last.
type watchers struct {
	core     *core
	mu       sync.Mutex     // held while a source is asked: on and off stay in order
	uris     map[string]int // sessions that watch
	sessions map[*mcp.ServerSession]map[string]bool
}

func newWatchers(c *core) *watchers {
	return &watchers{core: c, uris: map[string]int{}, sessions: map[*mcp.ServerSession]map[string]bool{}}
}

func (w *watchers) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	if w.core.features.Load().Subscribe == nil {
		return rpcError(jsonrpc.CodeMethodNotFound, "resources cannot be watched here")
	}
	uri := req.Params.URI
	w.mu.Lock()
	defer w.mu.Unlock()
	own := w.sessions[req.Session]
	if own[uri] {
		return nil
	}
	if w.uris[uri] == 0 {
		if err := w.tell(ctx, uri, true); err != nil {
			return toFault(&request{message: message{method: readResource, name: uri}}, err)
		}
	}
	if own == nil {
		own = map[string]bool{}
		w.sessions[req.Session] = own
		go func() {
			_ = req.Session.Wait() // why it ended does not matter
			w.forget(req.Session)
		}()
	}
	own[uri] = true
	w.uris[uri]++
	return nil
}

func (w *watchers) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(ctx, req.Session, req.Params.URI)
	return nil
}

// forget ends all that a session watches.
func (w *watchers) forget(s *mcp.ServerSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri := range w.sessions[s] {
		w.leave(context.Background(), s, uri)
	}
	delete(w.sessions, s)
}

func (w *watchers) leave(ctx context.Context, s *mcp.ServerSession, uri string) {
	if !w.sessions[s][uri] {
		return
	}
	delete(w.sessions[s], uri)
	if w.uris[uri]--; w.uris[uri] > 0 {
		return
	}
	delete(w.uris, uri)
	if err := w.tell(ctx, uri, false); err != nil {
		w.core.log.Warn("resource is still watched", "uri", uri, "err", err)
	}
}

func (w *watchers) tell(ctx context.Context, uri string, on bool) error {
	f := w.core.features.Load()
	if f.Subscribe == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchTime)
	defer cancel()
	return f.Subscribe(ctx, uri, on)
}
