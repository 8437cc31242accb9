// Package breaker keeps calls from servers that do not answer. It is a circuit
// breaker for each server:
//
//	closed ── failures in a row, or Retry-After ──▶ open ── wait is over ──▶ half open
//	  ▲                                              ▲                       │ one call
//	  ├────────────── success, or a new connection ──┴──────── failure ──────┤
//	  └──────────────────────────────────────────────────────────── success ─┘
package breaker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

const (
	threshold    = 5 // failures in a row
	shortestWait = 5 * time.Second
	longestWait  = time.Minute
)

// Breakers are the circuit breakers of all servers. Failures that a server reports
// do not count, and neither do calls that clients cancel. It is safe for concurrent
// use.
type Breakers struct {
	connects func(server string) int

	mu  sync.Mutex
	all map[string]*circuit
}

// A circuit is the breaker of one server.
type circuit struct {
	failures int           // in a row
	wait     time.Duration // when it opened last
	until    time.Time     // no call before; zero while it is closed
	asked    bool          // the server asked for the wait
	probing  bool          // a call is under way that decides
	connects int           // when it opened
}

// New returns breakers that are closed. Connects returns how often a server has been
// connected: a new connection closes its breaker. Nil means that this is unknown.
func New(connects func(server string) int) *Breakers {
	if connects == nil {
		connects = func(string) int { return 0 }
	}
	return &Breakers{connects: connects, all: map[string]*circuit{}}
}

// Around is an Around of package gateway.
func (b *Breakers) Around(ctx context.Context, to *observe.Target, call *toolpost.Call, next toolpost.Handler) (*toolpost.Result, error) {
	if err := b.admit(to.Server); err != nil {
		observe.From(ctx).Note(observe.CircuitOpen)
		return nil, err
	}
	ended := false
	defer func() {
		if !ended { // a panic
			b.end(to.Server, nil, false)
		}
	}()
	result, err := next(ctx, call)
	ended = true
	unavailable, _ := errors.AsType[*toolpost.UnavailableError](err)
	b.end(to.Server, unavailable, ctx.Err() == nil || unavailable != nil)
	return result, err
}

// admit reports why a server gets no call now.
func (b *Breakers) admit(server string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.all[server]
	if c == nil || c.until.IsZero() {
		return nil
	}
	wait := time.Until(c.until)
	switch {
	case b.connects(server) != c.connects && !c.asked:
		delete(b.all, server)
		return nil
	case wait > 0 && c.probing:
		return toolpost.Failed("server %q did not answer, and another call is trying it now; the call was not carried out. Call again in %v.", server, inSeconds(wait))
	case wait > 0 && c.asked:
		return toolpost.Failed("server %q asked for no calls for now; the call was not carried out. Call again in %v.", server, inSeconds(wait))
	case wait > 0:
		return toolpost.Failed("server %q has not answered %d calls in a row, so it is not called for now; the call was not carried out. Call again in %v.",
			server, c.failures, inSeconds(wait))
	}
	c.probing, c.until = true, time.Now().Add(max(c.wait, shortestWait)) // the call may take long; another one tries then
	return nil
}

// inSeconds rounds up.
func inSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// end records how a call ended. A call that was canceled decides nothing.
func (b *Breakers) end(server string, unavailable *toolpost.UnavailableError, decides bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.all[server]
	switch {
	case unavailable == nil && decides:
		delete(b.all, server)
		return
	case unavailable == nil:
		if c != nil && c.probing {
			c.probing, c.until = false, time.Now() // the next call tries
		}
		return
	case c == nil:
		c = &circuit{}
		b.all[server] = c
	}
	c.failures++
	probe := c.probing
	c.probing = false
	switch {
	case unavailable.RetryAfter > 0:
		c.open(b.connects(server), unavailable.RetryAfter, true)
	case probe || c.failures >= threshold && c.until.IsZero():
		c.wait = min(max(2*c.wait, shortestWait), longestWait)
		c.open(b.connects(server), c.wait, false)
	}
}

// open refuses calls for a time.
func (c *circuit) open(connects int, wait time.Duration, asked bool) {
	c.connects, c.until, c.asked = connects, time.Now().Add(wait), asked
}
