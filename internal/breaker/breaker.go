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
// do not count, and neither do calls that clients cancel or that need a login of the
// user first. It is safe for concurrent use.
type Breakers struct {
	connection func(server string) Connection

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

// A Connection describes the connection to a server now.
type Connection struct {
	Connects   int  // how often the server has been connected; a new connection closes its breaker
	NeedsLogin bool // all calls fail at once, with an error that says how to log in
}

// New returns breakers that are closed. Connection describes the connection to a
// server. Nil means that this is unknown.
func New(connection func(server string) Connection) *Breakers {
	if connection == nil {
		connection = func(string) Connection { return Connection{} }
	}
	return &Breakers{connection: connection, all: map[string]*circuit{}}
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
	now, wait := b.connection(server), time.Until(c.until)
	switch {
	case now.NeedsLogin:
		return nil // the error of the call says what the user must do
	case now.Connects != c.connects && !c.asked:
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

// end records how a call ended. A call that was canceled, or that needs a login first,
// decides nothing.
func (b *Breakers) end(server string, unavailable *toolpost.UnavailableError, decides bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.all[server]
	if unavailable != nil && unavailable.Login {
		unavailable, decides = nil, false
	}
	switch {
	case unavailable == nil && decides && c.isAsked():
		c.failures = 0 // the call began before the server asked for the wait, which goes on
		return
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
	b.fail(server, c, unavailable)
}

// fail records a call that was not answered.
func (b *Breakers) fail(server string, c *circuit, unavailable *toolpost.UnavailableError) {
	asked := c.isAsked()
	c.failures++
	probe := c.probing
	c.probing = false
	switch {
	case unavailable.RetryAfter > 0:
		wait := unavailable.RetryAfter
		if asked {
			wait = max(wait, time.Until(c.until)) // answers may arrive in another order than the server sent them
		}
		c.open(b.connection(server).Connects, wait, true)
	case asked: // likewise: it waits already
	case probe || c.failures >= threshold && c.until.IsZero():
		c.wait = min(max(2*c.wait, shortestWait), longestWait)
		c.open(b.connection(server).Connects, c.wait, false)
	}
}

// isAsked reports whether the server asked for a wait that is not over.
func (c *circuit) isAsked() bool {
	return c != nil && c.asked && !c.probing && time.Until(c.until) > 0
}

// open refuses calls for a time.
func (c *circuit) open(connects int, wait time.Duration, asked bool) {
	c.connects, c.until, c.asked = connects, time.Now().Add(wait), asked
}
