package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// abandonTime is how long a call goes on whose client has left. Its result
// cannot be delivered, but a client that leaves does not cancel.
const abandonTime = 10 * time.Second

// session serves a POST of a version with sessions.
func (f *front) session(w http.ResponseWriter, r *http.Request, msgs []wire.Message, batch bool, from Client) {
	isCall := func(m wire.Message) bool { return m.IsCall() }
	if version := r.Header.Get(versionHeader); version != "" && !slices.Contains(wire.Versions, version) {
		fault := wire.Errorf(wire.CodeInvalidRequest, "version %.40q of the protocol is not supported; there are %s", version, strings.Join(wire.Versions, ", "))
		refuse(w, http.StatusBadRequest, faultID(msgs, fault), fault)
		return
	}
	if m := &msgs[0]; !batch && m.Method == "initialize" && m.IsCall() && r.Header.Get(sessionHeader) == "" {
		f.initialize(w, r, m, from)
		return
	}
	s := f.find(w, r, slices.ContainsFunc(msgs, isCall), faultID(msgs, errNoSession()))
	if s == nil {
		return
	}
	defer f.core.table.leave(s)
	if batch && !s.batches() {
		refuse(w, http.StatusBadRequest, nil, errNoBatches())
		return
	}
	calls, err := s.accept(context.WithoutCancel(r.Context()), msgs)
	switch {
	case err != nil:
		status, fault := refusal(err)
		refuse(w, status, faultID(msgs, fault), fault)
	case len(calls) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		defer abandon(r, calls)()
		s.reply(&reply{w: w, accept: accepts(r.Header)}, calls, batch, from)
	}
}

// refusal returns how messages are answered that a session did not accept: it
// has ended, or they are bad.
func refusal(err error) (status int, fault *wire.Error) {
	if errors.As(err, &fault) {
		return http.StatusBadRequest, fault
	}
	return http.StatusNotFound, errNoSession()
}

// reply answers the calls of a POST.
func (s *session) reply(out *reply, calls []call, batch bool, from Client) {
	if batch {
		out.end(http.StatusOK, s.answerBatch(calls, from, out))
		return
	}
	raw, err := s.answer(calls[0], from, out)
	calls[0].end(nil)
	out.finish(calls[0].ID, raw, nilOr(err), http.StatusOK)
}

func nilOr(err error) *wire.Error {
	if err == nil {
		return nil
	}
	return errorOf(err)
}

// answerBatch answers calls that came together, together.
func (s *session) answerBatch(calls []call, from Client, out sender) []byte {
	answers := make([][]byte, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { answers[i] = s.respond(c, from, out) })
	}
	all.Wait()
	return append(append([]byte{'['}, bytes.Join(answers, []byte{','})...), ']')
}

// respond returns the response to a call.
func (s *session) respond(c call, from Client, out sender) []byte {
	raw, err := s.answer(c, from, out)
	c.end(nil)
	if err != nil {
		return wire.AppendError(nil, c.ID, errorOf(err))
	}
	return wire.AppendResult(nil, c.ID, raw)
}

// abandon ends calls a while after their client has left. A large request
// keeps too much memory for that.
func abandon(r *http.Request, calls []call) (stop func() bool) {
	grace := abandonTime
	if r.ContentLength > smallBody {
		grace = 0
	}
	return context.AfterFunc(r.Context(), func() {
		time.AfterFunc(grace, func() {
			for _, c := range calls {
				c.end(errAbandoned)
			}
		})
	})
}

// opener returns who sent a request.
func (f *front) opener(r *http.Request) opener { return opener{addressOf(r), f.identity(r)} }

// initialize opens a session.
func (f *front) initialize(w http.ResponseWriter, r *http.Request, m *wire.Message, from Client) {
	p, fault := readInitialize(m)
	if fault != nil {
		refuse(w, http.StatusBadRequest, m.ID, fault)
		return
	}
	s := f.core.newSession(f.opener(r))
	if fault := f.core.table.add(s); fault != nil {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, m.ID, fault)
		return
	}
	defer f.core.table.leave(s)
	if err := s.begin(p, from); err != nil {
		refuse(w, http.StatusBadRequest, m.ID, errorOf(err))
		return
	}
	w.Header().Set(sessionHeader, s.id)
	out := &reply{w: w, accept: accepts(r.Header)}
	out.finish(m.ID, f.core.initialize(r.Context(), s, p), nil, http.StatusOK)
}

func errNoSession() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "session not found: it has ended, or never was; send initialize again")
}

// errIdentity() refuses a request of a session that another identity opened.
func errIdentity() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "the session belongs to another user; send initialize to open one of your own")
}

// find returns the session that a request names; leave must follow. It answers
// a request that names none, and returns nil.
func (f *front) find(w http.ResponseWriter, r *http.Request, uses bool, answerTo []byte) *session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, answerTo, wire.Errorf(wire.CodeInvalidRequest, "there is no session: send initialize first, then the header %s with every request", sessionHeader))
		return nil
	}
	s, fault := f.core.table.find(id, uses)
	switch {
	case fault != nil:
		refuse(w, http.StatusTooManyRequests, answerTo, fault)
		return nil
	case s == nil:
		refuse(w, http.StatusNotFound, answerTo, errNoSession())
		return nil
	case s.duplex != nil: // of another transport
		f.core.table.leave(s)
		refuse(w, http.StatusNotFound, answerTo, errNoSession())
		return nil
	case s.identity != f.identity(r):
		f.core.table.leave(s)
		refuse(w, http.StatusForbidden, answerTo, errIdentity())
		return nil
	}
	return s
}

// noPOST serves the stream of a session, and its end.
func (f *front) noPOST(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, nil, wire.Errorf(wire.CodeInvalidRequest, "use POST to send messages, GET to listen, DELETE to end the session"))
		return
	}
	s := f.find(w, r, false, nil)
	if s == nil {
		return
	}
	defer f.core.table.leave(s)
	if r.Method == http.MethodDelete {
		s.end(errEnded)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	f.listen(w, r, s)
}

// listen serves the stream of a session, on which it hears of changes. There
// is one for each session: it takes the place of an earlier one.
func (f *front) listen(w http.ResponseWriter, r *http.Request, s *session) {
	switch {
	case !accepts(r.Header).events:
		refuse(w, http.StatusNotAcceptable, nil, wire.Errorf(wire.CodeInvalidRequest, "accept text/event-stream"))
		return
	case r.Header.Get("Last-Event-ID") != "":
		refuse(w, http.StatusBadRequest, nil, wire.Errorf(wire.CodeInvalidRequest, "events are not kept; send GET without Last-Event-ID"))
		return
	}
	broken := make(chan struct{})
	out := &reply{w: w, accept: acceptance{events: true}, broken: sync.OnceFunc(func() { close(broken) })}
	defer out.stop()
	if out.start() != nil {
		return
	}
	if before, ok := s.listener.open(out).(*reply); ok {
		before.broken()
	}
	defer s.listener.close(out)
	select {
	case <-r.Context().Done():
	case <-s.done:
	case <-broken:
	}
}
