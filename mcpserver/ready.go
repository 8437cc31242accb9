package mcpserver

import (
	"context"
	"sync"
	"time"
)

// How long a client that comes early waits until everything is there that it
// asks for. Many clients list once, right after they have started the server.
const (
	initializeTime = time.Second
	listTime       = 5 * time.Second
	maxWaiting     = 1000 // clients that are remembered
)

// readiness knows whether what is served is complete.
type readiness struct {
	wait func(context.Context) error
	life context.Context
	once sync.Once
	done chan struct{} // closed when it is complete

	mu    sync.Mutex
	until map[string]time.Time // by the client that asks
}

func newReadiness(life context.Context, wait func(context.Context) error) *readiness {
	return &readiness{wait: wait, life: life, done: make(chan struct{}), until: map[string]time.Time{}}
}

// await returns when what is served is complete, and at the latest when limit
// has passed since the same key waited first.
func (r *readiness) await(ctx context.Context, key string, limit time.Duration) {
	r.once.Do(func() { go r.follow() })
	select {
	case <-r.done:
		return
	default:
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	case <-time.After(r.timeLeft(key, limit)):
	}
}

func (r *readiness) follow() {
	_ = r.wait(r.life) // a source that is not ready has listed what it can
	close(r.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = nil
}

// timeLeft returns how long the key may still wait.
func (r *readiness) timeLeft(key string, limit time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, known := r.until[key]
	if !known {
		if r.until == nil || len(r.until) >= maxWaiting {
			return 0
		}
		until = time.Now().Add(limit)
		r.until[key] = until
	}
	return time.Until(until)
}

// awaitList makes a list wait, unless it is complete, and a method that a server
// may declare.
func (r *readiness) awaitList(ctx context.Context, method, session string) {
	if topicOf(method) != (topic{}) || !isServed(method) {
		r.await(ctx, "list "+session, listTime)
	}
}
