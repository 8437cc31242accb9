package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
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

// A vaultServer is a server with everything that is not a tool: instructions, an
// extension, subscriptions and notifications. It records what it is asked.
type vaultServer struct {
	toolpost.Base
	features *toolpost.Features
	mu       sync.Mutex
	heard    []string
}

func newVaultServer(name string) *vaultServer {
	s := &vaultServer{}
	hear := func(what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard = append(s.heard, what)
	}
	s.features = &toolpost.Features{
		Instructions: "Instructions of " + name,
		Resources:    []*toolpost.Resource{{URI: "x://" + name, Definition: json.RawMessage(`{"name":"r"}`)}},
		Subscribe: func(_ context.Context, uri string, on bool) error {
			hear(fmt.Sprint(uri, " ", on))
			return nil
		},
		Proxy: toolpost.Proxy{
			Capabilities: json.RawMessage(`{"experimental":{"example.com/vault-` + name + `":{},"example.com/vault":{}}}`),
			Extend: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				hear(call.Name)
				return toolpost.RawResult(json.RawMessage(`{"secret":"of ` + name + `"}`)), nil
			},
			Notified: func(call *toolpost.Call) { hear(call.Name) },
		},
	}
	return s
}

func (s *vaultServer) Tools(context.Context) ([]*toolpost.Tool, error) { return nil, nil }
func (s *vaultServer) Features() *toolpost.Features                    { return s.features }
func (s *vaultServer) Ready(context.Context) error                     { return nil }

func (s *vaultServer) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := strings.Join(s.heard, ", ")
	s.heard = nil
	return heard
}

// serveVaults serves servers a and b, and two profiles with only a: ro has a token,
// and open is an address.
func serveVaults(t *testing.T) (web *httptest.Server, a, b *vaultServer) {
	t.Helper()
	cfg, err := config.Parse("toolpost.json", fmt.Appendf(nil, `{"mcpServers": {}, "profiles": {
		"ro": {"servers": ["a"], "token": %q}, "open": {"servers": ["a"]}}}`, readerToken), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler), Applied: []string{"token"}})
	if err != nil {
		t.Fatal(err)
	}
	a, b = newVaultServer("a"), newVaultServer("b")
	for name, s := range map[string]*vaultServer{"a": a, "b": b} {
		if err := g.Add(name, s); err != nil {
			t.Fatal(err)
		}
	}
	server, err := mcpserver.New(t.Context(), g, &mcpserver.Options{Identity: identity, Views: g.Views()})
	if err != nil {
		t.Fatal(err)
	}
	access := &access{token: sampleToken}
	access.useProfiles(cfg)
	web = httptest.NewServer(access.requireToken(server))
	t.Cleanup(func() {
		_ = server.Close()
		web.Close()
		_ = g.Close()
	})
	return web, a, b
}

// modern returns a message of 2026-07-28.
func modern(method, members string) string {
	if members != "" {
		members += ","
	}
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + members + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
}

// A profileClient sends requests in one era, at one address.
type profileClient struct {
	wireMessage
	web    *httptest.Server
	modern bool
}

// send returns the text of the answer; the caller sends notifications with notify.
func (c profileClient) send(t *testing.T, method, members string) string {
	t.Helper()
	answer := c.open(t, method, members)
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func (c profileClient) open(t *testing.T, method, members string) *http.Response {
	t.Helper()
	c.body = `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + members + `}}`
	if c.modern {
		c.body = modern(method, members)
		c.header = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	}
	if strings.HasPrefix(method, "notifications/") {
		c.body = strings.Replace(c.body, `"id":7,`, "", 1)
	}
	return c.exchange(t, c.web)
}

// Requests, notifications and what a server says about itself stay in the profile of
// the client, in both eras, with a token and at an address.
func TestRequestsOfProfile(t *testing.T) {
	for _, at := range []wireMessage{{path: "/mcp", token: readerToken}, {path: "/mcp/open", token: sampleToken}} {
		for _, era := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s modern %t", at.path, era), func(t *testing.T) {
				web, a, b := serveVaults(t)
				c := profileClient{at, web, era}
				described := ""
				if era {
					described = c.send(t, "server/discover", "")
				} else {
					c.session = openSession(t, web, at.path, at.token)
					_, described = wireMessage{path: at.path, token: at.token, body: initializeMessage}.send(t, web)
				}
				if !strings.Contains(described, "Instructions of a") || !strings.Contains(described, "vault-a") || strings.Contains(described, "of b") || strings.Contains(described, "vault-b") {
					t.Errorf("it is described as %s", described)
				}
				if got := c.send(t, "example.com/vault/open", ""); !strings.Contains(got, "of a") {
					t.Errorf("the extension of both servers answers %s", got)
				}
				if got := c.send(t, "example.com/vault-b/open", ""); strings.Contains(got, "of b") {
					t.Errorf("the extension of the other server answers %s", got)
				}
				c.send(t, "notifications/example.com/vault/touch", "")
				if got := a.asked(); !strings.Contains(got, "vault/open") || !strings.Contains(got, "notifications/example.com/vault/touch") {
					t.Errorf("the server of the profile heard %q", got)
				}
				if got := c.subscribe(t, "x://b"); !strings.Contains(got, `"error"`) {
					t.Errorf("a resource of the other server is watched: %s", got)
				}
				if got := b.asked(); got != "" {
					t.Errorf("the other server heard %q", got)
				}
				c.hears(t, a, b)
			})
		}
	}
}

// subscribe returns the first message of the answer.
func (c profileClient) subscribe(t *testing.T, uri string) string {
	t.Helper()
	if !c.modern {
		return c.send(t, "resources/subscribe", `"uri":"`+uri+`"`)
	}
	return readMessage(t, bufio.NewReader(c.open(t, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`).Body))
}

// hears checks what a stream of the client brings, when a client with everything
// watches the other server.
func (c profileClient) hears(t *testing.T, a, b *vaultServer) {
	t.Helper()
	owner := wireMessage{path: "/mcp", token: sampleToken, session: openSession(t, c.web, "/mcp", sampleToken)}
	owner.body = `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://b"}}`
	if _, text := owner.send(t, c.web); strings.Contains(text, "error") {
		t.Fatal(text)
	}
	var stream *bufio.Reader
	if c.modern {
		stream = bufio.NewReader(c.open(t, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://a"]}`).Body)
		readMessage(t, stream)
	} else {
		if got := c.subscribe(t, "x://a"); !strings.Contains(got, "result") {
			t.Fatal(got)
		}
		listening := c.wireMessage
		listening.method = http.MethodGet
		stream = bufio.NewReader(listening.exchange(t, c.web).Body)
		if _, err := stream.ReadString('\n'); err != nil { // it is open
			t.Fatal(err)
		}
	}
	b.Notify(toolpost.Event{Resource: "x://a"}) // as a server might that wants to be heard
	b.Notify(toolpost.Event{Resource: "x://b"})
	b.Notify(toolpost.Event{Notification: &toolpost.Call{Name: "notifications/example.com/vault/of_b"}})
	a.Notify(toolpost.Event{Notification: &toolpost.Call{Name: "notifications/example.com/vault/of_a"}})
	if !c.modern {
		if got := readMessage(t, stream); !strings.Contains(got, "of_a") {
			t.Errorf("heard %s", got)
		}
	}
	a.Notify(toolpost.Event{Resource: "x://a"})
	if got := readMessage(t, stream); !strings.Contains(got, "x://a") {
		t.Errorf("heard %s", got)
	}
}

// readMessage returns the data of the next event, or the whole of a body that is none.
func readMessage(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if data, found := strings.CutPrefix(line, "data: "); found {
			return data
		}
		if strings.HasPrefix(line, "{") {
			return line
		}
		if err != nil {
			t.Fatalf("the stream has ended: %v", err)
		}
	}
}
