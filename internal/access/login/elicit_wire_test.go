package login_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

// serveMCP serves a toolset over HTTP, and returns the address.
func serveMCP(t *testing.T, ts toolpost.Toolset) string {
	s, err := mcpserver.New(t.Context(), ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close() // ends the streams that Close of h waits for
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

// connectMCP is a client that declares URL mode elicitation.
func connectMCP(t *testing.T, address, version string) *upstream.Upstream {
	u, err := upstream.Start(&upstream.Config{Name: "client", URL: address + "/mcp", Transport: upstream.HTTP, ProtocolVersion: version}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	if err := u.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u
}

// gatewayOf serves the world's MCP server, whose tool "add" needs a login, through a
// gateway whose callers log in.
func gatewayOf(t *testing.T, w *world, l *login.Logins) (address string, ran *atomic.Int32) {
	ran = &atomic.Int32{}
	add := toolpost.New("add", "Adds.", func(context.Context, struct{}) (string, error) {
		ran.Add(1)
		return "added", nil
	}, nil)
	s, err := mcpserver.New(t.Context(), toolpost.Tools{add}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w.inner = s
	w.public = func(body string) bool { return !strings.Contains(body, `"tools/call"`) }
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{*w.config()}}, &gateway.Options{
		Credentials: func(cfg *config.Server) func(*http.Transport) http.RoundTripper {
			return l.Wrap(cfg, "toolpost login it", cfg.Wrap)
		},
		Login: func(ctx context.Context, s *config.Server, call *toolpost.Call, began time.Time) error {
			return l.LogInFor(ctx, s, call, began)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return serveMCP(t, g.Live()), ran
}

// callIt calls the tool, and returns the text that the model gets.
func callIt(t *testing.T, u *upstream.Upstream, c toolpost.Caller) string {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "it__add", Caller: c})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	return text
}

// A call whose server needs a login asks its client over the wire, in both eras, and
// then runs, once. A client that refuses gets the error with the command.
func TestLoginForCallOverTheWire(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel() // a server that refused a call is connected again after a while
			w := newWorld(t)
			l := login.New(vault.Folder(t.TempDir()), nil)
			address, ran := gatewayOf(t, w, l)
			u := connectMCP(t, address, version)
			refusing := &client{answer: "decline"}
			if got := callIt(t, u, refusing); !strings.Contains(got, "toolpost login it") || refusing.asked() != 1 || ran.Load() != 0 {
				t.Errorf("refused: %q, asked %d times, ran %d times", got, refusing.asked(), ran.Load())
			}
			c := &client{answer: "accept", open: visit(t)}
			if got := callIt(t, u, c); got != "added" || c.asked() != 1 || ran.Load() != 1 {
				t.Errorf("accepted: %q, asked %d times, ran %d times", got, c.asked(), ran.Load())
			}
			if classic := version < "2026"; len(c.complete) != map[bool]int{true: 1}[classic] {
				t.Errorf("the client was notified of %q", c.complete)
			}
			if got := callIt(t, u, &client{}); got != "added" || ran.Load() != 2 {
				t.Errorf("later: %q, ran %d times", got, ran.Load())
			}
			if found, err := l.Logout(t.Context(), w.config()); !found || err != nil {
				t.Fatal(found, err)
			}
			w.mu.Lock()
			w.public = func(string) bool { return false } // the server now needs a login for everything
			w.mu.Unlock()
			again := &client{answer: "accept", open: func(page string) { go visit(t)(page) }}
			if got := callIt(t, u, again); got != "added" || again.asked() != 1 || ran.Load() != 3 {
				t.Errorf("after the logout: %q, asked %d times, ran %d times", got, again.asked(), ran.Load())
			}
		})
	}
}

// A client that did not declare URL mode elicitation is not asked: no login begins.
func TestLoginForCallWithoutCapability(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address, ran := gatewayOf(t, w, login.New(vault.Folder(t.TempDir()), nil))
	for _, capabilities := range []string{`{}`, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, `{"elicitation":{"url":null}}`} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"it__add","arguments":{},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "it__add"} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(answer) || !strings.Contains(string(answer), "toolpost login it") || strings.Contains(string(answer), w.as.URL) || ran.Load() != 0 {
			t.Errorf("%s: %s", capabilities, answer)
		}
	}
	if len(w.clients) != 0 || len(w.codes) != 0 {
		t.Errorf("%d clients were registered, %d codes issued", len(w.clients), len(w.codes))
	}
}
