package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/wire"
)

const (
	// maxCalls is how many calls one session may have under way; maxCallBytes
	// limits their parameters, if there are several.
	maxCalls     = 1000
	maxCallBytes = 64 << 20
)

var (
	errEnded     = errors.New("the session has ended; send initialize again")
	errAbandoned = errors.New("the client has left, and nobody can receive the result")
	errCancelled = fmt.Errorf("the client canceled the call: %w", context.Canceled)
)

// A session is one client: from initialize to its end over HTTP, as long as
// the stream lasts over SSE and stdio, and one stream of subscriptions/listen.
type session struct {
	core      *core
	id        string  // the secret by which requests name the session
	name      string  // what calls have as their Session
	opener            // the client that opened it
	stateless bool    // also serves requests of 2026-07-28
	duplex    *duplex // over SSE and stdio; else nil

	peer     atomic.Pointer[peer] // nil until initialize
	level    atomic.Int32         // the least level of log messages
	listener listener             // what it hears of changes
	requests
	lifetime
	use // guarded by table.mu
}

// An opener is the client that opened a session over HTTP.
type opener struct{ address, identity string }

// requests are those that are under way in both directions.
type requests struct {
	calls  wire.Calls  // to the client
	served wire.Served // of the client
}

// A lifetime ends once.
type lifetime struct {
	once sync.Once
	done chan struct{} // closed at the end
}

func (c *core) newSession(o opener) *session {
	s := &session{core: c, id: rand.Text(), name: "session " + rand.Text(), opener: o, lifetime: lifetime{done: make(chan struct{})}}
	s.level.Store(int32(levelIndex("info"))) // until logging/setLevel
	s.listener.changes, s.listener.wants = c.changes, allLists
	return s
}

// end ends the session and its calls, and does not wait for them.
func (s *session) end(cause error) {
	s.once.Do(func() {
		s.core.table.remove(s)
		close(s.done)
		s.served.Close(cause)
		s.calls.Close(cause)
		s.core.changes.remove(&s.listener)
		go s.forget()
	})
}

// forget releases what others keep of a session that has ended.
func (s *session) forget() {
	defer logPanic(s.core.log, "the end of a session is not reported")
	s.core.watchers.forget(&s.listener)
	if ended := s.core.opts.SessionEnded; ended != nil && s.peer.Load() != nil {
		ended(s.name)
	}
}

// begin records who the client is, once.
func (s *session) begin(p *peer, from Client) error {
	if !s.peer.CompareAndSwap(nil, p) {
		return wire.Errorf(wire.CodeInvalidRequest, "the session has begun already; initialize is sent once")
	}
	client := p.in(from)
	if view, fault := s.core.views.of(client); fault == nil {
		s.listener.listed(client, view.tools.Load())
	}
	s.core.changes.add(&s.listener)
	select {
	case <-s.done: // end may have been here already
		s.core.changes.remove(&s.listener)
	default:
	}
	return nil
}

// A call is a request that the session has accepted.
type call struct {
	*wire.Message
	ctx context.Context
	end context.CancelCauseFunc // forgets it
}

// accept registers the calls among messages that came together, all or none,
// and takes the other messages.
func (s *session) accept(ctx context.Context, msgs []wire.Message) (calls []call, err error) {
	for i := range msgs {
		m := &msgs[i]
		if !m.IsCall() {
			continue
		}
		own, end, err := s.served.Begin(ctx, m.ID)
		if err != nil {
			for _, c := range calls {
				c.end(err)
			}
			return nil, err
		}
		calls = append(calls, call{m, own, end})
	}
	for i := range msgs {
		switch m := &msgs[i]; {
		case m.IsCall():
		case m.Method == "":
			s.calls.Answer(*m)
		default:
			s.notified(m)
		}
	}
	return calls, nil
}

// cancelled takes a request back.
const cancelled = "notifications/cancelled"

// notified takes a notification of the client.
func (s *session) notified(m *wire.Message) {
	defer logPanic(s.core.log, "a notification is lost")
	switch m.Method {
	case cancelled:
		s.served.Cancel(wire.Get(m.Params, "requestId"), errCancelled)
	case "notifications/roots/list_changed":
		if changed := s.core.opts.RootsChanged; changed != nil && s.peer.Load() != nil {
			changed(s.name)
		}
	}
}

// batches reports whether the session's version has batches.
func (s *session) batches() bool {
	p := s.peer.Load()
	return p == nil || p.version <= wire.LastBatch
}

func errNoBatches() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "this version of the protocol has no batches; send one message at a time")
}

// answer returns the result of a call. What it sends before goes to out.
func (s *session) answer(c call, from Client, out sender) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, s.core.panicked(c.ctx, p, "method", c.Method)
		}
	}()
	p := s.peer.Load()
	switch {
	case c.Version >= wire.Stateless:
		return s.answerStateless(c, from, out)
	case c.Method == "ping":
		return json.RawMessage("{}"), nil
	case c.Method == "initialize" && p == nil:
		if p, fault := readInitialize(c.Message); fault != nil {
			return nil, fault
		} else if err := s.begin(p, from); err != nil {
			return nil, err
		} else {
			return s.core.initialize(c.ctx, s, p), nil
		}
	case c.Method == "initialize":
		return nil, s.begin(p, from)
	case c.Method == "server/discover":
		return nil, noMethod(c.Method) // in this version
	case p == nil:
		return nil, wire.Errorf(wire.CodeInvalidRequest, "%.100q came before initialize; send initialize first", c.Method)
	}
	return s.answerSession(c, p, from, out)
}

// answerSession serves the methods of versions with sessions.
func (s *session) answerSession(c call, p *peer, from Client, out sender) (json.RawMessage, error) {
	switch c.Method {
	case "logging/setLevel":
		return s.setLevel(c.Message)
	case "resources/subscribe", "resources/unsubscribe":
		return s.subscribe(c)
	}
	if !served(c.Method) {
		return nil, noMethod(c.Method)
	}
	r := &request{Message: *c.Message, peer: *p, whose: identity{session: s.name}, session: s, out: out}
	s.core.ready.awaitList(c.ctx, c.Method, r.whose)
	client := p.in(from)
	s.listener.lists(c.Method)
	var fault *wire.Error
	if r.view, fault = s.core.views.of(client); fault != nil {
		return nil, fault
	}
	if c.Method == listTools {
		s.listener.listed(client, r.view.tools.Load())
	}
	raw, err := s.core.serve(c.ctx, r)
	if err != nil {
		return nil, faultOf(r, err)
	}
	return raw, nil
}

func (s *session) setLevel(m *wire.Message) (json.RawMessage, error) {
	raw := wire.Get(m.Params, "level")
	if raw == nil || raw[0] != '"' {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: level must be a string", m.Method)
	}
	level := levelIndex(wire.Unquote(raw))
	if level < 0 {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: the level must be one of: %s", m.Method, levels)
	}
	s.level.Store(int32(level))
	return json.RawMessage("{}"), nil
}

func (s *session) subscribe(c call) (json.RawMessage, error) {
	if !c.HasURI {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: uri must be a string", c.Method)
	}
	var err error
	if c.Method == "resources/subscribe" {
		err = s.core.watchers.subscribe(c.ctx, &s.listener, c.URI)
	} else {
		s.core.watchers.unsubscribe(c.ctx, &s.listener, c.URI)
	}
	return json.RawMessage("{}"), err
}

// answerStateless serves a request of 2026-07-28 that came over stdio.
func (s *session) answerStateless(c call, from Client, out sender) (json.RawMessage, error) {
	if !s.stateless {
		return nil, unsupported(c.Version, wire.Versions[1:])
	}
	if fault := checkMeta(c.Message); fault != nil {
		return nil, fault
	}
	p, fault := readPeer(c.Version, c.ClientInfo, c.Capabilities, "_meta: ")
	if fault != nil {
		return nil, fault
	}
	r := &request{Message: *c.Message, peer: *p, whose: identity{session: s.name}, out: out}
	return s.core.answerStateless(c.ctx, r, p.in(from))
}

// answerStateless serves a request of 2026-07-28. The view may be known already.
func (c *core) answerStateless(ctx context.Context, r *request, client Client) (json.RawMessage, error) {
	switch {
	case r.Method == "server/discover":
		return c.discover(ctx, r.whose), nil
	case r.Method == listenMethod:
		return c.listen(ctx, r, client)
	case !served(r.Method):
		return nil, noMethod(r.Method)
	}
	if r.view == nil {
		var fault *wire.Error
		if r.view, fault = c.views.of(client); fault != nil {
			return nil, fault
		}
	}
	c.ready.awaitList(ctx, r.Method, r.whose)
	raw, err := c.serve(ctx, r)
	if err != nil {
		return nil, faultOf(r, err)
	}
	return raw, nil
}
