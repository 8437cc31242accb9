package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// session serves a request of the session era through the MCP library.
func (f *front) session(w http.ResponseWriter, r *http.Request, msgs []message, batch bool) {
	m := &msgs[0]
	switch {
	case batch:
		if msgs = known(msgs); len(msgs) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		m = &msgs[0]
	case m.method == "":
	case !standard(m.method) && m.isCall():
		writeJSON(w, http.StatusOK, failure(m.id, noMethod(m.method)))
		return
	case !standard(m.method):
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s, leave, ok := f.enter(w, r, msgs)
	if !ok {
		return
	}
	x := newExchange(r, s)
	grace := abandonTime
	if r.ContentLength > smallBody { // it keeps too much memory
		grace = 0
	}
	defer func() { x.end(r.Context().Err() != nil, grace, leave) }()
	delete(r.Header, carrier)
	defer f.core.keepExchange(r.Header, x)()
	body := rewrite(msgs, batch, r.Header)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	f.sessions.ServeHTTP(&jsonErrors{ResponseWriter: w, id: m.id}, r)
}

// enter finds the session of a request, or makes room for the one that it
// opens. It answers a request that has neither.
func (f *front) enter(w http.ResponseWriter, r *http.Request, msgs []message) (s *session, leave func(), ok bool) {
	is := func(check func(*message) bool) bool {
		return slices.ContainsFunc(msgs, func(m message) bool { return check(&m) })
	}
	if id := r.Header.Get(sessionHeader); id != "" {
		return f.find(w, r, is((*message).isCall), msgs)
	}
	if !is(func(m *message) bool { return m.method == "initialize" }) {
		refuse(w, http.StatusBadRequest, msgs, rpcError(jsonrpc.CodeInvalidRequest, "there is no session: send initialize first, then the header %s with every request", sessionHeader))
		return nil, nil, false
	}
	s, fault := f.core.sessions.open(r, f.identity(r))
	if fault != nil {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, msgs, fault)
		return nil, nil, false
	}
	return s, func() { f.core.sessions.leave(s) }, true
}

// find finds the session that a request names. One that is not known is nil:
// the MCP library refuses it.
func (f *front) find(w http.ResponseWriter, r *http.Request, uses bool, msgs []message) (s *session, leave func(), ok bool) {
	s, fault := f.core.sessions.enter(r.Header.Get(sessionHeader), uses)
	status := http.StatusTooManyRequests
	switch {
	case fault != nil && s.ctx.Err() != nil:
		status = http.StatusNotFound
	case s == nil:
		return nil, func() {}, true
	case fault == nil && s.identity != f.identity(r):
		f.core.sessions.leave(s)
		status, fault = http.StatusForbidden, errIdentity()
	}
	if fault != nil {
		refuse(w, status, msgs, fault)
		return nil, nil, false
	}
	return s, func() { f.core.sessions.leave(s) }, true
}

// stream serves what is no POST: the stream of a session, and its end.
func (f *front) stream(w http.ResponseWriter, r *http.Request) {
	s, leave, ok := f.find(w, r, false, nil)
	if !ok {
		return
	}
	defer leave()
	if s != nil && r.Method == http.MethodDelete { // the library would wait for the session's calls
		f.core.sessions.remove(s)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	setAccept(r.Header)
	f.sessions.ServeHTTP(&jsonErrors{ResponseWriter: w}, r)
}

// listen makes room for a stream of notifications of the stateless era.
func (f *front) listen(w http.ResponseWriter, r *http.Request, m *message) (leave func(), ok bool) {
	if m.method != listenMethod {
		return func() {}, true
	}
	s, fault := f.core.sessions.open(r, f.identity(r))
	if fault != nil {
		writeJSON(w, http.StatusServiceUnavailable, failure(m.id, fault))
		return nil, false
	}
	f.core.sessions.hold(s)
	x := newExchange(r, s)
	forget := f.core.keepExchange(r.Header, x)
	return func() {
		forget()
		x.end(false, 0, func() { f.core.sessions.drop(s) })
	}, true
}

// known returns the batch as the MCP library takes it, which refuses all of it
// for one method that it does not know: such notifications are left out, and
// such calls are pings that are answered as what they were (see metaUnknown).
func known(msgs []message) []message {
	var kept []message
	for _, m := range msgs {
		switch {
		case m.method == "" || standard(m.method):
			kept = append(kept, m)
		case m.isCall():
			params := `{"_meta":{"` + metaUnknown + `":` + string(quote(m.method)) + `}}`
			kept = append(kept, message{id: m.id, method: pingMethod, params: json.RawMessage(params), unknown: true})
		}
	}
	return kept
}

// rewrite writes the messages again as the MCP library is to see them.
func rewrite(msgs []message, batch bool, h http.Header) []byte {
	var b []byte
	for i := range msgs {
		if i > 0 {
			b = append(b, ',')
		}
		m := &msgs[i]
		params := m.params
		switch {
		case ours(m.method):
			params = m.carry(h)
		case m.method == pingMethod && !m.unknown:
			params = m.pingParams()
		}
		b = m.append(b, params)
	}
	if batch {
		b = append(append([]byte{'['}, b...), ']')
	}
	return b
}

func (m *message) append(b, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if m.id != nil {
		b = append(append(b, `,"id":`...), m.id...)
	}
	switch {
	case m.method != "":
		b = append(append(b, `,"method":`...), quote(m.method)...)
		if params != nil {
			b = append(append(b, `,"params":`...), params...)
		}
	case m.failed: // not as it came: it must not pass for an answer
		b = appendError(append(b, `,"error":`...), m.clientError())
	default:
		b = append(append(b, `,"error":{"code":1,"message":"","data":`...), m.answer...)
		b = append(b, '}')
	}
	return append(b, '}')
}
