package gateway_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// serve runs a real MCP server with one tool, one prompt and one resource.
func serve(t *testing.T, name string, sse bool) (server *mcp.Server, address string) {
	t.Helper()
	server = mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ServerOptions{Instructions: "Ask " + name + "."})
	addTool(server, "who", name)
	server.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "greeting of " + name}, nil
	})
	server.AddResource(&mcp.Resource{Name: "r", URI: "test://" + name}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "text of " + name}}}, nil
	})
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	address = "/mcp"
	if sse {
		h, address = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil), "/sse"
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return server, s.URL + address
}

func addTool(server *mcp.Server, tool, answer string) {
	server.AddTool(&mcp.Tool{Name: tool, InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil
		})
}

// until waits until ok holds for a snapshot.
func until(t *testing.T, g *gateway.Gateway, what string, ok func(*gateway.Snapshot) bool) {
	t.Helper()
	seen := make(chan struct{}, 1)
	stop := g.WatchSnapshot(func(s *gateway.Snapshot) {
		if ok(s) {
			select {
			case seen <- struct{}{}:
			default:
			}
		}
	})
	defer stop()
	select {
	case <-seen:
	case <-time.After(time.Minute):
		t.Fatalf("never: %s; tools %q, status %+v", what, names(g), g.Status())
	}
}

func TestRealServers(t *testing.T) {
	one, address1 := serve(t, "one", false)
	_, address2 := serve(t, "two", true)
	text := `{"mcpServers": {
		"missing": {"command": "no-such-program-anywhere"},
		"one": {"url": "` + address1 + `", "type": "http"},
		"closed": {"url": "http://127.0.0.1:1/mcp"},
		"two": {"url": "` + address2 + `", "prefix": ""}}}`
	path := filepath.Join(t.TempDir(), "toolpost.json")
	write(t, path, text)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := names(g); !slices.Equal(got, []string{"one__who", "who"}) {
		t.Fatalf("got %q, status %+v", got, g.Status())
	}
	for name, want := range map[string]string{"one__who": "one", "who": "two"} {
		if got := call(g, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for i, want := range []upstream.State{upstream.Failed, upstream.Ready, upstream.Failed, upstream.Ready} {
		s := g.Status()[i]
		if s.State != want && !(want == upstream.Failed && s.Err != nil) {
			t.Errorf("%s is %s (%v), want %s", s.Name, s.State, s.Err, want)
		}
	}
	f := features(g)
	if want := "# one\n\nAsk one.\n\n# two\n\nAsk two."; f.Instructions != want {
		t.Errorf("got %q", f.Instructions)
	}
	if r, err := f.Prompts[1].Get(t.Context(), &toolpost.Call{Name: f.Prompts[1].Name}); err != nil || !strings.Contains(marshal(t, r), "greeting of one") {
		t.Errorf("prompt %s: got %v, %v", f.Prompts[1].Name, r, err)
	}
	if r, err := f.Resources[1].Read(t.Context(), &toolpost.Call{Name: "test://two"}); err != nil || !strings.Contains(marshal(t, r), "text of two") {
		t.Errorf("resource: got %v, %v", r, err)
	}

	addTool(one, "more", "more of one")
	until(t, g, "a new tool of a server", func(*gateway.Snapshot) bool { return slices.Contains(names(g), "one__more") })

	_, address3 := serve(t, "three", false)
	write(t, path, strings.Replace(text, address2, address3, 1))
	if cfg, err = config.Load(path); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got := call(g, "who"); got != "three" { // waits for the new server
		t.Errorf("got %q", got)
	}
	if got := call(g, "one__more"); got != "more of one" {
		t.Errorf("got %q", got)
	}
}

func marshal(t *testing.T, r *toolpost.Result) string {
	t.Helper()
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
