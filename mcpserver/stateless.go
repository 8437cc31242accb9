package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/toolpost/toolpost/internal/wire"
)

// stateless serves a request of 2026-07-28, which stands alone.
func (f *front) stateless(w http.ResponseWriter, r *http.Request, m *wire.Message, from Client) {
	if !m.IsCall() {
		f.statelessNotification(w, r, m)
		return
	}
	c, client, fault := f.readStateless(r, m, from)
	if fault != nil {
		refuse(w, statusOf(fault), m.ID, fault)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(f.core.life, func() { cancel(errClosed) })()
	out := &reply{w: w, accept: accepts(r.Header)}
	c.out = out
	if m.Method == listenMethod {
		s := f.core.newSession(f.opener(r)) // takes the place of one
		if fault := f.core.table.add(s); fault != nil {
			refuse(w, http.StatusServiceUnavailable, m.ID, fault)
			return
		}
		defer s.end(errEnded)
		out.broken = func() { cancel(errEnded) }
	}
	raw, err := f.core.answerStateless(ctx, c, client)
	if err != nil {
		fault = errorOf(err)
		out.finish(m.ID, nil, fault, statusOf(fault))
		return
	}
	out.finish(m.ID, raw, nil, 0)
}

// statelessNotification takes what needs no answer. Clients cancel a request
// by closing its response.
func (f *front) statelessNotification(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	if fault := checkHeaders(r.Header, m); m.Method != "" && fault != nil {
		refuse(w, http.StatusBadRequest, nil, fault)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// readStateless checks a request of 2026-07-28.
func (f *front) readStateless(r *http.Request, m *wire.Message, from Client) (*request, Client, *wire.Error) {
	version := r.Header.Get(versionHeader)
	if m.Version != "" && m.Version != version {
		return nil, from, wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.40q, but the body says %.40q", versionHeader, version, m.Version)
	}
	if fault := checkMeta(m); fault != nil {
		return nil, from, fault
	}
	if fault := checkHeaders(r.Header, m); fault != nil {
		return nil, from, fault
	}
	p, fault := readPeer(m.Version, m.ClientInfo, m.Capabilities, "_meta: ")
	if fault != nil {
		return nil, from, fault
	}
	c := &request{Message: *m, peer: *p, whose: f.caller(r, p)}
	client := p.in(from)
	if served(m.Method) {
		if c.view, fault = f.core.views.of(client); fault != nil {
			return nil, from, fault
		}
	}
	if m.Method == callTool {
		fault = checkParams(r.Header, m, c.view.tools.Load().headers[m.Name])
	}
	return c, client, fault
}

// caller returns whose a request is that belongs to no session: the subject
// that was authenticated, else the holder of the credential, else the client
// of that name on that host.
func (f *front) caller(r *http.Request, p *peer) identity {
	if subject := f.identity(r); subject != "" {
		return identity{session: "subject " + subject, shared: true}
	}
	if credential := r.Header.Get("Authorization"); credential != "" {
		return identity{fmt.Sprintf("credential %x", sha256.Sum256([]byte(credential))), "client with a credential " + p.client, true}
	}
	return identity{session: "client " + addressOf(r) + " " + p.client, shared: true}
}

// statusOf returns the HTTP status that an error has since 2026-07-28.
func statusOf(fault *wire.Error) int {
	switch fault.Code {
	case wire.CodeMethodNotFound:
		return http.StatusNotFound
	case wire.CodeInvalidParams, wire.CodeInvalidRequest, wire.CodeParse, wire.CodeHeaderMismatch,
		wire.CodeMissingCapability, wire.CodeUnsupportedProtocol:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
