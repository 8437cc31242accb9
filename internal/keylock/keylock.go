// Package keylock locks things by name within this process.
package keylock

import (
	"context"
	"sync"
)

// Locks are one lock for each name. A caller waits for the lock of its name only, and
// gives up with its context. A lock exists only while it is in use. The zero value is
// ready.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	free  chan struct{} // holds one value while no caller has the lock
	users int           // that have it or wait for it
}

// Lock waits until no other caller has the lock of name, or returns why ctx ended. The
// caller calls unlock once.
func (l *Locks) Lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	k := l.held[name]
	if k == nil {
		k = &lock{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		l.held[name] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.held, name)
		}
	}
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// Len returns how many names are locked or waited for.
func (l *Locks) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held)
}
