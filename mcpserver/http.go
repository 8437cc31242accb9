package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// httpHandler is the HTTP side of a server: a chain of small steps.
//
//	recover ─▶ admit ─▶ route ─┬▶ /mcp ─▶ post ─┬▶ stateless (2026-07-28)
//	            403       404  │   406    4xx   └▶ session   (up to 2025-11-25)
//	                           └▶ /sse ─▶ post ──▶ postSSE   (2024-11-05)
type httpHandler struct {
	core     *core
	guard    *guard
	draining drain
}

// A refusal is the reason why a request is not served.
type refusal struct {
	status int
	fault  *wire.Error
}

func newRefusal(status int, format string, args ...any) *refusal {
	return &refusal{status, wire.Errorf(wire.CodeInvalidRequest, format, args...)}
}

// ServeHTTP serves /mcp (streamable HTTP, both eras) and /sse (legacy SSE), and
// with Options.Views also /mcp/VIEW and /sse/VIEW.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.http
	defer f.recover(w, r)
	if !f.admit(w, r) {
		return
	}
	base, view, err := f.route(r)
	from := f.client(r, view)
	var not *refusal
	switch {
	case err != nil:
		writeJSON(w, http.StatusNotFound, inMemory(`{"error":`+string(wire.Quote(err.Error()))+`}`))
	case base == "mcp" && r.Method == http.MethodPost:
		not = f.post(w, r, from, f.streamable)
	case base == "mcp":
		not = f.noPOST(w, r, from)
	case r.Method == http.MethodPost:
		not = f.post(w, r, from, f.postSSE)
	case r.Method == http.MethodGet:
		not = f.openSSE(w, r, from)
	default:
		w.Header().Set("Allow", "GET, POST")
		not = newRefusal(http.StatusMethodNotAllowed, "use GET to open a session, POST to send messages")
	}
	if not != nil {
		refuse(w, not.status, nil, not.fault)
	}
}

// serverCard is where clients look for a description of the server (SEP-2127). No view
// is read as that.
const serverCard = "server-card"

// servesView reports whether there may be an address of its own for a view.
func (f *httpHandler) servesView(view string) bool { return f.core.views.choose != nil && view != "" }

func asksForCard(r *http.Request, view string) bool {
	return r.Method == http.MethodGet && r.Header.Get(sessionHeader) == "" && (view == serverCard || strings.HasSuffix(view, "/"+serverCard))
}

// route returns the transport and the view that the path asks for.
func (f *httpHandler) route(r *http.Request) (base, view string, err error) {
	path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/")
	base, view, deeper := strings.Cut(path, "/")
	known := base == "mcp" || base == "sse"
	if !known || deeper && !f.servesView(view) {
		return "", "", errors.New("there is nothing here; MCP is served at /mcp (streamable HTTP) and /sse (legacy SSE)")
	}
	if asksForCard(r, view) {
		return "", "", errors.New("there is no server card; initialize or server/discover describe the server")
	}
	refused := base == "mcp" && r.Method != http.MethodPost && r.Header.Get(sessionHeader) == ""
	if deeper && !refused { // to choose a view may be to make it
		if _, fault := f.core.views.of(f.client(r, view)); fault != nil {
			return "", "", fault
		}
	}
	return base, view, nil
}

// bodyTime is how long the body of a request may take to come.
const bodyTime = 30 * time.Second

// admit asks the guard, and answers whom it refuses, and the questions of browsers
// before the requests of a page (CORS). Until the body is read,
// time runs: also for a body that no handler reads, which the HTTP server skips.
func (f *httpHandler) admit(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // not every writer has deadlines
	}
	if fault := f.guard.check(r); fault != nil {
		refuse(w, http.StatusForbidden, nil, fault)
		return false
	}
	if r.Header.Get("Origin") == "" {
		return true
	}
	allowOrigin(w.Header(), r.Header)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return true
	}
	w.WriteHeader(http.StatusNoContent)
	return false
}

func (f *httpHandler) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	switch {
	case p == nil:
		return
	case p == http.ErrAbortHandler:
		panic(p)
	}
	fault := f.core.reportPanic(r.Context(), p, "path", r.URL.Path)
	refuse(w, http.StatusInternalServerError, nil, fault) // too late if a stream had begun
}

// A post is the messages that a POST brings.
type post struct {
	msgs  []wire.Message
	batch bool
	from  observe.Client
	hold  hold
}

// post reads a POST, and serves it.
func (f *httpHandler) post(w http.ResponseWriter, r *http.Request, from observe.Client, serve func(http.ResponseWriter, *http.Request, *post) *refusal) *refusal {
	p := &post{from: from}
	if !p.hold.take(f.core.held, newQuotaHolder(&from), int(min(max(r.ContentLength, 0), smallPart))) {
		return tooMuch(w)
	}
	defer p.hold.release()
	body, not := f.read(w, r, &p.hold)
	if not != nil {
		return not
	}
	var fault *wire.Error
	p.msgs, p.batch, fault = wire.Parse(body)
	if fault != nil {
		not = &refusal{http.StatusBadRequest, fault}
	} else if starts := f.core.starts(p.msgs); starts && !p.hold.hasRoomToCall(f.core.held) {
		not = tooMuch(w)
	} else if leave, stopping := f.enter(w, p.msgs, starts); stopping != nil {
		not = stopping
	} else {
		defer leave()
		not = serve(w, r, p)
	}
	switch {
	case not != nil && p.batch:
		return not // no message is refused by its id
	case not != nil:
		refuse(w, not.status, faultID(p.msgs), not.fault)
	}
	return nil
}

// streamable serves a POST to /mcp.
func (f *httpHandler) streamable(w http.ResponseWriter, r *http.Request, p *post) *refusal {
	version := r.Header.Get(versionHeader)
	switch a := accepts(r.Header); {
	case !a.json && !a.events:
		return newRefusal(http.StatusNotAcceptable, "accept application/json or text/event-stream")
	case p.batch && version > wire.LastBatch:
		return &refusal{http.StatusBadRequest, errNoBatches()}
	case version >= wire.Stateless || !p.batch && p.msgs[0].Version >= wire.Stateless:
		return f.stateless(w, r, p)
	}
	return f.session(w, r, p)
}

// read reads the body of a POST.
func (f *httpHandler) read(w http.ResponseWriter, r *http.Request, held *hold) ([]byte, *refusal) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, newRefusal(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, newRefusal(http.StatusUnsupportedMediaType, "send the body without Content-Encoding")
	}
	body, err := readBody(w, r, f.core.opts.Limits.Body, held)
	switch tooLarge, ok := errors.AsType[*http.MaxBytesError](err); {
	case err == nil:
		return body, nil
	case errors.Is(err, errNoRoom):
		return nil, tooMuch(w)
	case ok:
		return nil, newRefusal(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, newRefusal(http.StatusRequestTimeout, "the body did not come within %v", bodyTime)
	}
	return nil, &refusal{http.StatusBadRequest, wire.Errorf(wire.CodeParse, "read the body: %.200v", err)}
}

// A countedBody has a hold grow by what is read beyond what was taken before.
type countedBody struct {
	io.Reader
	held  *hold
	taken int
}

var errNoRoom = errors.New("the client has no room for the body")

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.taken -= n; c.taken < 0 {
		if !c.held.grow(-c.taken) {
			return n, errNoRoom
		}
		c.taken = 0
	}
	return n, err
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64, held *hold) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	var body []byte
	var err error
	if r.ContentLength >= 0 && r.ContentLength <= smallPart {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		b := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), smallPart)+bytes.MinRead)) // a larger one is for bytes that did come
		_, err = b.ReadFrom(&countedBody{http.MaxBytesReader(w, r.Body, limit), held, held.size()})
		body = b.Bytes()
	}
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it would end the call
	}
	return body, err
}
