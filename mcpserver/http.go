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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// front is the HTTP side of a server: a chain of small steps.
//
//	recovery ─▶ guard ─▶ /mcp ─▶ body ─▶ envelope ─┬▶ modern    (2026-07-28: every request alone)
//	            403         └▶ 413, 415, 400        └▶ sessions  (up to 2025-11-25)
//	                    /sse ─▶ body ─▶ envelope ───▶ legacySSE
type front struct {
	core      *core
	guard     *guard
	sessions  http.Handler // of the MCP library
	stateless http.Handler // of the MCP library
	sse       *legacySSE
	identity  func(*http.Request) string
	maxBody   int64
	large     chan struct{} // holds one value for each large request that is under way
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

func newFront(c *core, engine *mcp.Server, o *Options) *front {
	get := func(*http.Request) *mcp.Server { return engine }
	return &front{
		core:  c,
		guard: &guard{hosts: o.Hosts, origins: o.Origins},
		sessions: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			SessionTimeout: o.SessionTimeout, MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
		}),
		stateless: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
		}),
		sse:      &legacySSE{engine: engine, all: c.sessions, identity: o.Identity, sessions: map[string]*conn{}},
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
		refuse(w, http.StatusServiceUnavailable, nil, rpcError(jsonrpc.CodeInternalError, "too many large requests are under way; try again later"))
		return
	}
	defer release()
	base, err := f.route(r)
	switch {
	case err != nil:
		writeJSON(w, http.StatusNotFound, []byte(`{"error":`+string(quote(err.Error()))+`}`))
	case base == "mcp":
		f.streamable(w, r)
	default:
		f.legacy(w, r)
	}
}

var errNoPath = errors.New("there is nothing here; MCP is served at /mcp (streamable HTTP) and /sse (legacy SSE)")

// route returns the transport that the path asks for, and keeps the view that
// it asks for in the header.
func (f *front) route(r *http.Request) (base string, err error) {
	path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/")
	base, view, deeper := strings.Cut(path, "/")
	if base != "mcp" && base != "sse" || deeper && (f.core.views.choose == nil || view == "") {
		return "", errNoPath
	}
	delete(r.Header, viewHeader)
	if deeper {
		r.Header[viewHeader] = []string{view}
		if base == "mcp" && r.Method != http.MethodPost && r.Header.Get(sessionHeader) == "" {
			return base, nil // is refused, and need not be shown anything: to choose a view may be to make it
		}
		if _, fault := f.core.views.ask(clientOf(&peer{}, r.Header)); fault != nil {
			return "", errors.New(fault.Message)
		}
	}
	return base, nil
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
		writeJSON(w, http.StatusForbidden, failure(nil, fault))
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
	writeJSON(w, http.StatusInternalServerError, failure(nil, fault)) // too late if a stream had begun
}

func (f *front) legacy(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		f.sse.open(w, r)
	case http.MethodPost:
		if msgs, batch, ok := f.read(w, r); ok {
			f.sse.post(w, r, msgs, batch)
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		refuse(w, http.StatusMethodNotAllowed, nil, rpcError(jsonrpc.CodeInvalidRequest, "use GET to open a session, POST to send messages"))
	}
}

func (f *front) streamable(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		f.stream(w, r)
		return
	}
	a := accepts(r.Header)
	if !a.json && !a.events {
		refuse(w, http.StatusNotAcceptable, nil, rpcError(jsonrpc.CodeInvalidRequest, "accept application/json or text/event-stream"))
		return
	}
	msgs, batch, ok := f.read(w, r)
	if !ok {
		return
	}
	version := r.Header.Get(versionHeader)
	if batch && version > lastBatch {
		refuse(w, http.StatusBadRequest, nil, rpcError(jsonrpc.CodeInvalidRequest, "version %.40s of the protocol has no batches; send one message at a time", version))
		return
	}
	m := &msgs[0]
	var about meta
	if !batch && m.method != "" {
		var fault *jsonrpc.Error
		if about, fault = readMeta(m.meta); fault != nil {
			refuse(w, http.StatusBadRequest, msgs, fault)
			return
		}
	}
	if version >= stateless || about.Version >= stateless {
		f.modern(w, r, m, &about)
		return
	}
	setAccept(r.Header)
	f.session(w, r, msgs, batch)
}

// read reads and checks the body of a POST, and answers a bad one.
func (f *front) read(w http.ResponseWriter, r *http.Request) (msgs []message, batch, ok bool) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, nil, rpcError(jsonrpc.CodeInvalidRequest, "the Content-Type must be application/json"))
		return nil, false, false
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		refuse(w, http.StatusUnsupportedMediaType, nil, rpcError(jsonrpc.CodeInvalidRequest, "send the body without Content-Encoding"))
		return nil, false, false
	}
	body, err := readBody(w, r, f.maxBody)
	if err != nil {
		status, fault := http.StatusBadRequest, rpcError(jsonrpc.CodeParseError, "read the body: %.200v", err)
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			status, fault = http.StatusRequestEntityTooLarge, rpcError(jsonrpc.CodeInvalidRequest, "the body is larger than %d bytes", f.maxBody)
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Header().Set("Connection", "close")
			status, fault = http.StatusRequestTimeout, rpcError(jsonrpc.CodeInvalidRequest, "the body did not come within %v", bodyTime)
		}
		refuse(w, status, nil, fault)
		return nil, false, false
	}
	msgs, batch, fault := parse(body)
	if fault != nil {
		refuse(w, http.StatusBadRequest, msgs, fault)
		return nil, false, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
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

// refuse answers a bad message.
func refuse(w http.ResponseWriter, status int, msgs []message, fault *jsonrpc.Error) {
	writeJSON(w, status, failure(faultID(msgs, fault), fault))
}
