package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// maxCalls is how many calls one session may have under way.
const maxCalls = 1000

var (
	errEnded     = errors.New("the session has ended; send initialize again")
	errAbandoned = errors.New("the client has left and cannot receive the result")
	errCancelled = fmt.Errorf("the client canceled the call: %w", context.Canceled)
)

// A session is one client: from initialize to its end over HTTP, as long as
// the stream lasts over SSE and stdio, and one stream of subscriptions/listen.
type session struct {
	core      *core
	id        string  // the secret by which requests name the session
	name      string  // the Session of its calls
	opener            // the client that opened it
	stateless bool    // also serves requests of 2026-07-28
	duplex    *duplex // over SSE and stdio; else nil

	peer     atomic.Pointer[peer] // nil until initialize
	level    atomic.Int32         // the least level of log messages
	levelSet atomic.Bool          // by the client
	listener listener             // its notifications of changes
	calls    wire.Calls           // to the client that are under way
	served   wire.Served          // of the client that are under way
	once     sync.Once            // of the end
	done     chan struct{}        // closed at the end
	use                           // guarded by sessionTable.mu
}

// An opener is the client that opened a session over HTTP.
type opener struct {
	holder    string // identifies it across its sessions
	transport string
	from      observe.Client // without what initialize says
}

// A quotaHolder is who sessions and messages count for: an authenticated caller, else all
// clients at one address.
type quotaHolder struct{ identity, address string }

func newQuotaHolder(c *observe.Client) quotaHolder {
	if c.Identity != "" {
		return quotaHolder{identity: c.Identity}
	}
	return quotaHolder{address: c.Address}
}

func (o *opener) quotaHolder() quotaHolder { return newQuotaHolder(&o.from) }

func (c *core) newSession(o opener) *session {
	s := &session{core: c, id: rand.Text(), name: "session " + rand.Text(), opener: o, done: make(chan struct{})}
	s.from.Session = s.name
	s.level.Store(int32(levelIndex("info"))) // until logging/setLevel
	s.listener.changes, s.listener.session, s.listener.level = c.changes, s.name, &s.level
	s.listener.watched = c.changes.watched.Of(o.quotaHolder())
	return s
}

// end ends the session and its calls, and does not wait for them.
func (s *session) end(cause error) {
	s.once.Do(func() {
		s.core.sessions.remove(s)
		close(s.done)
		s.served.Close(cause)
		s.calls.Close(cause)
		uris := s.core.changes.forget(&s.listener)
		if len(uris) > 0 || s.core.opts.Views != nil {
			go s.forget(uris)
		}
	})
}

// forget releases what other components keep for a session that has ended.
func (s *session) forget(uris []string) {
	defer logPanic(s.core.log, "the end of a session is not reported")
	s.core.watchers.leave(&s.listener, uris)
	if v := s.core.opts.Views; v != nil && s.peer.Load() != nil {
		v.SessionEnded(s.name)
	}
}

// begin records the client, once.
func (s *session) begin(p *peer) error {
	p.party = party(s.holder, p)
	if !s.peer.CompareAndSwap(nil, p) {
		return errHasBegun()
	}
	s.listener.client = &p.client
	for _, t := range sharedTopics {
		_ = s.core.changes.join(&s.listener, t) // the session may have ended
	}
	s.listener.look()
	if s.duplex != nil {
		s.duplex.known.reach()
	}
	return nil
}

func errHasBegun() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "the session has begun already; initialize is sent once")
}

// accept registers the requests among messages that came together, all or
// none, and takes the other messages. Held is what the messages hold.
func (s *session) accept(ctx context.Context, msgs []wire.Message, batch bool, held *hold) (calls []*request, err error) {
	if batch && !s.batches() {
		return nil, errNoBatches()
	}
	for i := range msgs {
		m := &msgs[i]
		if !m.IsCall() {
			continue
		}
		own, end, err := s.served.Begin(ctx, m.ID)
		if err != nil {
			endAll(calls, err)
			return nil, err
		}
		calls = append(calls, &request{Message: m, sender: &s.opener, session: s, hold: held, ctx: own, end: end})
	}
	for i := range msgs {
		switch m := &msgs[i]; {
		case m.IsCall():
		case m.Method == "":
			s.calls.Answer(m)
		default:
			s.notified(m)
		}
	}
	return calls, nil
}

// endAll forgets requests.
func endAll(calls []*request, cause error) {
	for _, r := range calls {
		r.end(cause)
	}
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
		if v := s.core.opts.Views; v != nil && s.peer.Load() != nil {
			v.RootsChanged(s.name)
		}
	default:
		p := s.peer.Load()
		if m.Version >= wire.Stateless {
			p, _ = readStateless(m, s.from) // nil if there is a fault
		}
		if p != nil {
			s.core.notified(m, p, s.owner(p))
		}
	}
}

// owner identifies the session in calls of its client.
func (s *session) owner(p *peer) hidden.Owner {
	o := hidden.Owner{Session: s.name, Party: p.party}
	if o.Party == "" { // a request of 2026-07-28
		o.Party = party(s.holder, p)
	}
	return o
}

// batches reports whether the session's version has batches.
func (s *session) batches() bool {
	p := s.peer.Load()
	return p == nil || p.version <= wire.LastBatch
}

func errNoBatches() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "this version of the protocol has no batches; send one message at a time")
}

// answer returns the result of a request.
func (s *session) answer(r *request) (result payload, err error) {
	defer s.core.rescue(r.ctx, r.Message, &err)
	p := s.peer.Load()
	switch {
	case r.Version >= wire.Stateless:
		return s.answerStateless(r)
	case r.Method == "ping":
		return inMemory("{}"), nil
	case r.Method == "initialize" && p == nil:
		if p, fault := readInitialize(r.Message, s.from); fault != nil {
			return nil, fault
		} else if err := s.begin(p); err != nil {
			return nil, err
		} else {
			described, err := s.core.initialize(r.ctx, s, p)
			return inMemory(described), err
		}
	case r.Method == "initialize":
		return nil, errHasBegun()
	case r.Method == "server/discover":
		return nil, noMethod(r.Method) // in this version
	case p == nil:
		return nil, wire.Errorf(wire.CodeInvalidRequest, "%.100q came before initialize; send initialize first", r.Method)
	}
	r.peer, r.owner = p, s.owner(p)
	restoreURI(r.Message)
	switch r.Method {
	case "logging/setLevel":
		return s.setLevel(r.Message)
	case "resources/subscribe", "resources/unsubscribe":
		return s.subscribe(r)
	}
	defer s.listener.asks(r.Method)()
	return s.core.answer(r.ctx, r)
}

func (s *session) setLevel(m *wire.Message) (payload, error) {
	raw := wire.Get(m.Params, "level")
	if raw == nil || raw[0] != '"' {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: level must be a string", m.Method)
	}
	level := levelIndex(wire.Unquote(raw))
	if level < 0 {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: the level must be one of: %s", m.Method, levels)
	}
	s.level.Store(int32(level))
	s.levelSet.Store(true)
	return inMemory("{}"), nil
}

func (s *session) subscribe(r *request) (payload, error) {
	if !r.HasURI {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: uri must be a string", r.Method)
	}
	if r.Method == "resources/unsubscribe" {
		return inMemory("{}"), s.core.watchers.unsubscribe(r.ctx, &s.listener, r.URI)
	}
	v, fault := s.core.views.of(r.client)
	if fault != nil {
		return nil, fault
	}
	return inMemory("{}"), s.core.watchers.subscribe(r.ctx, &s.listener, v, r.URI)
}

// answerStateless serves a request of 2026-07-28 that came over stdio.
func (s *session) answerStateless(r *request) (payload, error) {
	if !s.stateless {
		return nil, unsupportedVersion(r.Version, wire.Versions[1:])
	}
	p, fault := readStateless(r.Message, s.from)
	if fault != nil {
		return nil, fault
	}
	r.peer, r.owner, r.session = p, s.owner(p), nil
	return s.core.answer(r.ctx, r)
}
