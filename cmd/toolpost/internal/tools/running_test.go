package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/servetest"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

// A world is a user's folders and the servers of a configuration.
type world struct {
	dir    string
	file   string        // the configuration
	ended  chan struct{} // one value for each call of cancel__me that was canceled
	called chan struct{} // one value for each call of cancel__me

	mu     sync.Mutex
	opened int // connections that were opened to servers, as MCP counts them
	calls  int
}

func newWorld(t *testing.T) *world {
	w := &world{dir: servetest.Home(t), ended: make(chan struct{}, 1), called: make(chan struct{}, 1)}
	w.file = filepath.Join(w.dir, "tools.json")
	return w
}

// server starts a server with tools that return their names; "long" returns 3 MiB, and "me"
// waits until it is canceled.
func (w *world) server(t *testing.T, names ...string) string {
	var tools toolpost.Tools
	for _, name := range names {
		tools = append(tools, toolpost.New(name, "A tool.", func(ctx context.Context, in struct {
			N    int           `json:"N,omitempty"`
			Wait time.Duration `json:"wait,omitempty"`
		}) (string, error) {
			switch name {
			case "long":
				return strings.Repeat("x", 3<<20), nil
			case "me":
				w.called <- struct{}{}
				<-ctx.Done()
				w.ended <- struct{}{}
			}
			if in.Wait > 0 {
				return "waited " + in.Wait.String(), nil
			}
			return fmt.Sprint(name, in.N), nil
		}, nil))
	}
	s, err := mcpserver.New(t.Context(), tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(w.count(s))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close(); _ = s.Close() })
	return web.URL + "/mcp"
}

// hanging starts a server that never answers.
func (w *world) hanging(t *testing.T) string {
	over := make(chan struct{})
	web := httptest.NewServer(w.count(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	})))
	t.Cleanup(func() { close(over); web.Close() })
	return web.URL + "/mcp"
}

// count counts what is opened and called.
func (w *world) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		w.mu.Lock()
		switch m.Method {
		case "initialize", "server/discover":
			w.opened++
		case "tools/call":
			w.calls++
		}
		w.mu.Unlock()
		next.ServeHTTP(rw, r)
	})
}

func (w *world) counts() (opened, calls int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened, w.calls
}

func (w *world) write(t *testing.T, text string) {
	t.Helper()
	w.writeFile(t, filepath.Base(w.file), text)
}

func (w *world) writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve serves the configuration, and waits until these servers are ready.
func (w *world) serve(t *testing.T, ready ...string) *serve.Endpoint {
	t.Helper()
	e := servetest.Serve(t, w.file)
	servetest.Await(e, ready...)
	return e
}

// call runs the command "call".
func (w *world) call(ctx context.Context, args ...string) (out string, err error) {
	out, _, err = w.run(ctx, append([]string{"call"}, args...)...)
	return out, err
}

// run runs a command.
func (w *world) run(ctx context.Context, args ...string) (out, stderr string, err error) {
	t := &connect.Target{RunPatience: time.Hour}
	cmd := map[string]func(*connect.Target) *cobra.Command{"call": callCommand, "list": listCommand, "find": findCommand}[args[0]](t)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var b, told bytes.Buffer
	cmd.SetOut(&b)
	cmd.SetErr(&told)
	cmd.SetIn(strings.NewReader(`{"N":7}`))
	cmd.SetArgs(append([]string{"--config", w.file}, args[1:]...))
	err = cmd.ExecuteContext(ctx)
	return b.String(), told.String(), err
}

// TestCallOfRunning: a serve that runs with the same configuration makes a call, also while
// one of its servers hangs; nothing is started.
func TestCallOfRunning(t *testing.T) {
	w := newWorld(t)
	servers := []string{fmt.Sprintf(`"hangs": {"url": %q}`, w.hanging(t))}
	var ready []string
	for i := range 8 {
		name := fmt.Sprint("one", i)
		ready = append(ready, name)
		servers = append(servers, fmt.Sprintf(`%q: {"url": %q}`, name, w.server(t, "show")))
	}
	ready = append(ready, "memory")
	servers = append(servers, fmt.Sprintf(`"memory": {"url": %q}`, w.server(t, "read_graph", "long", "me")))
	w.write(t, `{"mcpServers": {`+strings.Join(servers, ",\n")+`}}`)
	e := w.serve(t, ready...)
	opened, calls := w.counts()
	for want, args := range map[string][]string{
		"read_graph0\n": {"memory__read_graph"},
		"read_graph5\n": {"memory__read_graph", "N=5"},
		"read_graph7\n": {"memory__read_graph", "-"},
		"waited 5m0s\n": {"memory__read_graph", "wait=5m"},
		"{\"content\":[{\"type\":\"text\",\"text\":\"read_graph1\"}]}\n": {"memory__read_graph", `{"N": 1}`, "--json"},
		strings.Repeat("x", 3<<20) + "\n":                                {"memory__long"},
	} {
		if got, err := w.call(t.Context(), args...); err != nil || got != want {
			t.Errorf("%v: %.200q, %v", args, got, err)
		}
	}
	if _, err := w.call(t.Context(), "memory__read_graph", `{"N": "x"}`); err == nil || !strings.Contains(err.Error(), "invalid arguments for read_graph") {
		t.Errorf("wrong arguments: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-w.called; cancel() }()
	if _, err := w.call(ctx, "memory__me"); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Fatalf("a canceled call: %v", err)
	}
	<-w.ended // at the server
	if o, c := w.counts(); o != opened || c != calls+8 {
		t.Errorf("%d connections were opened, and %d calls made", o-opened, c-calls)
	}
	if s := e.Gateway().Status(); s[0].State == upstream.Ready {
		t.Errorf("got %+v", s[0])
	}
}

// TestListOfRunning: without stored lists, list and find take those of the serve that runs, also
// while one of its servers hangs and another one failed; nothing is started.
func TestListOfRunning(t *testing.T) {
	w := newWorld(t)
	w.write(t, fmt.Sprintf(`{"mcpServers": {"hangs": {"url": %q}, "missing": {"command": "toolpost-of-no-folder"}, "one": {"url": %q}}}`, w.hanging(t), w.server(t, "show", "draw", "paint")))
	t.Setenv(owner.TokenVariable, "sample-token-0123456789abcdef0123456789") // which requests to the servers carry
	w.serve(t, "one")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(w.dir, "nothing stored"))
	opened, _ := w.counts()
	for _, args := range [][]string{{"list"}, {"find", "paint"}} {
		out, stderr, err := w.run(t.Context(), args...)
		if err != nil || !strings.Contains(out, "one__paint") {
			t.Errorf("%s: %q, %v", args, out, err)
		}
		for _, want := range []string{
			`server "hangs" is skipped: toolpost serve, which runs, is still connecting to it`,
			`server "missing" is skipped: command "toolpost-of-no-folder" is not found`,
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %s, want %s", args, stderr, want)
			}
		}
	}
	if o, _ := w.counts(); o != opened {
		t.Errorf("%d connections were opened", o-opened)
	}
}

// TestCallStartsItsOwn: where what runs might answer otherwise, the call starts its own
// server and is made once.
func TestCallStartsItsOwn(t *testing.T) {
	plain := func(w *world, t *testing.T) string {
		return fmt.Sprintf(`{"profiles": {"p": {"clients": [{"name": "."}], "tools": {"a__show": {"name": "other"}}}}, "mcpServers": {"a": {"url": %q}}}`, w.server(t, "show"))
	}
	with := func(more string) func(w *world, t *testing.T) string {
		return func(w *world, t *testing.T) string {
			return fmt.Sprintf(`{%s "mcpServers": {"a": {"url": %q}}}`, more, w.server(t, "show"))
		}
	}
	withSecret := func(value string) func(w *world, t *testing.T) string {
		return func(w *world, t *testing.T) string {
			w.writeFile(t, "key", "first")
			return fmt.Sprintf(`{"mcpServers": {"a": {"url": %q, "headers": {"X-Key": %q}}}}`, w.server(t, "show"), value)
		}
	}
	tests := []struct {
		name    string
		config  func(*world, *testing.T) string
		running bool // the serve that runs makes the call
		args    []string
		after   func(*world, *testing.T)
		tool    string
		fails   string
	}{
		{name: "a profile for all clients is not one of the command", config: plain, running: true},
		{name: "denied by its arguments", config: with(`"approvals": [{"tools": ["show"], "arguments": {"N": "*"}, "action": "deny"}],`), running: true, args: []string{"N=1"}, fails: "denied by the rule"},
		{name: "--fresh", config: plain, args: []string{"--fresh"}},
		{name: "--timeout", config: plain, args: []string{"--timeout", "1m"}},
		{name: "--profile", config: plain, args: []string{"--profile", "p"}, tool: "other"},
		{name: "limits", config: with(`"limits": {"perServer": {"concurrent": 8}},`)},
		{name: "approval", config: with(`"approvals": [{"tools": ["show"], "action": "ask"}],`), args: []string{"--yes"}},
		{name: "approval that nobody gives", config: with(`"approvals": [{"tools": ["show"], "action": "ask"}],`), fails: "there is no terminal to ask you"},
		{name: "approval of other arguments", config: with(`"approvals": [{"tools": ["show"], "arguments": {"N": "5"}, "action": "ask"}],`), args: []string{"N=0"}},
		{name: "a secret", config: withSecret("${file:key}"), running: true},
		{name: "a secret that was replaced", config: withSecret("${file:key}"), after: func(w *world, t *testing.T) {
			w.writeFile(t, "key", "second")
		}},
		{name: "a secret of a command", config: withSecret("${cmd:echo first}")},
		{name: "a tool of serve itself", config: plain, tool: "tool_output_cache", fails: "there is no tool"},
		{name: "a server that is not approved", config: plain, after: func(w *world, t *testing.T) {
			w.write(t, fmt.Sprintf(`{"mcpServers": {"a": {"url": %q}}}`, w.server(t, "show")))
		}},
		{name: "other variables", config: plain, after: func(_ *world, t *testing.T) { t.Setenv("TZ", "Asia/Tokyo") }},
		{name: "an address with a variable", config: func(w *world, t *testing.T) string {
			t.Setenv("WHERE", w.server(t, "show"))
			return `{"mcpServers": {"a": {"url": "${WHERE}"}}}`
		}, after: func(w *world, t *testing.T) { t.Setenv("WHERE", w.server(t, "show")) }},
		{name: "another server may have the name", config: func(w *world, t *testing.T) string {
			return fmt.Sprintf(`{"mcpServers": {"a": {"url": %q}, "b": {"command": "toolpost-of-no-folder", "prefix": "a_"}}}`, w.server(t, "show"))
		}},
		{name: "two servers have the name", config: func(w *world, t *testing.T) string {
			return fmt.Sprintf(`{"mcpServers": {"a": {"url": %q, "prefix": "x_"}, "b": {"url": %q, "prefix": "x_"}}}`, w.server(t, "show"), w.server(t, "show"))
		}, tool: "x_show"},
		{name: "nothing is noted", config: plain, after: func(w *world, t *testing.T) { t.Setenv("XDG_STATE_HOME", filepath.Join(w.dir, "other")) }},
		{name: "another process at the port", config: plain, after: func(w *world, t *testing.T) {
			w.eachNote(t, func(r *owner.Run) { r.Key = "other" })
		}},
		{name: "an older version", config: plain, after: func(w *world, t *testing.T) {
			var key string
			old := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				proof.Answer(rw, r, proof.RunHeader, key)
				if r.URL.Path != proof.HealthPath {
					http.NotFound(rw, r)
				}
			}))
			t.Cleanup(old.Close)
			w.eachNote(t, func(r *owner.Run) { key, r.URL = r.Key, old.URL+"/mcp" })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, tt.config(w, t))
			w.serve(t, "a")
			if tt.after != nil {
				tt.after(w, t)
			}
			tool := tt.tool
			if tool == "" {
				tool = "a__show"
			}
			opened, calls := w.counts()
			got, err := w.call(t.Context(), append([]string{tool}, tt.args...)...)
			wantCalls := 1
			if tt.fails != "" {
				wantCalls = 0
			}
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) || err == nil && got != "show0\n" {
				t.Errorf("%q, %v", got, err)
			}
			if o, c := w.counts(); tt.running && o != opened || !tt.running && tt.fails == "" && o == opened || c-calls != wantCalls {
				t.Errorf("%d connections were opened, and %d calls made", o-opened, c-calls)
			}
		})
	}
}

// eachNote changes the notes of what runs.
func (w *world) eachNote(t *testing.T, change func(*owner.Run)) {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(w.dir, "state", "toolpost", "running", "*.json"))
	if err != nil || len(notes) == 0 {
		t.Fatal(notes, err)
	}
	for _, path := range notes {
		raw, err := os.ReadFile(path)
		r := &owner.Run{}
		if err != nil || json.Unmarshal(raw, r) != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		change(r)
		raw, _ = json.Marshal(r)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
