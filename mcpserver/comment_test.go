package mcpserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// slowTool answers after the time that its argument has, or fails.
func slowTool() *toolpost.Tool {
	return rawTool("slow", anyObject, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		time.Sleep(40 * time.Second)
		if strings.Contains(string(call.Arguments), "fail") {
			return nil, &toolpost.ProtocolError{Code: -32000, Message: "it failed"}
		}
		return toolpost.TextResult("done"), nil
	})
}

// A call that takes long has a response soon, for clients that say they read streams.
func TestSlowCallsHaveComments(t *testing.T) {
	const both = "Accept: application/json, text/event-stream\n"
	for _, tt := range []struct {
		name, accept, arguments, want string
		comments                      int
	}{
		{"a result", both, `{}`, `"text":"done"`, 2},
		{"an error", both, `{"fail":1}`, `"message":"it failed"`, 2},
		{"only streams", "Accept: text/event-stream\n", `{}`, `"text":"done"`, 2},
		{"only JSON", "Accept: application/json\n", `{}`, `"text":"done"`, 0},
		{"anything", "Accept: */*\n", `{}`, `"text":"done"`, 0},
	} {
		for _, modern := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s, _ := newServer(t, nil, slowTool())
				body, header := modernCall("slow", tt.arguments, "")
				if !modern {
					body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":` + tt.arguments + `}}`
					header = openSession(t, s)
				}
				w := handle(s, t.Context(), "POST", body, header+tt.accept)
				got := w.Body.String()
				comments, message := strings.Repeat(": ok\n\n", tt.comments), got[min(len(got), len(": ok\n\n")*tt.comments):]
				isStream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
				if !strings.HasPrefix(got, comments) || strings.Contains(message, ": ok") || !strings.Contains(message, tt.want) || isStream != (tt.comments > 0) {
					t.Errorf("%s, modern %t: %s %s", tt.name, modern, w.Header(), got)
				}
				if isStream == strings.HasPrefix(message, "{") {
					t.Errorf("%s, modern %t: the message is %s", tt.name, modern, message)
				}
			})
		}
	}
}

// Streams on which nothing happens have comments.
func TestSilentStreamsHaveComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, nil)
		session := openSession(t, s)
		listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{
			"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		for _, tt := range []struct{ name, method, path, body, header string }{
			{"GET", "GET", "/mcp", "", session + "Accept: text/event-stream"},
			{"SSE", "GET", "/sse", "", "Accept: text/event-stream"},
			{"listen", "POST", "/mcp", listen, "Accept: application/json, text/event-stream\nMcp-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen"},
		} {
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Second)
			r := request(ctx, tt.method, tt.body, tt.header)
			r.URL.Path, r.RequestURI = tt.path, tt.path
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			leave()
			if got := strings.Count(strings.TrimPrefix(w.Body.String(), ": ok\n\n"), ": ok\n\n"); got != 3 {
				t.Errorf("%s: %d comments in %q", tt.name, got, w.Body)
			}
		}
	})
}

// A page of an allowed origin may ask and read, also errors; others may not.
func TestPagesOfAllowedOrigins(t *testing.T) {
	s, _ := newServer(t, &mcpserver.Options{Origins: []string{"https://app.example"}})
	denied := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	guarded := s.Guard(http.HandlerFunc(denied)) // as behind a check of tokens
	for name, tt := range map[string]struct {
		h                       http.Handler
		method, origin, headers string
		status                  int
		allowed, allowedToSend  string
	}{
		"a question":       {s, "OPTIONS", "https://app.example", "authorization,content-type, Mcp-Session-Id,mcp-param-x,X-Evil,mcp-\"", 204, "https://app.example", "authorization, content-type, mcp-session-id, mcp-param-x"},
		"without a token":  {guarded, "OPTIONS", "https://app.example", "authorization", 204, "https://app.example", "authorization"},
		"this machine":     {s, "OPTIONS", "http://localhost:6274", "content-type", 204, "http://localhost:6274", "content-type"},
		"a refusal":        {guarded, "POST", "https://app.example", "", 401, "https://app.example", ""},
		"a bad request":    {s, "POST", "https://app.example", "", 415, "https://app.example", ""},
		"another question": {s, "OPTIONS", "https://evil.example", "content-type", 403, "", ""},
		"another page":     {s, "POST", "https://evil.example", "", 403, "", ""},
		"no page":          {s, "POST", "", "", 415, "", ""},
		"no question":      {s, "OPTIONS", "https://app.example", "-", 405, "https://app.example", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "http://localhost/mcp", nil)
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		if tt.method == "OPTIONS" && tt.headers != "-" {
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", tt.headers)
		}
		w := httptest.NewRecorder()
		tt.h.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != tt.status || h.Get("Access-Control-Allow-Origin") != tt.allowed || h.Get("Access-Control-Allow-Headers") != tt.allowedToSend {
			t.Errorf("%s: %d %v", name, w.Code, h)
		}
		if (h.Get("Vary") == "Origin") != (tt.allowed != "") || strings.Contains(h.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id, ") != (tt.allowed != "") {
			t.Errorf("%s: %v", name, h)
		}
		if (w.Code == 204) != (h.Get("Access-Control-Allow-Methods") == "GET, POST, DELETE") {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// The address for messages is an absolute path, with the prefix that a proxy tells. If
// a proxy may have one that it does not tell, the address is relative.
func TestEndpointPath(t *testing.T) {
	live := fixedLive(t, "a")
	s, _ := newServer(t, &mcpserver.Options{Views: &hooks{view: func(observe.Client) (*toolpost.Live, error) { return live, nil }}})
	for _, tt := range []struct{ path, header, want string }{
		{"/sse", "", "/sse?"},
		{"/sse/", "", "/sse/?"},
		{"/sse/none", "", "/sse/none?"},
		{"/sse/pro%20file/none", "", "/sse/pro%20file/none?"},
		{"/sse/none", "X-Forwarded-Prefix: /tools", "/tools/sse/none?"},
		{"/sse", "X-Forwarded-Prefix: /tools/", "/tools/sse?"},
		{"/sse", "X-Forwarded-Prefix: /", "/sse?"},
		{"/sse/none", "X-Forwarded-For: 192.0.2.1", "none?"},
		{"/sse/none", "X-Forwarded-Prefix: //evil.example", "none?"},
		{"/sse/none", "X-Forwarded-Prefix: https://evil.example", "none?"},
	} {
		ctx, leave := context.WithCancel(t.Context())
		r := request(ctx, "GET", "", tt.header)
		u := httptest.NewRequest("GET", tt.path, nil).URL
		r.URL, r.RequestURI = u, tt.path
		w := &firstWrite{ResponseRecorder: httptest.NewRecorder(), first: leave}
		s.ServeHTTP(w, r)
		if got := w.Body.String(); !strings.HasPrefix(got, "event: endpoint\ndata: "+tt.want+"sessionid=") {
			t.Errorf("%s, %s: %q", tt.path, tt.header, got)
		}
	}
}

// firstWrite calls first after the first write.
type firstWrite struct {
	*httptest.ResponseRecorder
	first func()
}

func (w *firstWrite) Flush() { w.first() }

// A request for the server card is answered with 404, and a client whose session has ended
// can open another one.
func TestCardAndStaleSession(t *testing.T) {
	live := fixedLive(t, "a")
	s, _ := newServer(t, &mcpserver.Options{Views: &hooks{view: func(c observe.Client) (*toolpost.Live, error) {
		if c.View == "server-card" {
			return nil, errors.New("unknown profile")
		}
		return live, nil
	}}})
	for _, path := range []string{"/mcp/server-card", "/mcp/profile/server-card", "/sse/server-card"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path, nil)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	w := handle(s, t.Context(), "POST", initialize, "Mcp-Session-Id: of-yesterday")
	if id := w.Header().Get("Mcp-Session-Id"); w.Code != http.StatusOK || id == "" || id == "of-yesterday" {
		t.Errorf("%d %s %s", w.Code, id, w.Body)
	}
	if w := handle(s, t.Context(), "POST", ping, "Mcp-Session-Id: of-yesterday"); w.Code != http.StatusNotFound {
		t.Errorf("another request: %d", w.Code)
	}
}

// While the server waits for its calls, what these ask is answered; new calls are
// refused.
func TestDrainTakesAnswers(t *testing.T) {
	s := serve(t, nil, asker(nil))
	session := "Mcp-Session-Id: " + s.post(t, canElicit, "").header.Get("Mcp-Session-Id") + "\n"
	_, sse := s.openSSE(t, t.Context(), "/sse")
	sse(initialize)
	listening := s.events(t, t.Context(), "GET", "", session) // is not waited for
	asked := s.events(t, t.Context(), "POST", askCall, session)
	question := soon(t, asked, "the question")
	soonest, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Drain(soonest) {
		t.Error("a call is under way")
	}
	body, header := modernCall("ask", "{}", "")
	for s.post(t, body, header).status != http.StatusServiceUnavailable { // until the drain has begun
		t.Log("not yet")
	}
	if e := s.post(t, askCall, session); e.status != http.StatusServiceUnavailable || e.header.Get("Retry-After") == "" {
		t.Errorf("a new call: %d %s", e.status, e.body)
	}
	if status := sse(askCall); status != http.StatusServiceUnavailable {
		t.Errorf("a new call over SSE: %d", status)
	}
	if e := s.post(t, `{"jsonrpc":"2.0","id":`+idOf(t, question)+`,"result":{"action":"accept"}}`, session); e.status != http.StatusAccepted {
		t.Errorf("the answer: %d %s", e.status, e.body)
	}
	if got := soon(t, asked, "the result"); !strings.Contains(got, "accept") {
		t.Errorf("got %s", got)
	}
	_ = listening
}

// While initialize waits for the server behind a bridge, pings are answered, and what
// depends on it waits; the end of the input is noticed.
func TestReadsWhileInitializeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{ready: make(chan struct{})}
		s := &served{Server: newServerOf(t, &mcpserver.Options{Bridge: true}, src)}
		lines := stdio(t, s, t.Context())
		lines.send(t, initialize)
		lines.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		lines.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		lines.send(t, `{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
		lines.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		start := time.Now()
		both := <-lines.out.lines + <-lines.out.lines // in any order: they are answered at the same time
		if !strings.Contains(both, `"id":1,"result":{}`) || !strings.Contains(both, `"id":3,`) || time.Since(start) != 0 {
			t.Errorf("after %v: %s", time.Since(start), both)
		}
		time.Sleep(2 * time.Second)
		close(src.ready)
		both = <-lines.out.lines + <-lines.out.lines
		for _, want := range []string{`"protocolVersion"`, `"id":2,"result"`} {
			if !strings.Contains(both, want) {
				t.Errorf("got %s, want %s", both, want)
			}
		}
		late := &source{ready: make(chan struct{})}
		s = &served{Server: newServerOf(t, &mcpserver.Options{Bridge: true}, late)}
		lines = stdio(t, s, t.Context())
		lines.send(t, initialize)
		_ = lines.in.Close()
		start = time.Now()
		if err := <-lines.done; err != nil || time.Since(start) > 10*time.Second {
			t.Errorf("it ends after %v: %v", time.Since(start), err)
		}
	})
}
