package upstream

import (
	"context"
	"sync"
	"time"
)

// refreshPause is the least time between two times that the lists of a server are asked
// for without a sign that they have changed.
const refreshPause = time.Minute

// freshFor is how long the lists of a new connection are not asked for again because a
// client begins.
const freshFor = 10 * time.Second

// A refresh is a listing that clients wait for. One runs at a time.
type refresh struct {
	mu   sync.Mutex
	last time.Time
	done chan struct{} // of the last one, closed when it has ended
	over *session      // that it runs over
}

// Refresh asks the server for its lists again, at most once a minute, and returns when
// they are known or ctx ends. Many servers do not announce changes, and some that do
// have no way to: they are found out by this alone. Begins means that a client begins,
// rather than that it calls a tool that is not known: then servers that announce their
// changes, and have a way to, are not asked. Refresh reports whether it waited for lists.
func (u *Upstream) Refresh(ctx context.Context, begins bool) bool {
	v, _ := u.view()
	s := v.session
	if s == nil || begins && (s.announces() || time.Since(s.began) < freshFor) {
		return false
	}
	r := &u.refresh
	r.mu.Lock()
	if time.Since(r.last) >= refreshPause {
		done := make(chan struct{})
		select {
		case s.refresh <- done:
			r.last, r.done, r.over = time.Now(), done, s
		default: // one waits already
		}
	}
	done, over := r.done, r.over
	r.mu.Unlock()
	if done == nil || over != s || isClosed(done) {
		return false
	}
	return s.waitFor(ctx, done)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// announces reports whether the server sends a notification when its tools change, and
// has a way to do so.
func (s *session) announces() bool {
	if !s.canDo("tools", "listChanged") {
		return false
	}
	c, overHTTP := s.conn.(*streamable)
	return !overHTTP || s.modern() || c.streaming.Load()
}
