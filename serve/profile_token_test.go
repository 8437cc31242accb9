package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
)

const (
	readerToken = "reader-token-0123456789abcdef0123456789"
	writerToken = "writer-token-0123456789abcdef0123456789"
)

// profiled serves tools with two profiles that have tokens and one that has none,
// over HTTP as "toolpost serve" does. Without token, the port needs none.
func profiled(t *testing.T, token string) *httptest.Server {
	t.Helper()
	cfg, err := config.Parse("toolpost.json", fmt.Appendf(nil, `{"mcpServers": {}, "profiles": {
		"reader": {"include": ["read_*"], "token": %q},
		"writer": {"include": ["write_*"], "token": %q},
		"open": {"include": ["list_*"]}}}`, readerToken, writerToken), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var tools toolpost.Tools
	for _, name := range []string{"read_a", "write_a", "list_a"} {
		tools = append(tools, toolpost.New(name, "Answers.", func(context.Context, struct{}) (string, error) { return "done by " + name, nil }, nil))
	}
	live, err := toolpost.NewLive(t.Context(), tools)
	if err != nil {
		t.Fatal(err)
	}
	views, err := gateway.NewViews(live, cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpserver.New(t.Context(), live, &mcpserver.Options{Identity: identity, Views: views})
	if err != nil {
		t.Fatal(err)
	}
	a := &access{token: token}
	a.useProfiles(cfg)
	mux := http.NewServeMux()
	mux.Handle("/", server)
	for _, path := range []string{statusPath, readyPath, "/metrics"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	}
	web := httptest.NewServer(a.requireToken(mux))
	t.Cleanup(func() {
		_ = server.Close()
		web.Close()
		_ = views.Close()
		live.Close()
	})
	return web
}

// A wireMessage is one request of a client that is written by hand.
type wireMessage struct {
	method, path, token, session, body string
	header                             map[string]string // beside those of the other members
}

// exchange sends a message; the caller reads the answer.
func (m wireMessage) exchange(t *testing.T, web *httptest.Server) *http.Response {
	t.Helper()
	method := http.MethodPost
	if m.method != "" {
		method = m.method
	}
	r, err := http.NewRequestWithContext(t.Context(), method, web.URL+m.path, strings.NewReader(m.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	}
	if m.token != "" {
		r.Header.Set("Authorization", "Bearer "+m.token)
	}
	if m.session != "" {
		r.Header.Set("Mcp-Session-Id", m.session)
	}
	for name, value := range m.header {
		r.Header.Set(name, value)
	}
	answer, err := (&http.Client{Timeout: patience}).Do(r) // a stream that should have been refused does not end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// send returns the status and the text of an answer.
func (m wireMessage) send(t *testing.T, web *httptest.Server) (int, string) {
	t.Helper()
	answer := m.exchange(t, web)
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const (
	initializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	listMessage       = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// openSession opens a session and returns its id.
func openSession(t *testing.T, web *httptest.Server, path, token string) string {
	t.Helper()
	answer := wireMessage{path: path, token: token, body: initializeMessage}.exchange(t, web)
	id := answer.Header.Get("Mcp-Session-Id")
	if answer.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("initialize at %s: %s", path, answer.Status)
	}
	return id
}

// The token of a profile gives access to the profile at every address of it, and
// to nothing else.
func TestTokenOfAProfile(t *testing.T) {
	for name, main := range map[string]string{"port with a token": sampleToken, "port without one": ""} {
		web := profiled(t, main)
		for _, path := range []string{"/mcp", "/mcp/", "/mcp/reader", "/mcp/reader/none", "/mcp/none", "/mcp/cursor"} {
			id := openSession(t, web, path, readerToken)
			status, text := wireMessage{path: path, token: readerToken, session: id, body: listMessage}.send(t, web)
			if status != 200 || !strings.Contains(text, `"read_a"`) || strings.Contains(text, "write_a") || strings.Contains(text, "list_a") {
				t.Errorf("%s, %s: %d %s", name, path, status, text)
			}
			call := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write_a","arguments":{}}}`
			if _, text := (wireMessage{path: path, token: readerToken, session: id, body: call}).send(t, web); strings.Contains(text, "done by") || !strings.Contains(text, "write_a") {
				t.Errorf("%s, %s: a call of a tool outside of the profile: %s", name, path, text)
			}
		}
		for _, path := range []string{"/mcp/writer", "/mcp/open", "/mcp/open/none", "/mcp/nothing/none", "/mcp/writer/reader", "/sse/writer", "/", "/mcpx", "/mcp/../status", statusPath, "/metrics"} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				status, text := wireMessage{method: method, path: path, token: readerToken, body: initializeMessage}.send(t, web)
				if status != http.StatusForbidden || !strings.Contains(text, "this token is for the profile reader only: use /mcp/reader") {
					t.Errorf("%s, %s %s: %d %s", name, method, path, status, text)
				}
			}
		}
		for _, token := range []string{readerToken[1:], readerToken + "x", readerToken + " " + writerToken, "x"} {
			if status, text := (wireMessage{path: "/mcp/reader", token: token, body: initializeMessage}).send(t, web); status != http.StatusUnauthorized || strings.Contains(text, readerToken) {
				t.Errorf("%s, a wrong token: %d %s", name, status, text)
			}
		}
	}
}

// The token of the port gives access to all profiles. Where the port needs none,
// everyone has that.
func TestProfilesWithoutTheirToken(t *testing.T) {
	for _, main := range []string{sampleToken, ""} {
		web := profiled(t, main)
		for path, want := range map[string]string{"/mcp": "write_a", "/mcp/writer": "write_a", "/mcp/open": "list_a", "/mcp/reader": "read_a"} {
			id := openSession(t, web, path, main)
			if _, text := (wireMessage{path: path, token: main, session: id, body: listMessage}).send(t, web); !strings.Contains(text, want) {
				t.Errorf("%s: %s", path, text)
			}
		}
		if status, text := (wireMessage{method: http.MethodGet, path: statusPath, token: main}).send(t, web); status != 200 {
			t.Errorf("status: %d %s", status, text)
		}
	}
	if status, _ := (wireMessage{path: "/mcp/reader", body: initializeMessage}).send(t, profiled(t, sampleToken)); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
}

// Requests of another identity cannot use, follow or end a session.
func TestSessionsOfProfiles(t *testing.T) {
	web := profiled(t, "")
	own := openSession(t, web, "/mcp", readerToken)
	for _, other := range []struct{ name, path, token string }{
		{"another profile", "/mcp", writerToken}, {"no token", "/mcp", ""}, {"no token, at the profile", "/mcp/reader", ""},
	} {
		for method, body := range map[string]string{http.MethodPost: listMessage, http.MethodGet: "", http.MethodDelete: ""} {
			status, text := wireMessage{method, other.path, other.token, own, body, nil}.send(t, web)
			if status != http.StatusForbidden || !strings.Contains(text, "belongs to another user") {
				t.Errorf("%s, %s: %d %s", other.name, method, status, text)
			}
		}
	}
	if status, text := (wireMessage{path: "/mcp", token: readerToken, session: own, body: listMessage}).send(t, web); status != 200 || !strings.Contains(text, "read_a") {
		t.Errorf("its own session: %d %s", status, text)
	}
	all := openSession(t, web, "/mcp", "")
	if status, text := (wireMessage{path: "/mcp", token: readerToken, session: all, body: listMessage}).send(t, web); status != http.StatusForbidden {
		t.Errorf("a session for all that is served: %d %s", status, text)
	}
	if status, _ := (wireMessage{method: http.MethodDelete, path: "/mcp", token: readerToken, session: own}).send(t, web); status != http.StatusNoContent {
		t.Errorf("the end of its own session: %d", status)
	}
}

// Over SSE, the messages of a session need the token that opened it.
func TestTokenOfAProfileOverSSE(t *testing.T) {
	web := profiled(t, "")
	answer := wireMessage{method: http.MethodGet, path: "/sse", token: readerToken}.exchange(t, web)
	events := bufio.NewScanner(answer.Body)
	next := func() string {
		t.Helper()
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatalf("the stream has ended: %v", events.Err())
		return ""
	}
	endpoint := "/" + next()
	for token, want := range map[string]int{writerToken: 403, "": 403, "wrong": 401} {
		if status, text := (wireMessage{path: endpoint, token: token, body: initializeMessage}).send(t, web); status != want {
			t.Errorf("token %q: %d %s", token, status, text)
		}
	}
	for _, body := range []string{initializeMessage, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, listMessage} {
		if status, text := (wireMessage{path: endpoint, token: readerToken, body: body}).send(t, web); status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", body, status, text)
		}
	}
	if text := next(); !strings.Contains(text, `"protocolVersion"`) {
		t.Errorf("initialize: %s", text)
	}
	if text := next(); !strings.Contains(text, "read_a") || strings.Contains(text, "write_a") {
		t.Errorf("the list: %s", text)
	}
}

// A changed configuration changes tokens at once.
func TestTokensAreReplaced(t *testing.T) {
	a := &access{}
	a.useProfiles(&config.Config{Profiles: []config.Profile{{Name: "p", Token: readerToken}}})
	web := httptest.NewServer(a.requireToken(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path+" "+identity(r)+r.Header.Get("Authorization"))
	})))
	t.Cleanup(web.Close)
	ask := func(token string) string {
		status, text := wireMessage{path: "/mcp", token: token}.send(t, web)
		return fmt.Sprint(status, " ", text)
	}
	if got := ask(readerToken); got != "200 /mcp/p profile p" {
		t.Error(got)
	}
	old, _ := a.authenticate(&http.Request{Header: http.Header{"Authorization": {"Bearer " + readerToken}}, URL: &url.URL{}})
	same := a.useProfiles(&config.Config{Profiles: []config.Profile{{Name: "p", Token: readerToken}, {Name: "q"}}})
	if len(same) > 0 || old.Ended.Err() != nil {
		t.Errorf("the token is the same, but those of %q end", same)
	}
	ended := a.useProfiles(&config.Config{Profiles: []config.Profile{{Name: "p", Token: writerToken}}})
	if !slices.Equal(ended, []string{"profile p"}) || old.Ended.Err() == nil {
		t.Errorf("those of %q end", ended)
	}
	if got := ask(readerToken); !strings.HasPrefix(got, "401 ") {
		t.Errorf("the old token: %s", got)
	}
	if got := ask(writerToken); got != "200 /mcp/p profile p" {
		t.Error(got)
	}
}
