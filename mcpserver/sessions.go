package mcpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// unusedTime is how long a session lives that was opened and then made no request.
	unusedTime = 5 * time.Minute
	// abandonTime is how long a call goes on whose client has left. Its result
	// cannot be delivered, but a client that leaves does not cancel.
	abandonTime = 10 * time.Second
	// maxCalls is how many calls one session may have under way; maxCallBytes
	// limits their parameters, if there are several.
	maxCalls     = 1000
	maxCallBytes = 64 << 20
	maxAllBytes  = 512 << 20 // of all sessions over SSE
)

var (
	errEnded     = errors.New("the session has ended")
	errAbandoned = errors.New("the client has left, and nobody can receive the result")
)

// A session is what the server keeps of one session of the stateful era, for
// as long as it lasts.
type session struct {
	address, identity string // of the client that opened it; "" for stdio
	ctx               context.Context
	cancel            context.CancelCauseFunc // ends the session's calls at once

	engine *mcp.ServerSession // nil until initialize; guarded by sessions.mu
	use

	mu      sync.Mutex
	listed  *listed
	level   string // of log messages
	watches map[string]bool
	notices map[string]*notice
	begun   bool // by initialize
}

// use is how much a session is used; it is guarded by sessions.mu.
type use struct {
	busy   int         // requests and streams that are open
	used   bool        // it has made a request
	recent time.Time   // when a request or stream ended last
	expiry *time.Timer // ends an unused session; nil if it cannot end
}

// less reports whether a session is used less than another one.
func (u *use) less(o *use) bool {
	if u.used != o.used {
		return o.used
	}
	return u.recent.Before(o.recent)
}

// sessions are the sessions that are open. There are limits, in all and for
// each address: whoever opens too many ends those that are idle, first the ones
// that were never used.
type sessions struct {
	most, mostOfOne int
	ended           func(*session) // is called after the end of each session

	mu     sync.Mutex
	all    map[*session]bool
	byID   map[string]*session
	engine map[*mcp.ServerSession]*session
}

func newSessions(o *Options) *sessions {
	return &sessions{
		most: o.MaxSessions, mostOfOne: o.MaxClientSessions, all: map[*session]bool{},
		byID: map[string]*session{}, engine: map[*mcp.ServerSession]*session{},
	}
}

// open makes room for a session that a request opens.
func (l *sessions) open(r *http.Request, identity string) (*session, *jsonrpc.Error) {
	s := newSession()
	s.address, s.identity = addressOf(r), identity
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.makeRoom(func(o *session) bool { return o.address == s.address }, l.mostOfOne) || !l.makeRoom(func(*session) bool { return true }, l.most) {
		return nil, rpcError(jsonrpc.CodeInternalError, "too many sessions are open, and all are busy; end one with DELETE, or try again later")
	}
	s.busy = 1 // until leave
	l.all[s] = true
	return s, nil
}

func newSession() *session {
	s := &session{use: use{recent: time.Now()}, level: defaultLevel, watches: map[string]bool{}, notices: map[string]*notice{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// makeRoom ends the least useful session of those that count, if there are as
// many as allowed, and reports whether there is room now. The caller holds mu.
func (l *sessions) makeRoom(counts func(*session) bool, most int) bool {
	n := 0
	var least *session
	for s := range l.all {
		if s.ctx.Err() != nil || !counts(s) {
			continue
		}
		n++
		if s.busy == 0 && s.engine != nil && (least == nil || s.less(&least.use)) {
			least = s
		}
	}
	if n < most {
		return true
	}
	if least != nil {
		least.end(errEnded)
	}
	return least != nil
}

// end ends the session: its calls at once, and the rest when they have ended.
func (s *session) end(cause error) {
	s.cancel(cause)
	if s.engine != nil {
		go func() { _ = s.engine.Close() }() // it has ended either way
	}
}

// begin binds a session to that of the MCP library. A nil s is a session that
// nothing but its transport ends.
func (l *sessions) begin(s *session, engine *mcp.ServerSession) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.engine[engine]; known != nil {
		return known
	}
	if s == nil {
		s = newSession()
		s.busy, s.used = 1, true
	}
	s.engine = engine
	l.all[s], l.engine[engine] = true, s
	if id := engine.ID(); id != "" {
		l.byID[id] = s
	}
	if !s.used {
		s.expiry = time.AfterFunc(unusedTime, func() { l.expire(s) })
	}
	if s.ctx.Err() != nil { // the client left before
		go func() { _ = engine.Close() }()
	}
	go func() {
		_ = engine.Wait() // why it ended does not matter
		l.drop(s)
		if l.ended != nil {
			l.ended(s)
		}
	}()
	return s
}

func (l *sessions) expire(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.used && s.busy == 0 {
		s.end(errEnded)
	}
}

// drop forgets a session that has ended.
func (l *sessions) drop(s *session) {
	s.cancel(errEnded)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, s)
	if s.engine == nil {
		return
	}
	delete(l.engine, s.engine)
	delete(l.byID, s.engine.ID())
	if s.expiry != nil {
		s.expiry.Stop()
	}
}

// close ends the calls of all sessions.
func (l *sessions) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.all {
		s.cancel(errClosed)
	}
}

// remove ends a session of which the client wants no more.
func (l *sessions) remove(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.end(errEnded)
}

// hold keeps a session that lasts as long as its stream from being ended.
func (l *sessions) hold(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.busy, s.used = 1, true
}

// of returns the session that belongs to one of the MCP library, nil if none does.
func (l *sessions) of(engine *mcp.ServerSession) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine[engine]
}

// enter notes that a request of a session begins; leave must follow. It returns
// nil for a session that is not known.
func (l *sessions) enter(id string, uses bool) (*session, *jsonrpc.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byID[id]
	switch {
	case s == nil:
		return nil, nil
	case s.ctx.Err() != nil:
		return s, rpcError(jsonrpc.CodeInvalidRequest, "session not found: it has ended; send initialize again")
	case s.busy >= maxCalls:
		return s, rpcError(jsonrpc.CodeInvalidRequest, "the session has %d requests under way; wait for some of them", s.busy)
	}
	s.busy++
	s.used = s.used || uses
	return s, nil
}

// leave notes that a request has ended. A session that it was to open and did
// not is forgotten.
func (l *sessions) leave(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.busy--
	s.recent = time.Now()
	if s.engine == nil {
		delete(l.all, s)
	}
}

// addressOf returns the host that a request came from.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// An exchange is one POST of a session: the values of its context are those
// that the handlers of its calls see.
type exchange struct {
	session *session
	values  context.Context
	ctx     context.Context // ends after the client has left
	cancel  context.CancelCauseFunc
}

func newExchange(r *http.Request, s *session) *exchange {
	x := &exchange{session: s, values: context.WithoutCancel(r.Context())}
	x.ctx, x.cancel = context.WithCancelCause(x.values)
	return x
}

// end is called when the response is over. If the client left before, its calls
// have the grace time left, and count as requests of their session until then.
func (x *exchange) end(left bool, grace time.Duration, leave func()) {
	if !left {
		x.cancel(nil)
		leave()
		return
	}
	time.AfterFunc(grace, func() {
		x.cancel(errAbandoned)
		leave()
	})
}

// A callContext is the context of a call, with the values of the request that
// it came by.
type callContext struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (c callContext) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// during returns a context for a call of the session, which ends with either.
// A nil exchange is that of a transport without requests.
func (s *session) during(ctx context.Context, x *exchange) (context.Context, func()) {
	if x != nil {
		ctx = callContext{ctx, x.values}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stops := []func() bool{context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })}
	if x != nil {
		stops = append(stops, context.AfterFunc(x.ctx, func() { cancel(context.Cause(x.ctx)) }))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}
