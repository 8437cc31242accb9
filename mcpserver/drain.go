package mcpserver

import (
	"context"
	"net/http"
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
		<-s.core.owed.Idle()
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

// starts reports whether messages begin work: they have a call that does not go on with
// a parked one.
func (c *core) starts(msgs []wire.Message) bool {
	for i := range msgs {
		if m := &msgs[i]; ends(m) && !c.parked.resumes(m) {
			return true
		}
	}
	return false
}

// ends reports whether a message is a call that ends by itself.
func ends(m *wire.Message) bool { return m.IsCall() && m.Method != listenMethod }

// enter lets the messages of a request in, which start work or not. The returned
// function must be called when the request ends.
func (f *httpHandler) enter(w http.ResponseWriter, msgs []wire.Message, starts bool) (leave func(), not *refusal) {
	switch {
	case !starts && ends(&msgs[0]): // until its answer is written: the parked call ends before that
		f.core.owed.Add(1)
		return func() { f.core.owed.Add(-1) }, nil
	case !starts:
		return func() {}, nil
	case f.draining.mu.TryRLock():
		return f.draining.mu.RUnlock, nil
	}
	w.Header().Set("Retry-After", "5")
	return nil, newRefusal(http.StatusServiceUnavailable, "the server is stopping; connect again in a moment")
}
