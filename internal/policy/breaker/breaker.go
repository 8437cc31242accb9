// Package breaker keeps calls from servers, and from single tools, that do not answer. It
// is a circuit breaker for each server and for each of its tools:
//
//	closed ── failures in a row, or Retry-After ──▶ open ── wait is over ──▶ half open
//	  ▲                                              ▲                       │ one call
//	  ├────────────── success, or a new connection ──┴──────── failure ──────┤
//	  └──────────────────────────────────────────────────────────── success ─┘
//
// A call that takes too long may be due to its tool alone. It counts for the tool, and
// for the server only together with calls of another tool.
package breaker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

const (
	threshold    = 5 // failures in a row
	shortestWait = 5 * time.Second
	longestWait  = time.Minute
	maxRequests  = 1000 // circuits of tools and others for each server
)

// Breakers are the circuit breakers of all servers. Failures that a server reports
// do not count, and neither do calls that clients cancel or that need a login of the
// user first. It is safe for concurrent use.
type Breakers struct {
	connection func(server string) Connection

	mu  sync.Mutex
	all map[string]*breaker // by server
}

// A breaker has the circuits of one server.
type breaker struct {
	server   circuit
	requests map[request]*circuit // those that failed last
}

// A request is what a call is about, such as a tool.
type request struct{ method, name string }

// A circuit counts the failures of a server, or of one of its tools.
type circuit struct {
	failures int           // in a row
	counted  time.Time     // when the last of them was
	last     request       // that took too long; empty if none did
	several  bool          // not all failures are of one request that took too long
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
	return &Breakers{connection: connection, all: map[string]*breaker{}}
}

// Around returns next behind the breakers of a target; it is for the option Around of
// package gateway.
func (b *Breakers) Around(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if err := b.admit(to); err != nil {
			observe.From(ctx).Note(observe.CircuitOpen)
			return nil, err
		}
		ended, began := false, time.Now()
		defer func() {
			if !ended { // a panic
				b.end(to, began, nil, false)
			}
		}()
		result, err := next(ctx, call)
		ended = true
		unavailable, _ := errors.AsType[*toolpost.UnavailableError](err)
		b.end(to, began, unavailable, ctx.Err() == nil || unavailable != nil)
		return result, err
	}
}

// admit reports why a request is not sent now.
func (b *Breakers) admit(to *observe.Target) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.all[to.Server]
	if s == nil {
		return nil
	}
	var probes []*circuit
	for _, c := range []*circuit{&s.server, s.requests[request{to.Method, to.Name}]} {
		if c == nil || c.until.IsZero() {
			continue
		}
		switch now := b.connection(to.Server); {
		case now.NeedsLogin:
			return nil // the error of the call says what the user must do
		case now.Connects != c.connects && !c.asked:
			*c = circuit{several: c != &s.server}
			continue
		}
		if wait := time.Until(c.until); wait > 0 {
			what := fmt.Sprintf("server %q", to.Server)
			if c != &s.server {
				what = nameOf(to)
			}
			return c.refusal(what, inSeconds(wait))
		}
		probes = append(probes, c)
	}
	for _, c := range probes {
		c.probing, c.until = true, time.Now().Add(max(c.wait, shortestWait)) // the call may take long; another one tries then
	}
	return nil
}

// nameOf names what a request is about, for the model.
func nameOf(to *observe.Target) string {
	switch to.Method {
	case "tools/call":
		return fmt.Sprintf("the tool %q of server %q", to.Name, to.Server)
	case "prompts/get":
		return fmt.Sprintf("the prompt %q of server %q", to.Name, to.Server)
	}
	return fmt.Sprintf("%s of server %q", to.Method, to.Server)
}

func (c *circuit) refusal(what string, wait time.Duration) error {
	switch {
	case c.probing:
		return toolpost.Failed.Errorf("%s did not answer, and another call is trying it now; the call was not carried out. Call again in %v.", what, wait)
	case c.asked:
		return toolpost.Failed.Errorf("%s asked for no calls for now; the call was not carried out. Call again in %v.", what, wait)
	}
	return toolpost.Failed.Errorf("%s has not answered %d calls in a row, so it is not called for now; the call was not carried out. Call again in %v.", what, c.failures, wait)
}

// inSeconds rounds up.
func inSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// end records how a call ended. A call that was canceled, or that needs a login first,
// decides nothing.
func (b *Breakers) end(to *observe.Target, began time.Time, unavailable *toolpost.UnavailableError, decides bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if unavailable != nil && unavailable.Login {
		unavailable, decides = nil, false
	}
	s := b.all[to.Server]
	if s == nil && unavailable == nil {
		return
	}
	if s == nil {
		s = &breaker{requests: map[request]*circuit{}}
		b.all[to.Server] = s
	}
	r := request{to.Method, to.Name}
	o := outcome{r, began, unavailable, decides}
	s.server.end(b.connectsOf(to.Server), &o)
	s.endRequest(b.connectsOf(to.Server), o)
	if s.server == (circuit{}) && len(s.requests) == 0 {
		delete(b.all, to.Server)
	}
}

// An outcome is how a call ended.
type outcome struct {
	request     request
	began       time.Time
	unavailable *toolpost.UnavailableError // nil if the server answered
	decides     bool                       // it says something about the server
}

// connectsOf returns a function, because few calls need to know.
func (b *Breakers) connectsOf(server string) func() int {
	return func() int { return b.connection(server).Connects }
}

// endRequest records how a call ended for its tool, which is to blame only for a call
// that took too long.
func (s *breaker) endRequest(connects func() int, o outcome) {
	if o.unavailable != nil && !isSlow(o.unavailable) {
		o.unavailable, o.decides = nil, false
	}
	c := s.requests[o.request]
	if c == nil {
		if o.unavailable == nil || !s.makeRoom() {
			return
		}
		c = &circuit{several: true}
		s.requests[o.request] = c
	}
	if c.end(connects, &o); o.unavailable == nil && c.failures == 0 {
		delete(s.requests, o.request)
	}
}

// makeRoom reports whether one more circuit may be kept. It forgets the one that failed
// least recently if there are too many, of those that refuse nothing now.
func (s *breaker) makeRoom() bool {
	if len(s.requests) < maxRequests {
		return true
	}
	var oldest *circuit
	var of request
	now := time.Now()
	for r, c := range s.requests {
		if !c.until.After(now) && (oldest == nil || c.counted.Before(oldest.counted)) {
			oldest, of = c, r
		}
	}
	delete(s.requests, of) // nothing if all refuse
	return oldest != nil
}

// isSlow reports whether a call only took too long: the server can be reached.
func isSlow(e *toolpost.UnavailableError) bool { return e.Timeout && e.RetryAfter == 0 }

// end records how a call ended.
func (c *circuit) end(connects func() int, o *outcome) {
	switch {
	case o.unavailable != nil:
		c.several = c.several || !isSlow(o.unavailable) || c.last != o.request && c.last != request{}
		c.last = o.request
		c.fail(connects, o)
	case o.decides && c.isAsked():
		c.failures = 0 // the call began before the server asked for the wait, which goes on
	case o.decides:
		*c = circuit{}
	case c.probing:
		c.probing, c.until = false, time.Now() // the next call tries
	}
}

// fail counts a call that was not answered.
func (c *circuit) fail(connects func() int, o *outcome) {
	asked, unavailable := c.isAsked(), o.unavailable
	if isSlow(unavailable) || !o.began.Before(c.counted) { // one restart breaks all calls that are under way
		c.failures++
		c.counted = time.Now()
	}
	probe := c.probing
	c.probing = false
	switch {
	case unavailable.RetryAfter > 0:
		wait := unavailable.RetryAfter
		if asked {
			wait = max(wait, time.Until(c.until)) // answers may arrive in another order than the server sent them
		}
		c.open(connects(), wait, true)
	case asked: // it waits already
	case probe || c.failures >= threshold && c.several && c.until.IsZero():
		c.wait = min(max(2*c.wait, shortestWait), longestWait)
		c.open(connects(), c.wait, false)
	}
}

// isAsked reports whether the server asked for a wait that is not over.
func (c *circuit) isAsked() bool {
	return c.asked && !c.probing && time.Until(c.until) > 0
}

// open refuses calls for a time.
func (c *circuit) open(connects int, wait time.Duration, asked bool) {
	c.connects, c.until, c.asked = connects, time.Now().Add(wait), asked
}
