package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	jsonx "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// modern serves a request of 2026-07-28: it stands alone, so that the hot
// path needs no session. Methods that are not ours go to the MCP library.
func (f *front) modern(w http.ResponseWriter, r *http.Request, m *message, meta *meta) {
	if !m.isCall() || !ours(m.method) {
		setAccept(r.Header)
		leave, ok := f.listen(w, r, m)
		if !ok {
			return
		}
		defer leave()
		f.stateless.ServeHTTP(&jsonErrors{ResponseWriter: w, id: m.id}, r)
		return
	}
	fault := checkModern(r.Header, m, meta)
	from := meta.peer()
	var view *shown
	if fault == nil {
		view, fault = f.core.views.of(clientOf(&from, r.Header))
	}
	if fault == nil && m.method == callTool {
		fault = checkParams(r.Header, m, view.tools.Load().headers[m.name])
	}
	if fault != nil {
		writeJSON(w, modernStatus(fault), failure(m.id, fault))
		return
	}
	accept := accepts(r.Header)
	s := &stream{w: w, want: levelIndex(meta.LogLevel), events: accept.events, json: accept.json}
	whose := f.caller(r, &from)
	f.core.ready.awaitList(r.Context(), m.method, whose)
	raw, err := f.core.serve(r.Context(), &request{message: *m, peer: from, view: view, whose: whose, token: meta.Progress, link: s})
	s.end(m, raw, err)
}

// An identity is whose a request is; see [toolpost.Call].
type identity struct {
	session, client string
	shared          bool // it may be that of several clients
}

// caller returns whose a request is that belongs to no session: the subject
// that was authenticated, else who has the same credential, else the client of
// that name on that host.
func (f *front) caller(r *http.Request, p *peer) identity {
	if subject := f.identity(r); subject != "" {
		return identity{session: "subject " + subject, shared: true}
	}
	if credential := r.Header.Get("Authorization"); credential != "" {
		return identity{fmt.Sprintf("credential %x", sha256.Sum256([]byte(credential))), "client with a credential " + p.client, true}
	}
	return identity{session: "client " + addressOf(r) + " " + p.client, shared: true}
}

// checkModern checks what every request of 2026-07-28 says about itself.
func checkModern(h http.Header, m *message, meta *meta) *jsonrpc.Error {
	supported := mcp.SupportedProtocolVersions()
	switch {
	case meta.Version == "":
		return rpcError(jsonrpc.CodeInvalidParams, "_meta needs io.modelcontextprotocol/protocolVersion")
	case h.Get(versionHeader) != meta.Version:
		return rpcError(mcp.CodeHeaderMismatch, "the header %s is %.40q, but the body says %.40q", versionHeader, h.Get(versionHeader), meta.Version)
	case meta.Can == nil:
		return rpcError(jsonrpc.CodeInvalidParams, "_meta needs io.modelcontextprotocol/clientCapabilities")
	case !slices.Contains(supported, meta.Version):
		fault := rpcError(mcp.CodeUnsupportedProtocolVersion, "version %.40q is not supported", meta.Version)
		fault.Data, _ = jsonx.Marshal(mcp.UnsupportedProtocolVersionData{Supported: supported, Requested: meta.Version})
		return fault
	}
	return checkHeaders(h, m)
}

// modernStatus is the HTTP status that an error has since 2026-07-28.
func modernStatus(fault *jsonrpc.Error) int {
	switch fault.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError, mcp.CodeHeaderMismatch,
		mcp.CodeMissingRequiredClientCapabilities, mcp.CodeUnsupportedProtocolVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// A stream is the response to one request: plain JSON, or a stream of events
// if a notification comes before the result.
type stream struct {
	w            http.ResponseWriter
	want         int  // least log level, -1 for none
	events, json bool // what the client accepts

	mu      sync.Mutex
	started bool
	ended   bool
}

func (s *stream) notify(_ context.Context, method string, params json.RawMessage) error {
	if !s.events {
		return nil
	}
	const head, middle = `{"jsonrpc":"2.0","method":`, `,"params":`
	data := append(append([]byte(head), quote(method)...), middle...)
	data = append(append(data, params...), '}')
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended { // a handler's goroutine outlived its call
		return nil
	}
	s.start()
	return writeEvent(s.w, "message", data)
}

func (s *stream) log(ctx context.Context, level string, params json.RawMessage) error {
	if s.want < 0 || levelIndex(level) < s.want {
		return nil
	}
	return s.notify(ctx, "notifications/message", params)
}

// ask has no way: calls of this era are parked.
func (s *stream) ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNobodyAnswered
}

func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache, no-transform")
	s.w.WriteHeader(http.StatusOK)
}

func (s *stream) end(m *message, raw json.RawMessage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	data, status := response(m.id, raw), http.StatusOK
	if err != nil {
		fault := toFault(&request{message: *m, peer: peer{version: stateless}}, err)
		data, status = failure(m.id, fault), modernStatus(fault)
	}
	if !s.started && (s.json || status != http.StatusOK) {
		writeJSON(s.w, status, data)
		return
	}
	s.start()
	_ = writeEvent(s.w, "message", data) // the client is gone if it fails
}
