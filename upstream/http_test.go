package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// serve serves h on loopback for the time of the test.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

func streamableHandler(t *testing.T, s *mcp.Server, stateless bool) http.Handler {
	t.Cleanup(func() {
		for session := range s.Sessions() {
			session.Close()
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: true})
}

func sseHandler(s *mcp.Server) http.Handler {
	return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// Everything that an ordinary server offers works over every transport.
func TestOrdinaryServers(t *testing.T) {
	tests := []struct {
		name      string
		cfg       func(t *testing.T) *upstream.Config
		transport upstream.Transport
		version   string
	}{
		{"stdio", func(t *testing.T) *upstream.Config { return child(t, "sdk") }, upstream.Stdio, "2025-11-25"},
		{"stdio, modern", func(t *testing.T) *upstream.Config {
			cfg := child(t, "sdk")
			cfg.ProtocolVersion = "2026-07-28"
			return cfg
		}, upstream.Stdio, "2026-07-28"},
		{"stdio, classic", func(t *testing.T) *upstream.Config {
			cfg := child(t, "sdk")
			cfg.ProtocolVersion = "2024-11-05"
			return cfg
		}, upstream.Stdio, "2024-11-05"},
		{"http, classic", func(t *testing.T) *upstream.Config {
			return &upstream.Config{URL: serve(t, streamableHandler(t, sdkServer(t.Context()), false)).URL}
		}, upstream.HTTP, "2025-11-25"},
		{"http, modern", func(t *testing.T) *upstream.Config {
			return &upstream.Config{URL: serve(t, streamableHandler(t, sdkServer(t.Context()), true)).URL}
		}, upstream.HTTP, "2026-07-28"},
		{"sse, found", func(t *testing.T) *upstream.Config {
			return &upstream.Config{URL: serve(t, sseHandler(sdkServer(t.Context()))).URL + "/sse"}
		}, upstream.SSE, "2025-11-25"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, test.cfg(t)).ready(t)
			if v := s.Status(); v.Transport != test.transport || v.Version != test.version || v.Server != "ordinary 1.2" || v.Err != nil || len(v.Skipped) > 0 {
				t.Errorf("status %+v", v)
			}
			if got := s.text(t, "echo", `{"b":1,"a":9007199254740993}`, nil); got != `{"b":1,"a":9007199254740993}` {
				t.Errorf("echo: %s", got)
			}
			testFeatures(t, s)
			testAsk(t, s)
			testCancel(t, s)
		})
	}
}

func testFeatures(t *testing.T, s *server) {
	t.Helper()
	f := s.Features()
	if f.Instructions != "Be kind." || len(f.Prompts) != 1 || len(f.Resources) != 2 || f.Subscribe == nil {
		t.Fatalf("features %+v", f)
	}
	p, r, tpl := f.Prompts[0], f.Resources[0], f.Resources[1]
	if p.Name != "p" || r.URI != "test://r" || r.Template || tpl.URI != "test://{x}/y" || !tpl.Template {
		t.Errorf("features %+v %+v %+v", p, r, tpl)
	}
	result := func(h toolpost.Handler, name, arguments string) string {
		t.Helper()
		got, err := h(t.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := got.MarshalJSON()
		return string(raw)
	}
	for _, test := range []struct{ got, want string }{
		{result(p.Get, "p", `{"a":"hello"}`), `"description":"hello"`},
		{result(p.Get, "p", ``), `"messages":`},
		{result(r.Read, "test://r", ``), `"text":"content"`},
		{result(tpl.Read, "test://1/y", ``), `"uri":"test://1/y"`},
		{result(p.Complete, "", `{"ref":{"type":"ref/prompt","name":"theirs"},"argument":{"name":"a","value":"v"}}`), `"values":["pv"]`},
		{result(tpl.Complete, "", `{"argument":{"name":"x","value":"v"}}`), `"values":["test://{x}/yv"]`},
	} {
		if !strings.Contains(test.got, test.want) {
			t.Errorf("got %s, want %s in it", test.got, test.want)
		}
	}
	var e *toolpost.ProtocolError
	if _, err := r.Read(t.Context(), &toolpost.Call{Name: "test://none"}); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func testAsk(t *testing.T, s *server) {
	t.Helper()
	r := newRecorder()
	r.answer = func(method string, params json.RawMessage) (json.RawMessage, error) {
		if method != "elicitation/create" || !strings.Contains(string(params), `"name?"`) {
			return nil, fmt.Errorf("asked %s %s", method, params)
		}
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
	}
	if got := s.text(t, "ask", "", r); got != "accept Ada" {
		t.Errorf("ask: %s", got)
	}
	if got := s.text(t, "ask", "", newRecorder()); !strings.Contains(got, "cannot answer") {
		t.Errorf("ask: %s", got)
	}
}

func testCancel(t *testing.T, s *server) {
	t.Helper()
	r := newRecorder()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { <-r.told; cancel() }()
	if _, err := s.call(ctx, &toolpost.Call{Name: "slow", Caller: r}); !errors.Is(err, context.Canceled) {
		t.Errorf("slow: %v", err)
	}
	if len(r.heard) == 0 || r.heard[0] != `progress{"message":"begun","progress":0}` {
		t.Errorf("heard %q", r.heard)
	}
	if got := s.text(t, "echo", `{}`, nil); got != `{}` {
		t.Errorf("after a cancelled call: %s", got)
	}
}

func TestHTTPFaults(t *testing.T) {
	answer := func(status int, kind, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body+r.Header.Get("Authorization"))
		})
	}
	tlsServer := httptest.NewTLSServer(answer(200, "", ""))
	defer tlsServer.Close()
	tlsServer.Config.ErrorLog = nil
	gone := httptest.NewServer(nil)
	gone.Close()
	elsewhere := serve(t, http.NotFoundHandler())
	tests := []struct {
		name, url string
		want      string
	}{
		{"401", serve(t, answer(401, "text/plain", "who are you, ")).URL, "401 Unauthorized; it refuses the Authorization header that it was sent; check the credentials: who are you, [hidden]"},
		{"403", serve(t, answer(403, "text/plain", "")).URL, "403 Forbidden; its credentials"},
		{"404", serve(t, answer(404, "text/html", "<h1>nothing</h1>")).URL, "404 Not Found; check the path of its url: <h1>nothing</h1>"},
		{"500", serve(t, answer(500, "text/plain", "stack\n trace")).URL, "500 Internal Server Error; the server has an error; check its log: stack trace"},
		{"502", serve(t, answer(502, "text/html", "<h1>bad gateway</h1>")).URL, "502 Bad Gateway"},
		{"503", serve(t, answer(503, "text/html", "<h1>busy</h1>")).URL, "503 Service Unavailable"},
		{"429", serve(t, answer(429, "text/plain", "slower")).URL, "429 Too Many Requests"},
		{"error of MCP", serve(t, answer(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no entry"}}`)).URL, "no entry"},
		{"HTML", serve(t, answer(200, "text/html; charset=utf-8", "<html>")).URL, "answered with text/html, which is not MCP; check what its command or url leads to: <html>"},
		{"not JSON", serve(t, answer(200, "application/json", "{")).URL, "JSON that does not answer the call"},
		{"no type", serve(t, answer(202, "", "")).URL, "no content type"},
		{"TLS", tlsServer.URL, "its TLS certificate is signed by an unknown authority"},
		{"no TLS", strings.Replace(elsewhere.URL, "http:", "https:", 1), "it does not speak TLS; use http://"},
		{"nothing there", gone.URL, "nothing listens at its address"},
		{"elsewhere", serve(t, http.RedirectHandler(elsewhere.URL+"/mcp", http.StatusTemporaryRedirect)).URL, "another origin, " + elsewhere.URL},
		{"other method", serve(t, http.RedirectHandler("/login", http.StatusFound)).URL, "redirects to /login; use that address"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			address := strings.Replace(test.url, "://", "://user:pa55word@", 1) + "/mcp?key=k3ysecret"
			s := start(t, &upstream.Config{URL: address, Headers: map[string]string{"Authorization": "Bearer t0ksecret"}})
			err := s.Ready(t.Context())
			if err == nil {
				t.Fatal("it is ready")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), `server "srv": `) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
			for _, secret := range []string{"t0ksecret", "pa55word", "k3ysecret"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
			if v := s.Status(); v.State != upstream.Failed && v.State != upstream.Connecting {
				t.Errorf("status %+v", v)
			}
		})
	}
}

// A switch is a handler that can be exchanged while it serves.
type switchable struct{ atomic.Pointer[http.Handler] }

func (s *switchable) set(h http.Handler) { s.Store(&h) }
func (s *switchable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*s.Load()).ServeHTTP(w, r)
}

// A server that was restarted has forgotten the session.
func TestLostSession(t *testing.T) {
	var h switchable
	h.set(streamableHandler(t, sdkServer(t.Context()), false))
	s := start(t, &upstream.Config{URL: serve(t, &h).URL}).ready(t)
	for range 3 {
		h.set(streamableHandler(t, sdkServer(t.Context()), false))
		if got := s.text(t, "echo", `{"a":1}`, nil); got != `{"a":1}` {
			t.Fatalf("got %q", got)
		}
	}
}

// Calls that go wrong leave the connection as it was.
func TestBrokenAnswers(t *testing.T) {
	var broken atomic.Pointer[http.HandlerFunc]
	good := streamableHandler(t, sdkServer(t.Context()), false)
	s := start(t, &upstream.Config{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if h := broken.Load(); h != nil && strings.Contains(string(body), "tools/call") {
			(*h)(w, r)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		good.ServeHTTP(w, r)
	})).URL, MaxMessage: 1 << 20}).ready(t)
	before := s.Status()
	stream := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, text)
		}
	}
	write := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	tests := []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"500", write(500, "text/plain", "oops"), "500 Internal Server Error"},
		{"503", write(503, "text/plain", ""), "503 Service Unavailable"},
		{"429", write(429, "text/plain", ""), "it limits the rate of requests"},
		{"HTML", write(200, "text/html", "<p>"), "answered with text/html"},
		{"truncated", write(200, "application/json", `{"jsonrpc":"2.0","id":`), "does not answer the call"},
		{"other id", write(200, "application/json", `{"jsonrpc":"2.0","id":987654,"result":{"private":1}}`), "does not answer the call"},
		{"too long", write(200, "application/json", strings.Repeat(" ", 2<<20)), "too long"},
		{"event that is no message", stream("data: hello\n\n"), "ended before the response arrived"},
		{"cut event", stream("data: {\"jsonrpc\":\"2.0\""), "ended before the response arrived"},
		{"endless event", stream("data: " + strings.Repeat("x", 2<<20)), "more than 1048576 bytes"},
		{"empty stream", stream(""), "may have been carried out"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			broken.Store(&test.h)
			got := s.text(t, "echo", `{}`, nil)
			if !strings.HasPrefix(got, `error: tool echo was not answered: server "srv": `) || !strings.Contains(got, test.want) || strings.Contains(got, "private") {
				t.Errorf("got %q, want %q in it, and nothing of another call", got, test.want)
			}
			broken.Store(nil)
			if got := s.text(t, "echo", `{}`, nil); got != `{}` {
				t.Errorf("the next call: %q", got)
			}
		})
	}
	if after := s.Status(); after.State != upstream.Ready || after.Took != before.Took {
		t.Errorf("it was connected again: %+v", after)
	}
}

// Two calls at once each hear only what is theirs.
func TestQuestionsOfManyCalls(t *testing.T) {
	s := start(t, &upstream.Config{URL: serve(t, streamableHandler(t, sdkServer(t.Context()), false)).URL}).ready(t)
	var all sync.WaitGroup
	var meet sync.WaitGroup
	meet.Add(4)
	for i := range 4 {
		all.Go(func() {
			name := fmt.Sprint("caller", i)
			r := newRecorder()
			r.answer = func(string, json.RawMessage) (json.RawMessage, error) {
				meet.Done()
				meet.Wait() // all are asked before one answers
				return json.RawMessage(`{"action":"accept","content":{"name":"` + name + `"}}`), nil
			}
			if got := s.text(t, "ask", "", r); got != "accept "+name {
				t.Errorf("%s got %q", name, got)
			}
		})
	}
	all.Wait()
}

// Lists and resources that change are told by modern and classic servers.
func TestWatching(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprint("stateless ", stateless), func(t *testing.T) {
			sdk := sdkServer(t.Context())
			s := start(t, &upstream.Config{URL: serve(t, streamableHandler(t, sdk, stateless)).URL}).ready(t)
			if err := s.Features().Subscribe(t.Context(), "test://r", true); err != nil {
				t.Fatal(err)
			}
			// Who has subscribed misses nothing.
			if err := sdk.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test://r"}); err != nil {
				t.Fatal(err)
			}
			select {
			case uri := <-s.uris:
				if uri != "test://r" {
					t.Errorf("updated %q", uri)
				}
			case <-time.After(time.Minute):
				t.Error("the update did not arrive")
			}
			sdk.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			s.until(t, "the new tool is listed", func() bool { return strings.Contains(s.names(t), "late") })
			sdk.RemovePrompts("p")
			s.until(t, "the prompt is gone", func() bool { return len(s.Features().Prompts) == 0 })
			if err := s.Features().Subscribe(t.Context(), "test://r", false); err != nil {
				t.Error(err)
			}
		})
	}
}

// A modern server's stream of changes that breaks is opened again.
func TestListensAgain(t *testing.T) {
	t.Parallel()
	sdk := sdkServer(t.Context())
	srv := serve(t, streamableHandler(t, sdk, true))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	for i := range 2 {
		srv.CloseClientConnections()
		sdk.AddTool(&mcp.Tool{Name: fmt.Sprint("late", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
		s.until(t, "the new tool is listed", func() bool { return strings.Contains(s.names(t), fmt.Sprint("late", i)) })
	}
}

// Old servers that do not tell where to send messages get them at /messages,
// and an address elsewhere gets nothing.
func TestSSEEndpoints(t *testing.T) {
	sse := func(first string) http.Handler {
		mux := http.NewServeMux()
		answers := make(chan string, 10)
		mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, first)
			w.(http.Flusher).Flush()
			for {
				select {
				case a := <-answers:
					fmt.Fprintf(w, "data: %s\r\n\r\n", a)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		})
		mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.WriteHeader(202)
			switch m.Method {
			case "initialize":
				answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}}`, m.ID)
			case "tools/list":
				answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, oneTool)
			}
		})
		return mux
	}
	cfg := &upstream.Config{URL: serve(t, sse(": hello\n\n")).URL + "/sse", Transport: upstream.SSE, ProbeTimeout: 50 * time.Millisecond}
	if s := start(t, cfg).ready(t); s.names(t) != "t" || s.Status().Version != "2024-11-05" {
		t.Errorf("status %+v", s.Status())
	}
	cfg = &upstream.Config{URL: serve(t, sse("event: endpoint\ndata: http://127.0.0.1:1/steal\n\n")).URL + "/sse", Transport: upstream.SSE}
	if err := start(t, cfg).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "another origin, http://127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
}

// An SSE server is found, in whatever words it refuses a POST.
func TestSSEIsFound(t *testing.T) {
	for status, body := range map[int]string{
		404: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"there is no such session"}}`,
		405: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Method not allowed."}}`,
		400: `sessionid must be provided`,
	} {
		sse := sseHandler(sdkServer(t.Context()))
		srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.URL.RawQuery == "" {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
				return
			}
			sse.ServeHTTP(w, r)
		}))
		if s := start(t, &upstream.Config{URL: srv.URL + "/sse"}).ready(t); s.Status().Transport != upstream.SSE {
			t.Errorf("%d: status %+v", status, s.Status())
		}
	}
}

// An endless event ends an SSE connection, not us.
func TestEndlessSSE(t *testing.T) {
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := io.WriteString(w, "event: endpoint\ndata: /messages\n\ndata: ")
		for line := strings.Repeat("x", 1<<16); err == nil && r.Method == http.MethodGet; {
			_, err = io.WriteString(w, line)
		}
	}))
	s := start(t, &upstream.Config{URL: srv.URL + "/sse", Transport: upstream.SSE, MaxMessage: 1 << 20})
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// A server that offers no stream is not asked for it again.
func TestNoStream(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	good := streamableHandler(t, sdkServer(t.Context()), false)
	s := start(t, &upstream.Config{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			asked.Add(1)
			w.WriteHeader(http.StatusMethodNotAllowed)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Method not allowed."}}`)
			return
		}
		good.ServeHTTP(w, r)
	})).URL}).ready(t)
	for began := time.Now(); time.Since(began) < 1200*time.Millisecond; { // longer than a stream that broke waits
		if got := s.text(t, "echo", `{}`, nil); got != `{}` {
			t.Fatalf("got %q", got)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// A hanging server is given up in time, and closed at once.
func TestHangingHTTP(t *testing.T) {
	srv := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	for _, transport := range []upstream.Transport{upstream.HTTP, upstream.SSE} {
		cfg := &upstream.Config{URL: srv.URL, Transport: transport, ConnectTimeout: 100 * time.Millisecond, ProbeTimeout: 50 * time.Millisecond}
		if err := start(t, cfg).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("%s: got %v", transport, err)
		}
		s := start(t, &upstream.Config{URL: srv.URL, Transport: transport})
		began := time.Now()
		s.Close()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: close took %v", transport, took)
		}
	}
}

// Redirects within the origin are followed with the whole request, but not for
// ever.
func TestRedirects(t *testing.T) {
	to, err := url.Parse(answering(t, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`, true).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	var circles atomic.Int64
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/real":
			if r.Header.Get("Token") != "secret" {
				t.Errorf("a request without its headers: %v", r.Header)
			}
			proxy.ServeHTTP(w, r)
		case "/one":
			http.Redirect(w, r, "two?x=y", http.StatusPermanentRedirect)
		case "/two":
			http.Redirect(w, r, "/real", http.StatusTemporaryRedirect)
		default:
			circles.Add(1)
			http.Redirect(w, r, "/circle", http.StatusTemporaryRedirect)
		}
	})).URL
	s := start(t, &upstream.Config{URL: address + "/one", Headers: map[string]string{"Token": "secret"}, Transport: upstream.HTTP, ProtocolVersion: "2025-06-18"}).ready(t)
	if _, err := s.call(t.Context(), &toolpost.Call{Name: "t"}); err != nil {
		t.Error(err)
	}
	c := start(t, &upstream.Config{URL: address + "/circle", Transport: upstream.HTTP, ProtocolVersion: "2025-06-18"})
	if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "redirects in a circle") {
		t.Errorf("got %v", err)
	}
	if n := circles.Load(); n == 0 || n%5 != 0 {
		t.Errorf("%d requests went in a circle, want 5 for each attempt", n)
	}
}

// A redirect to another origin is not followed: the request has credentials.
func TestRedirectElsewhere(t *testing.T) {
	var asked atomic.Int64
	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })).URL
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"/mcp", http.StatusTemporaryRedirect)
	})).URL
	s := start(t, &upstream.Config{URL: address + "/mcp", Headers: map[string]string{"Token": "secret"}})
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "redirect") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}
