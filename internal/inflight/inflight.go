// Package inflight counts calls that are under way, and reports when none is left.
package inflight

import "sync"

// A Counter counts calls under way. The zero value is ready.
type Counter struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0 again; nil if no goroutine waits
}

// Add adds n, which may be negative.
func (c *Counter) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n += n; c.n == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
}

// Idle returns a channel that is closed once nothing is under way.
func (c *Counter) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.zero == nil {
		c.zero = make(chan struct{})
	}
	zero := c.zero
	if c.n == 0 {
		close(zero)
		c.zero = nil
	}
	return zero
}
