package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// watchTime bounds one call of Features.Subscribe.
	watchTime = 10 * time.Second
	// maxWatched is how many bytes of URIs one session may watch.
	maxWatched = 64 << 10
)

// watchers know which sessions watch which resource, so that its source is
// asked by the first and left by the last.
type watchers struct {
	core *core
	mu   sync.Mutex
	uris map[string]*watched
}

// watched is one resource. Its lock is held while its source is asked, so that
// on and off stay in order; other resources do not wait.
type watched struct {
	uses     int // of this struct; guarded by watchers.mu
	mu       sync.Mutex
	sessions map[*session]bool
}

func newWatchers(c *core) *watchers {
	return &watchers{core: c, uris: map[string]*watched{}}
}

// lock returns the resource, locked. The returned function unlocks it.
func (w *watchers) lock(uri string) (*watched, func()) {
	w.mu.Lock()
	r := w.uris[uri]
	if r == nil {
		r = &watched{sessions: map[*session]bool{}}
		w.uris[uri] = r
	}
	r.uses++
	w.mu.Unlock()
	r.mu.Lock()
	return r, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.uses--; r.uses == 0 && len(r.sessions) == 0 {
			delete(w.uris, uri)
		}
		r.mu.Unlock()
	}
}

func (w *watchers) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	if w.core.features.Load().Subscribe == nil {
		return rpcError(jsonrpc.CodeMethodNotFound, "resources cannot be watched here")
	}
	s, uri := w.core.sessions.of(req.Session), req.Params.URI
	if s == nil {
		return rpcError(jsonrpc.CodeInternalError, "the session has ended")
	}
	if !s.watch(uri) {
		return rpcError(jsonrpc.CodeInvalidParams, "the session watches too many resources; end a subscription first")
	}
	r, unlock := w.lock(uri)
	defer unlock()
	switch {
	case s.ctx.Err() != nil: // forget may have been here already
		return rpcError(jsonrpc.CodeInternalError, "the session has ended")
	case len(r.sessions) > 0:
	default:
		if err := w.tell(ctx, uri, true); err != nil {
			s.unwatch(uri)
			return toFault(&request{message: message{method: readResource, name: uri}}, err)
		}
	}
	r.sessions[s] = true
	return nil
}

func (w *watchers) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	if s := w.core.sessions.of(req.Session); s != nil {
		s.unwatch(req.Params.URI)
		w.leave(ctx, s, req.Params.URI)
	}
	return nil
}

// forget ends all that a session watches.
func (w *watchers) forget(s *session) {
	for _, uri := range s.watching() {
		w.leave(context.Background(), s, uri)
	}
}

func (w *watchers) leave(ctx context.Context, s *session, uri string) {
	r, unlock := w.lock(uri)
	defer unlock()
	if !r.sessions[s] {
		return
	}
	if delete(r.sessions, s); len(r.sessions) > 0 {
		return
	}
	if err := w.tell(ctx, uri, false); err != nil {
		w.core.log.Warn("resource is still watched", "uri", clip(uri), "err", err)
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

// watch records that the session watches a resource, unless it watches too many.
func (s *session) watch(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := len(uri)
	for u := range s.watches {
		total += len(u)
	}
	if total > maxWatched {
		return s.watches[uri]
	}
	s.watches[uri] = true
	return true
}

func (s *session) unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches, uri)
}

func (s *session) watching() (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.watches {
		uris = append(uris, uri)
	}
	return uris
}
