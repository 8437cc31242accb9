package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
)

// What a client sends to prove who it is never reaches a server: neither its
// token nor its cookies, over HTTP and in both eras.
func TestTokenPassthrough(t *testing.T) {
	inner, err := mcpserver.New(t.Context(), toolpost.Tools{add}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		fmt.Fprintf(&seen, "%s %s %v %s\n", r.Method, r.URL, r.Header, body)
		mu.Unlock()
		inner.ServeHTTP(w, r)
	}))
	cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers":{"x":{"url":"`+server.URL+`/mcp"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(t.Context(), g.Live(), nil)
	if err != nil {
		t.Fatal(err)
	}
	outer := httptest.NewServer(s)
	t.Cleanup(func() {
		outer.Close()
		s.Close()
		g.Close()
		server.CloseClientConnections()
		server.Close()
		inner.Close()
	})
	for _, headers := range []string{"", "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: x__add"} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x__add","arguments":{"a":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
		session := ""
		if headers == "" {
			body = strings.ReplaceAll(body, `,"_meta":`, `,"_none":`)
			session = send(t, outer.URL, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "", "")
			headers = "Mcp-Protocol-Version: 2025-11-25"
		}
		send(t, outer.URL, body, headers, session)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := seen.String(); strings.Count(got, `"tools/call"`) != 2 || strings.Contains(got, "caller-secret") || strings.Contains(got, "Authorization") || strings.Contains(got, "Cookie") {
		t.Errorf("the server got\n%s", got)
	}
}

// send sends a message with credentials and returns the session of the answer.
func send(t *testing.T, address, body, headers, session string) string {
	t.Helper()
	r, err := http.NewRequest("POST", address+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer caller-secret"}, "Cookie": {"id=caller-secret"}, "Proxy-Authorization": {"Basic caller-secret"},
	}
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Set(name, value)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != 200 {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	return answer.Header.Get("Mcp-Session-Id")
}
