package mcpserver

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/internal/wire"
)

// Drain refuses calls over HTTP that come from now on, and waits for those under way.
// Answers of clients to what these ask are taken. It reports whether the calls ended
// before ctx. Close must follow.
func (s *Server) Drain(ctx context.Context) bool {
	done := make(chan struct{})
	go func() {
		s.http.draining.mu.Lock() // and never unlocked
		<-s.core.running.Idle()   // also calls over SSE, whose requests have ended
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// A drain lets requests in that carry calls, until someone waits for the lock.
type drain struct{ mu sync.RWMutex }

// admit lets the messages of a request in. The returned function must be called when
// the request ends.
func (d *drain) admit(w http.ResponseWriter, msgs []wire.Message) (release func(), not *refusal) {
	calls := slices.ContainsFunc(msgs, func(m wire.Message) bool {
		return m.IsCall() && m.Method != listenMethod // which never ends by itself
	})
	switch {
	case !calls:
		return func() {}, nil
	case d.mu.TryRLock():
		return d.mu.RUnlock, nil
	}
	w.Header().Set("Retry-After", "5")
	return nil, refused(http.StatusServiceUnavailable, "the server is stopping; connect again in a moment")
}
