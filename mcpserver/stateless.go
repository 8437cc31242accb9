package mcpserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// stateless serves a request of 2026-07-28, which stands alone. Clients cancel
// it by closing its response; other notifications are those of extensions.
func (f *httpHandler) stateless(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	m, from := &p.msgs[0], p.from
	if !m.IsCall() {
		if fault := checkHeaders(r.Header, m); m.Method != "" && fault != nil {
			return &refusal{http.StatusBadRequest, fault}
		}
		if p, fault := readPeer(m.Version, m.ClientInfo, m.Capabilities, from, "_meta: "); fault == nil && m.Method != "" {
			f.core.notified(m, p, caller(r, p))
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	c, fault := f.readStateless(r, m, from)
	if fault != nil {
		return &refusal{statusOf(fault), fault}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(f.core.life, func() { cancel(errClosed) })()
	var broken func()
	if m.Method == listenMethod {
		broken = func() { cancel(errEnded) }
	}
	out := newReply(w, r, accepts(r.Header), broken, nil)
	defer out.stop()
	c.out, c.hold = out, &p.hold
	if m.Method == listenMethod {
		s, not := f.open(w, r, from, "http") // takes the place of one
		if not != nil {
			return not
		}
		defer s.end(errEnded)
		var end context.CancelCauseFunc
		var err error
		if ctx, end, err = s.served.Begin(ctx, m.ID); err != nil { // so that it ends with the session
			return notAccepted(err)
		}
		defer end(nil)
	}
	result, err := p.hold.keep(f.core.answer(ctx, c))
	if err != nil {
		fault = faultOf(c, err)
		out.end(statusOf(fault), inMemory(wire.AppendError(nil, m.ID, fault)))
		return nil
	}
	out.end(http.StatusOK, result.answer(m.ID))
	return nil
}

// readStateless checks a request of 2026-07-28.
func (f *httpHandler) readStateless(r *http.Request, m *wire.Message, from observe.Client) (*request, *wire.Error) {
	version := r.Header.Get(versionHeader)
	if m.Version != "" && m.Version != version {
		return nil, wire.Errorf(wire.CodeHeaderMismatch, "the header %s is %.40q, but the body says %.40q", versionHeader, version, m.Version)
	}
	p, fault := readStateless(m, from)
	if fault != nil {
		return nil, fault
	}
	if fault := checkHeaders(r.Header, m); fault != nil {
		return nil, fault
	}
	c := &request{Message: m, peer: p, owner: caller(r, p), sender: &opener{transport: "http", from: from}}
	if m.Method == callTool {
		if c.view, fault = f.core.views.of(p.client); fault == nil {
			fault = checkParams(r.Header, m, c.view.catalog.Load().headers[m.Name])
		}
	}
	return c, fault
}

// caller identifies the caller of a request without a session: the subject
// that was authenticated, else the client of that name with that credential, else the
// client of that name on that host.
func caller(r *http.Request, p *peer) hidden.Owner {
	if p.client.Identity == "" && r.Header.Get("Authorization") == "" {
		name := "client " + p.client.Address + " " + p.client.Name // as party makes it, in one step
		return hidden.Owner{Session: name, Party: name, Shared: true}
	}
	holder := holder(r, &p.client)
	o := hidden.Owner{Session: holder, Party: party(holder, p), Shared: true}
	if p.client.Identity == "" {
		o.Session = o.Party
	}
	return o
}

// holder identifies who sent a request, as far as the request proves it: the
// subject that was authenticated, else the holder of the credential, else the host.
func holder(r *http.Request, c *observe.Client) string {
	if c.Identity != "" {
		return "subject " + c.Identity
	}
	if credential := r.Header.Get("Authorization"); credential != "" {
		return fmt.Sprintf("credential %x", sha256.Sum256([]byte(credential)))
	}
	return "client " + c.Address
}

// party identifies a client across its sessions.
func party(holder string, p *peer) string { return holder + " " + p.client.Name }

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
