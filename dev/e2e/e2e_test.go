package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

// serveStdio, in the environment, makes the test binary an MCP server on stdio.
const serveStdio = "TOOLPOST_E2E_STDIO"

func TestMain(m *testing.M) {
	if os.Getenv(serveExtended) != "" {
		newExtended().stdio(os.Stdin, os.Stdout)
		return
	}
	if os.Getenv(serveStdio) == "" {
		debug.SetGCPercent(400) // few of the many small values live
		os.Exit(m.Run())
	}
	ctx := context.Background()
	s, err := mcpserver.New(ctx, toolpost.Tools{add}, nil)
	if err == nil {
		err = s.ServeStdio(ctx, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type numbers struct {
	A int64 `json:"a"`
	B int64 `json:"b,omitempty" default:"10"`
}

var add = toolpost.New("add", "Add two numbers.", func(_ context.Context, in numbers) (int64, error) { return in.A + in.B, nil }, nil)

// greet asks the person for a name while the call runs.
var greet = toolpost.New("greet", "Greet the person.", func(ctx context.Context, _ struct{}) (string, error) {
	call := toolpost.CallFrom(ctx)
	if err := call.Progress(ctx, 1, 2, "asking"); err != nil {
		return "", err
	}
	question := map[string]any{"message": "Your name?", "requestedSchema": map[string]any{
		"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
	}}
	var answer struct {
		Action  string `json:"action"`
		Content struct {
			Name string `json:"name"`
		} `json:"content"`
	}
	if err := call.Ask(ctx, "elicitation/create", question, &answer); err != nil {
		return "", err
	}
	return answer.Action + ": hello " + answer.Content.Name, nil
}, nil)

// A person answers what a call asks, and counts what it was told.
type person struct{ told atomic.Int32 }

func (p *person) Notify(context.Context, string, json.RawMessage) error {
	p.told.Add(1)
	return nil
}

func (*person) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
}

// serve serves ts over HTTP and returns the address of its endpoint.
func serve(t *testing.T, ts toolpost.Toolset) string {
	s, err := mcpserver.New(t.Context(), ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, s)
}

// listen serves s over HTTP and returns the address.
func listen(t *testing.T, s *mcpserver.Server) string {
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close() // ends the streams that Close of h waits for
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

// connect is the client's end: an upstream of the gateway's own endpoint.
func connect(t *testing.T, cfg *upstream.Config, changed func()) *upstream.Upstream {
	u, err := upstream.Start(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if changed != nil {
		u.Watch(func(toolpost.Event) { changed() })
	}
	t.Cleanup(func() { u.Close() })
	if err := u.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return u
}

func call(t *testing.T, ts toolpost.Toolset, c *toolpost.Call) string {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), ts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	return text
}

// Flow 1: a typed function, called by name with raw JSON.
func TestTypedCall(t *testing.T) {
	if got := call(t, toolpost.Prefix(toolpost.Tools{add}, "math_"), &toolpost.Call{Name: "math_add", Arguments: []byte(`{"a":9007199254740983}`)}); got != "9007199254740993" {
		t.Errorf("got %s", got)
	}
}

// Flow 2: client, gateway, upstreams, over every transport and both protocol
// eras on either side.
func TestGateway(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := toolpost.Tools{greet}
	source, err := toolpost.NewLive(t.Context(), toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil }))
	if err != nil {
		t.Fatal(err)
	}
	behind := serve(t, source)
	g, err := gateway.Start(t.Context(), &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "child", Command: exe, Env: map[string]string{serveStdio: "1", "GORACE": "atexit_sleep_ms=0"}}},
		{Config: upstream.Config{Name: "modern", URL: behind + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28"}},
		{Config: upstream.Config{Name: "classic", URL: behind + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}},
		{Config: upstream.Config{Name: "old", URL: behind + "/sse", Transport: upstream.SSE}, Share: "per-session"},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	front := serve(t, g.Live())

	changed := make(chan struct{}, 100)
	var last *upstream.Upstream
	for _, client := range []upstream.Config{
		{Name: "modern", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28"},
		{Name: "classic", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"},
		{Name: "old", URL: front + "/sse"}, // found by trying
	} {
		u := connect(t, &client, func() { changed <- struct{}{} })
		last = u
		if s := u.Status(); (s.Transport == upstream.SSE) != (client.Name == "old") {
			t.Errorf("%s: found %s", client.Name, s.Transport)
		}
		t.Run(client.Name, func(t *testing.T) {
			if got := call(t, u, &toolpost.Call{Name: "child__add", Arguments: []byte(`{"a":9007199254740983}`)}); got != "9007199254740993" {
				t.Errorf("add: %s", got)
			}
			if got := call(t, u, &toolpost.Call{Name: "child__add", Arguments: []byte(`{"a":"x"}`)}); !strings.Contains(got, "/a: expected integer") {
				t.Errorf("bad arguments: %s", got)
			}
			for _, server := range []string{"modern", "classic", "old"} {
				p := &person{}
				if got := call(t, u, &toolpost.Call{Name: server + "__greet", Caller: p}); got != "accept: hello Ada" || p.told.Load() != 1 {
					t.Errorf("%s: greet: %q, told %d times", server, got, p.told.Load())
				}
			}
		})
	}

	tools = append(tools, add)
	if err := source.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.After(time.Minute); ; {
		all, err := last.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 7 {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("a tool that was added behind the gateway did not reach the client: %d tools, want 7", len(all))
		}
	}
}
