package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // few of the many small values live: collecting them was a fifth of the time
	goleak.VerifyTestMain(m)
}

// rawTool is a tool of a foreign source: its handler sees what came.
func rawTool(name, input string, h toolpost.Handler) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Description: "a tool", Input: schema.MustParse(input)},
		Handler:    h, Policy: toolpost.Policy{SkipValidation: true},
	}
}

const anyObject = `{"type":"object"}`

func textTool(name, text string) *toolpost.Tool {
	return rawTool(name, anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(text), nil
	})
}

// A served server, over HTTP.
type served struct {
	*mcpserver.Server
	url    string
	tools  *source
	client *http.Client
}

// source is a toolset that tests change.
type source struct {
	toolpost.Base
	ready chan struct{} // closed when it is ready; nil if it always is

	mu       sync.Mutex
	tools    []*toolpost.Tool
	features *toolpost.Features
}

func (s *source) Tools(context.Context) ([]*toolpost.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, nil
}

func (s *source) set(t *testing.T, tools ...*toolpost.Tool) {
	t.Helper()
	s.mu.Lock()
	s.tools = tools
	s.mu.Unlock()
	s.Notify(toolpost.Event{})
}

func (s *source) Features() *toolpost.Features {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.features
}

func (s *source) SetFeatures(f *toolpost.Features) {
	s.mu.Lock()
	s.features = f
	s.mu.Unlock()
	s.Notify(toolpost.Event{})
}

func (s *source) Ready(ctx context.Context) error {
	if s.ready == nil {
		return nil
	}
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newServer(t *testing.T, opts *mcpserver.Options, tools ...*toolpost.Tool) (*mcpserver.Server, *source) {
	t.Helper()
	src := &source{tools: tools}
	return newServerOf(t, opts, src), src
}

func newServerOf(t *testing.T, opts *mcpserver.Options, ts toolpost.Toolset) *mcpserver.Server {
	t.Helper()
	if opts == nil {
		opts = &mcpserver.Options{}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Views != nil {
		if h, ok := opts.Views.(*hooks); ok && h.view == nil {
			live, err := toolpost.NewLive(t.Context(), ts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(live.Close)
			h.view = func(observe.Client) (*toolpost.Live, error) { return live, nil }
		}
	}
	s, err := mcpserver.New(t.Context(), ts, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func serve(t *testing.T, opts *mcpserver.Options, tools ...*toolpost.Tool) *served {
	t.Helper()
	s, src := newServer(t, opts, tools...)
	return servedOver(t, s, src)
}

// servedOver serves a server over HTTP.
func servedOver(t *testing.T, s *mcpserver.Server, src *source) *served {
	t.Helper()
	h := httptest.NewServer(s)
	client := h.Client()
	t.Cleanup(func() {
		_ = s.Close() // ends the streams that h would wait for
		client.CloseIdleConnections()
		h.Close()
	})
	return &served{s, h.URL, src, client}
}

func (s *served) SetFeatures(f *toolpost.Features) { s.tools.SetFeatures(f) }

// A way is a transport and a version of the protocol.
type way struct{ transport, version string }

func (w way) String() string   { return w.transport + " " + w.version }
func (w way) isModern() bool   { return w.version >= "2026-07-28" }
func (w way) testName() string { return strings.ReplaceAll(w.String(), " ", "_") }

// ways are all that clients can come by.
func ways() []way {
	var all []way
	for _, v := range mcp.SupportedProtocolVersions() {
		all = append(all, way{"http", v}, way{"stdio", v})
	}
	return append(all, way{"sse", "2024-11-05"})
}

// connect returns a session of the MCP library's client.
func (w way) connect(t *testing.T, s *served, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, _ := w.dial(t, s, opts)
	return session
}

// dial connects; the channel tells of every subscription that stands.
func (w way) dial(t *testing.T, s *served, opts *mcp.ClientOptions) (*mcp.ClientSession, <-chan string) {
	t.Helper()
	return w.dialAs(t, s, "tester", "", opts)
}

// dialAs connects under a name, at an address that ends with the path.
func (w way) dialAs(t *testing.T, s *served, name, path string, opts *mcp.ClientOptions) (*mcp.ClientSession, <-chan string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "9"}, opts)
	stands := make(chan string, 99)
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				stands <- method
			}
			return next(ctx, method, req)
		}
	})
	var transport mcp.Transport
	switch w.transport {
	case "http":
		transport = &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp" + path, HTTPClient: s.client, MaxRetries: -1}
	case "sse":
		transport = &mcp.SSEClientTransport{Endpoint: s.url + "/sse" + path, HTTPClient: s.client}
	case "stdio":
		toServer, in := io.Pipe()
		out, fromServer := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := s.ServeStdio(context.Background(), toServer, fromServer)
			_ = fromServer.Close()
			done <- err
		}()
		t.Cleanup(func() {
			_ = in.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		transport = &mcp.IOTransport{Reader: out, Writer: in}
	}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: w.version})
	if err != nil {
		t.Fatalf("connect over %s: %v", w, err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the server may be gone already
	return session, stands
}

// everyWay runs a test over every transport and version.
func everyWay(t *testing.T, f func(t *testing.T, w way)) {
	for _, w := range ways() {
		t.Run(w.testName(), func(t *testing.T) { f(t, w) })
	}
}

func callText(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T", r.Content[0])
	}
	return text.Text
}

// An exchange is one POST and its answer.
type exchange struct {
	status int
	header http.Header
	body   string
}

// post sends a body to /mcp; header is lines of "Name: value".
func (s *served) post(t *testing.T, body, header string) exchange {
	t.Helper()
	return s.do(t, http.MethodPost, "/mcp", body, header)
}

func (s *served) do(t *testing.T, method, path, body, header string) exchange {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "":
		case "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return exchange{resp.StatusCode, resp.Header, string(data)}
}

// last returns the JSON of the last message: the body, or that of the last event.
func (e exchange) last() string {
	if i := strings.LastIndex(e.body, "\ndata: "); i >= 0 {
		return strings.TrimSpace(e.body[i+len("\ndata: "):])
	}
	return strings.TrimSpace(e.body)
}

func (e exchange) errorCode(t *testing.T) (code int, id string) {
	t.Helper()
	var m struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	if err := json.Unmarshal([]byte(e.last()), &m); err != nil {
		t.Fatalf("%d %s: %v", e.status, e.body, err)
	}
	return m.Error.Code, string(m.ID)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// session opens a session of the stateful era and returns its headers.
func (s *served) session(t *testing.T) string {
	t.Helper()
	e := s.post(t, initialize, "")
	id := e.header.Get("Mcp-Session-Id")
	if e.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s", e.status, e.body)
	}
	return "Mcp-Session-Id: " + id + "\nMcp-Protocol-Version: 2025-11-25\n"
}

// modernCall is a tools/call of 2026-07-28: its body and headers. Extra
// members of params begin with a comma.
func modernCall(tool, arguments, extra string) (body, header string) {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + extra +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
		"Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: " + tool + "\n"
}

// syncBuffer is a buffer that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func logger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// eventful is a toolset that reports events from its beginning to its end.
type eventful struct{ toolpost.Base }

func (*eventful) Tools(context.Context) ([]*toolpost.Tool, error) { return nil, nil }
func (*eventful) Features() *toolpost.Features                    { return nil }
func (*eventful) Ready(context.Context) error                     { return nil }

// Events may come while the server is made.
func TestEventsWhileServerIsMade(t *testing.T) {
	ts := &eventful{}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			ts.Notify(toolpost.Event{Resource: "x:y"})
		}
	}()
	for range 50 {
		s, err := mcpserver.New(t.Context(), ts, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	end()
	<-done
}
