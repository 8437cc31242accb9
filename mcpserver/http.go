package mcpserver

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// front is the HTTP side of a server: a chain of small steps.
//
//	recover ─▶ admit ─▶ reserve ─▶ route ─┬▶ /mcp ─▶ read ─┬▶ stateless (2026-07-28)
//	            403       503        404  │   406    4xx   └▶ session   (up to 2025-11-25)
//	                                      └▶ /sse ─▶ read ──▶ postSSE   (2024-11-05)
type front struct {
	core     *core
	guard    *guard
	identity func(*http.Request) string
	maxBody  int64
	large    chan struct{} // holds one value for each large request that is under way
	bytesSSE atomic.Int64  // of the params of calls over SSE
}

// Requests above smallBody keep much memory as long as their calls last.
const (
	smallBody = 1 << 20
	mostLarge = 32
)

// reserve makes room for a request. It returns nil if there is none.
func (f *front) reserve(r *http.Request) (release func()) {
	if r.ContentLength >= 0 && r.ContentLength <= smallBody {
		return func() {}
	}
	select {
	case f.large <- struct{}{}:
		return func() { <-f.large }
	default:
		return nil
	}
}

func newFront(c *core, o *Options) *front {
	return &front{
		core:     c,
		guard:    &guard{hosts: o.Hosts, origins: o.Origins},
		identity: o.Identity,
		maxBody:  o.MaxBody,
		large:    make(chan struct{}, mostLarge),
	}
}

// ServeHTTP implements [http.Handler].
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer f.recover(w, r)
	if !f.admit(w, r) {
		return
	}
	release := f.reserve(r)
	if release == nil {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, nil, wire.Errorf(wire.CodeInternal, "too many large requests are under way; try again later"))
		return
	}
	defer release()
	base, view, err := f.route(r)
	from := requestClient(r.Header, view)
	switch {
	case err != nil:
		writeJSON(w, http.StatusNotFound, []byte(`{"error":`+string(wire.Quote(err.Error()))+`}`))
	case base == "mcp":
		f.streamable(w, r, from)
	default:
		f.legacy(w, r, from)
	}
}

var errNoPath = errors.New("there is nothing here; MCP is served at /mcp (streamable HTTP) and /sse (legacy SSE)")

// route returns the transport and the view that the path asks for.
func (f *front) route(r *http.Request) (base, view string, err error) {
	path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/")
	base, view, deeper := strings.Cut(path, "/")
	if base != "mcp" && base != "sse" || deeper && (f.core.views.choose == nil || view == "") {
		return "", "", errNoPath
	}
	refused := base == "mcp" && r.Method != http.MethodPost && r.Header.Get(sessionHeader) == ""
	if deeper && !refused { // to choose a view may be to make it
		if _, fault := f.core.views.ask(requestClient(r.Header, view)); fault != nil {
			return "", "", fault
		}
	}
	return base, view, nil
}

// bodyTime is how long the body of a request may take to come.
const bodyTime = 30 * time.Second

// admit asks the guard, and answers whom it refuses. Until the body is read,
// time runs: also for a body that nobody reads, which the HTTP server skips.
func (f *front) admit(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // not every writer has deadlines
	}
	fault := f.guard.check(r)
	if fault != nil {
		refuse(w, http.StatusForbidden, nil, fault)
	}
	return fault == nil
}

func (f *front) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	switch {
	case p == nil:
		return
	case p == http.ErrAbortHandler:
		panic(p)
	}
	fault := f.core.panicked(r.Context(), p, "path", r.URL.Path)
	refuse(w, http.StatusInternalServerError, nil, fault) // too late if a stream had begun
}

func (f *front) legacy(w http.ResponseWriter, r *http.Request, from Client) {
	switch r.Method {
	case http.MethodGet:
		f.openSSE(w, r, from)
	case http.MethodPost:
		if msgs, batch, ok := f.read(w, r); ok {
			f.postSSE(w, r, msgs, batch)
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		refuse(w, http.StatusMethodNotAllowed, nil, wire.Errorf(wire.CodeInvalidRequest, "use GET to open a session, POST to send messages"))
	}
}

func (f *front) streamable(w http.ResponseWriter, r *http.Request, from Client) {
	if r.Method != http.MethodPost {
		f.noPOST(w, r)
		return
	}
	if a := accepts(r.Header); !a.json && !a.events {
		refuse(w, http.StatusNotAcceptable, nil, wire.Errorf(wire.CodeInvalidRequest, "accept application/json or text/event-stream"))
		return
	}
	msgs, batch, ok := f.read(w, r)
	if !ok {
		return
	}
	version := r.Header.Get(versionHeader)
	switch {
	case batch && version > wire.LastBatch:
		refuse(w, http.StatusBadRequest, nil, errNoBatches())
	case version >= wire.Stateless || !batch && msgs[0].Version >= wire.Stateless:
		f.stateless(w, r, &msgs[0], from)
	default:
		f.session(w, r, msgs, batch, from)
	}
}

// read reads and checks the body of a POST, and answers a bad one.
func (f *front) read(w http.ResponseWriter, r *http.Request) (msgs []wire.Message, batch, ok bool) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, nil, wire.Errorf(wire.CodeInvalidRequest, "the Content-Type must be application/json"))
		return nil, false, false
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		refuse(w, http.StatusUnsupportedMediaType, nil, wire.Errorf(wire.CodeInvalidRequest, "send the body without Content-Encoding"))
		return nil, false, false
	}
	body, err := readBody(w, r, f.maxBody)
	if err != nil {
		status, fault := http.StatusBadRequest, wire.Errorf(wire.CodeParse, "read the body: %.200v", err)
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			status, fault = http.StatusRequestEntityTooLarge, wire.Errorf(wire.CodeInvalidRequest, "the body is larger than %d bytes", f.maxBody)
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Header().Set("Connection", "close")
			status, fault = http.StatusRequestTimeout, wire.Errorf(wire.CodeInvalidRequest, "the body did not come within %v", bodyTime)
		}
		refuse(w, status, nil, fault)
		return nil, false, false
	}
	msgs, batch, fault := wire.Parse(body)
	if fault != nil {
		refuse(w, http.StatusBadRequest, faultID(msgs, fault), fault)
		return nil, false, false
	}
	return msgs, batch, true
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	const trusted = 64 << 10 // a larger buffer is for bytes that did come
	b := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), trusted)+bytes.MinRead))
	_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it would end the call
	}
	return b.Bytes(), err
}
