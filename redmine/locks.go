package redmine

import (
	"context"
	"fmt"
	"sync"
)

// locks are one lock for each thing that is edited. Edits of different things do
// not wait for each other, and who waits gives up with its context.
type locks struct {
	mu   sync.Mutex
	held map[string]*heldLock
}

type heldLock struct {
	token chan struct{} // empty while somebody has the lock
	users int           // that have it or wait for it
}

// lock waits for the lock of a thing. The caller calls unlock once.
func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*heldLock{}
	}
	h := l.held[key]
	if h == nil {
		h = &heldLock{token: make(chan struct{}, 1)}
		h.token <- struct{}{}
		l.held[key] = h
	}
	h.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-h.token:
		return func() { h.token <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("wait for another edit of %s: %w", key, context.Cause(ctx))
	}
}
