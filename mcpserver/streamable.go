package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// session serves a POST of a version with sessions.
func (f *httpHandler) session(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	if version := r.Header.Get(versionHeader); version != "" && !slices.Contains(wire.Versions, version) {
		return newRefusal(http.StatusBadRequest, "version %.40q of the protocol is not supported; there are %s", version, strings.Join(wire.Versions, ", "))
	}
	if m := &p.msgs[0]; !p.batch && m.Method == "initialize" && m.IsCall() && !f.core.sessions.has(r.Header.Get(sessionHeader)) {
		return f.initialize(w, r, m, p.from) // the client may still send the id of a session that has ended
	}
	s, not := f.find(r, p.from, r.Header.Get(sessionHeader), false, slices.ContainsFunc(p.msgs, func(m wire.Message) bool { return m.IsCall() }))
	if not != nil {
		return not
	}
	defer f.core.sessions.leave(s)
	calls, err := s.accept(context.WithoutCancel(r.Context()), p.msgs, p.batch, &p.hold)
	if err != nil {
		return notAccepted(err)
	}
	if len(calls) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	abandon := func() { endAll(calls, errAbandoned) }
	if p.hold.size() > largeBody {
		defer context.AfterFunc(r.Context(), abandon)()
	}
	out := newReply(w, r, accepts(r.Header), nil, abandon)
	defer out.stop()
	if p.batch {
		out.end(http.StatusOK, s.respondAll(calls, out))
	} else {
		out.end(http.StatusOK, s.respond(calls[0], out))
	}
	return nil
}

// largeBody is how large a request is that keeps too much memory to go on for a client
// that has left.
const largeBody = 1 << 20

// notAccepted refuses messages that a session did not accept: it has ended, or
// they are bad.
func notAccepted(err error) *refusal {
	if fault, ok := errors.AsType[*wire.Error](err); ok {
		return &refusal{http.StatusBadRequest, fault}
	}
	return errNoSession()
}

// respondAll returns the response to calls that came together. Messages before it
// go to out.
func (s *session) respondAll(calls []*request, out sender) payload {
	answers := make([]payload, len(calls))
	var all sync.WaitGroup
	for i, r := range calls {
		all.Go(func() { answers[i] = s.respond(r, out) })
	}
	all.Wait()
	return join(answers)
}

// respond returns the response to a call, and forgets the call.
func (s *session) respond(r *request, out sender) payload {
	r.out = out
	result, err := r.hold.keep(s.answer(r))
	r.end(nil)
	if err != nil {
		return inMemory(wire.AppendError(nil, r.ID, faultOf(r, err)))
	}
	return result.answer(r.ID)
}

// open opens a session for the client that sent a request.
func (f *httpHandler) open(w http.ResponseWriter, r *http.Request, from observe.Client, transport string) (*session, *refusal) {
	s := f.core.newSession(opener{holder(r, &from), transport, from})
	if fault := f.core.sessions.add(s); fault != nil {
		w.Header().Set("Retry-After", "60")
		return nil, &refusal{http.StatusServiceUnavailable, fault}
	}
	return s, nil
}

// initialize opens a session.
func (f *httpHandler) initialize(w http.ResponseWriter, r *http.Request, m *wire.Message, from observe.Client) *refusal {
	p, fault := readInitialize(m, from)
	if fault != nil {
		return &refusal{http.StatusBadRequest, fault}
	}
	s, not := f.open(w, r, from, "http")
	if not != nil {
		return not
	}
	defer f.core.sessions.leave(s)
	p.client.Session = s.name
	_ = s.begin(p) // no other request knows it yet
	w.Header().Set(sessionHeader, s.id)
	out := newReply(w, r, accepts(r.Header), nil, nil)
	defer out.stop()
	described, err := f.core.initialize(r.Context(), s, p)
	if err != nil {
		s.end(errEnded)
		w.Header().Del(sessionHeader)
		out.end(http.StatusBadRequest, inMemory(wire.AppendError(nil, m.ID, faultOf(&request{Message: m}, err))))
		return nil
	}
	out.end(http.StatusOK, inMemory(described).answer(m.ID))
	return nil
}

func errNoSession() *refusal {
	return newRefusal(http.StatusNotFound, "session not found: it has ended, or never was; send initialize again, or over SSE open another one with GET")
}

// find returns the session with an id, which is one over SSE or not; leave must
// follow. Requests that use the session keep it from being ended soon.
func (f *httpHandler) find(r *http.Request, from observe.Client, id string, sse, uses bool) (*session, *refusal) {
	s, fault := f.core.sessions.find(id, uses)
	switch {
	case id == "" && !sse:
		return nil, newRefusal(http.StatusBadRequest, "there is no session: send initialize first, then the header %s with every request", sessionHeader)
	case fault != nil:
		return nil, &refusal{http.StatusTooManyRequests, fault}
	case s == nil:
		return nil, errNoSession()
	case (s.duplex != nil) != sse:
		f.core.sessions.leave(s)
		return nil, errNoSession()
	case s.from.Identity != from.Identity:
		f.core.sessions.leave(s)
		return nil, newRefusal(http.StatusForbidden, "the session belongs to another user; open one of your own")
	case s.from.Identity != "" && s.from.View != from.View: // what the user is allowed may have become less
		f.core.sessions.leave(s)
		return nil, newRefusal(http.StatusForbidden, "the session was opened at another address, or with a token that allows something else; open another one")
	}
	return s, nil
}

// noPOST serves GET, the stream of a session, and DELETE, its end.
func (f *httpHandler) noPOST(w http.ResponseWriter, r *http.Request, from observe.Client) *refusal {
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "GET, POST, DELETE")
		return newRefusal(http.StatusMethodNotAllowed, "use POST to send messages, GET to listen, DELETE to end the session")
	}
	s, not := f.find(r, from, r.Header.Get(sessionHeader), false, false)
	if not != nil {
		return not
	}
	defer f.core.sessions.leave(s)
	if r.Method == http.MethodDelete {
		s.end(errEnded)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return f.listen(w, r, s)
}

// listen serves the stream of a session, which carries notifications of changes.
// Each session has one such stream: a new one replaces the one before.
func (f *httpHandler) listen(w http.ResponseWriter, r *http.Request, s *session) *refusal {
	switch {
	case !accepts(r.Header).events:
		return newRefusal(http.StatusNotAcceptable, "accept text/event-stream")
	case r.Header.Get("Last-Event-ID") != "":
		return newRefusal(http.StatusBadRequest, "events are not kept; send GET without Last-Event-ID")
	}
	out, open := newStream(w, r)
	defer out.stop()
	if before, ok := s.listener.open(out).(*reply); ok {
		before.broken()
	}
	defer s.listener.close(out)
	if out.start() == nil {
		s.await(open)
	}
	return nil
}

// newStream returns a response that is a stream of events, and a context that
// ends when the client leaves or cannot be written to.
func newStream(w http.ResponseWriter, r *http.Request) (*reply, context.Context) {
	open, broken := context.WithCancel(r.Context())
	return newReply(w, r, acceptance{events: true, named: true}, broken, nil), open
}

// await returns when a stream of the session has ended, or the session.
func (s *session) await(stream context.Context) {
	select {
	case <-stream.Done():
	case <-s.done:
	}
}
