package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// A server that speaks both eras can send requests to clients: it is spoken to
// in the era that has them.
func TestServersOfBothEras(t *testing.T) {
	both := func(t *testing.T) *mcp.Server {
		s := sdkServer(t.Context())
		s.AddTool(&mcp.Tool{Name: "elicit", InputSchema: json.RawMessage(`{"type":"object"}`)}, elicitTool)
		return s
	}
	server := both(t)
	stateful, stateless := streamableHandler(t, server, false), streamableHandler(t, server, true)
	dual := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	})
	for name, cfg := range map[string]*upstream.Config{
		"stdio": child(t, "both"),
		"http":  {URL: serve(t, dual).URL},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, cfg).ready(t)
			a := newAsker("session a")
			c := a.call("")
			c.Name = "elicit"
			result, err := s.call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := result.FirstText(); text != "accept" {
				t.Errorf("got %q", text)
			}
		})
	}
}

// elicitTool sends a request to the client, whatever the version.
func elicitTool(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "name?", RequestedSchema: map[string]any{"type": "object"}})
	if err != nil {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Action}}}, nil
}

// Many servers answer 400 to a session that they do not know any more. The next
// call connects again; other requests that are answered 400 lose nothing.
func TestLostSessionWith400(t *testing.T) {
	var h switchable
	var refuse atomic.Bool
	serving := func() http.Handler {
		good := streamableHandler(t, sdkServer(t.Context()), false)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			switch {
			case r.Method == http.MethodGet: // there is no stream that tells of the loss
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			case refuse.Load() && strings.Contains(string(body), `"echo"`):
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			w = &rewriter{w, http.StatusNotFound, http.StatusBadRequest}
			good.ServeHTTP(w, r)
		})
	}
	h.set(serving())
	s := start(t, &upstream.Config{URL: serve(t, &h).URL}).ready(t)
	h.set(serving()) // it was restarted
	if got := s.text(t, "echo", `{}`, nil); got != `{}` {
		t.Errorf("after a restart: %s", got)
	}
	before := s.Status().Took
	refuse.Store(true)
	if got := s.text(t, "echo", `{}`, nil); !strings.Contains(got, "400") {
		t.Errorf("got %s", got)
	}
	refuse.Store(false)
	if s.text(t, "echo", `{}`, nil); s.Status().Took != before {
		t.Error("a request that was refused ended the session")
	}
}

// A rewriter writes another status in place of one.
type rewriter struct {
	http.ResponseWriter
	from, to int
}

func (w *rewriter) WriteHeader(status int) {
	if status == w.from {
		status = w.to
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *rewriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Answers whose id comes back as a string are answers.
func TestStringIDs(t *testing.T) {
	s := start(t, child(t, "string-ids")).ready(t)
	if got := s.text(t, "t", "", nil); got != "ok" {
		t.Errorf("got %q", got)
	}
}

// What a server lists has limits, and what is left out is reported.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	tool := func(name, more string) string {
		return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"%s}}`, name, more)
	}
	deep := strings.Repeat(`,"properties":{"a":{"type":"object"`, 100) + strings.Repeat("}}", 100)
	var list strings.Builder
	list.WriteString(`"tools":[` + tool("good", "") + "," + tool("deep", deep) + "," + tool("large", `,"description":"`+strings.Repeat("x", 1<<20)+`"`))
	for i := range 10_000 {
		list.WriteString("," + tool(fmt.Sprint("t", i), ""))
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s],"nextCursor":"more"}}`, m.ID, list.String())
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
	s := start(t, &upstream.Config{URL: serve(t, http.HandlerFunc(handler)).URL, Transport: upstream.HTTP}).ready(t)
	if tools, _ := s.Tools(t.Context()); len(tools) != 9_998 || tools[0].Name != "good" || tools[1].Name != "t0" {
		t.Errorf("%d tools, the first is %q", len(tools), tools[0].Name)
	}
	skipped := fmt.Sprint(s.Status().Skipped)
	for _, want := range []string{"deep", "more than 64 levels", "large", "at most 1048576", "more than 10000 items"} {
		if !strings.Contains(skipped, want) {
			t.Errorf("skipped %s, want %q in it", skipped, want)
		}
	}
}

// What is left out of a list is not reported without end, and long cursors are
// not kept.
func TestEndlessLists(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	list := `"tools":[` + deep + strings.Repeat(","+deep, 3_000) + `]`
	var pages atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s,"nextCursor":"%d"}}`, m.ID, list, pages.Add(1))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
	s := start(t, &upstream.Config{URL: serve(t, http.HandlerFunc(handler)).URL, Transport: upstream.HTTP}).ready(t)
	if got := len(s.Status().Skipped); got != 10_001 {
		t.Errorf("%d findings, want one for each of 10000 items and one more", got)
	}
	if got := pages.Load(); got != 4 {
		t.Errorf("%d pages were asked for, want 4", got)
	}
}

// A prompts/list that hangs does not keep the tools away.
func TestSlowPrompts(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "slow-prompts"))
	s.until(t, "its tools are there", func() bool { return s.Status().State == upstream.Ready })
	if got := s.names(t); got != "t" {
		t.Errorf("tools %q", got)
	}
	s.until(t, "the list is given up", func() bool { return strings.Contains(fmt.Sprint(s.Status().Skipped), "prompts/list") })
}

// A Toolpost that is its own upstream is refused.
func TestSelf(t *testing.T) {
	good := streamableHandler(t, sdkServer(t.Context()), false)
	var behind atomic.Value
	behind.Store("other")
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(hidden.InstanceHeader, behind.Load().(string))
		good.ServeHTTP(w, r)
	})).URL
	s := &server{changed: make(chan struct{}, 1)}
	opts := &upstream.Options{Backoff: time.Millisecond, Patience: time.Millisecond}
	hidden.UpstreamOptionsOf(opts).Instance = "own"
	u, err := upstream.Start(&upstream.Config{Name: "srv", URL: url}, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.watch(t, u).ready(t)
	if got := u.Instances(); len(got) != 1 || got[0] != "other" {
		t.Errorf("instances %q", got)
	}
	behind.Store("other own")
	s.text(t, "echo", `{}`, nil)
	s.until(t, "it is refused", func() bool {
		err := u.Status().Err
		return err != nil && strings.Contains(err.Error(), "this is toolpost itself")
	})
}

// A server that was ready and is lost is connected again at once, before the
// first pause between attempts, also if no call waits for it. If it is soon lost
// again, the next attempt waits.
func TestComesBackAtOnce(t *testing.T) {
	s := &server{changed: make(chan struct{}, 1)}
	u, err := upstream.Start(child(t, "crash"), &upstream.Options{
		Backoff: time.Hour, Patience: 20 * time.Second, Grace: 150 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	before := s.watch(t, u).ready(t).Status().Took
	if got := s.text(t, "t", "", nil); !strings.Contains(got, "may have been carried out") {
		t.Errorf("got %s", got)
	}
	s.until(t, "it is back", func() bool { return s.Status().State == upstream.Ready && s.Status().Took != before })
	if got := s.text(t, "t", "", nil); got != "back" {
		t.Errorf("got %s", got)
	}
	_ = s.text(t, "t", `{"again":1}`, nil) // a second loss soon after the first
	s.until(t, "it waits", func() bool { return s.Status().State == upstream.Failed })
	if wait := time.Until(s.Status().Retry); wait < 5*time.Second {
		t.Errorf("after the second loss it is tried again in %v", wait)
	}
}

// tlsServer returns the address of a server that speaks TLS. To other clients it
// says so, or it closes the connection.
func tlsServer(t *testing.T, closes bool) string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	if !closes {
		return s.URL
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = c.Read(make([]byte, 1<<16))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "https://" + l.Addr().String()
}

// Errors say what is wrong and what to change.
func TestAdvice(t *testing.T) {
	t.Parallel()
	silent := child(t, "speaks")
	silent.ConnectTimeout = 500 * time.Millisecond
	tests := map[string]struct {
		cfg  *upstream.Config
		want string
	}{
		"arguments in the command":            {&upstream.Config{Command: "npx -y server"}, `make it "npx", and put ["-y" "server"] into its args`},
		"no such folder":                      {&upstream.Config{Command: "sh", Dir: "/no/such/folder"}, `correct its cwd`},
		"a program that is not a server":      {silent, `wrote "Listening on 3000" to its stdout, which is not MCP`},
		"a broken copy of npx":                {child(t, "npx"), "delete /home/u/.npm/_npx/15b07286cbcc3329"},
		"http to a port with TLS":             {&upstream.Config{URL: strings.Replace(tlsServer(t, false), "https:", "http:", 1)}, "use https:// in its url"},
		"http to a port with TLS that closes": {&upstream.Config{URL: strings.Replace(tlsServer(t, true), "https:", "http:", 1)}, "use https:// in its url"},
		"type sse": {&upstream.Config{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "GET requires an Mcp-Session-Id header", http.StatusBadRequest)
		})).URL, Transport: upstream.SSE}, "remove its type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := startFailing(t, test.cfg, test.want); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

// A program that writes something else than MCP is reported at once, before its time is over.
func TestStrayOutput(t *testing.T) {
	t.Parallel()
	u, err := upstream.Start(child(t, "speaks"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	changed := make(chan struct{}, 1)
	defer u.Watch(func(toolpost.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for u.Status().Output == "" {
		<-changed
	}
	s := u.Status()
	const want = `it has not answered yet; it wrote "Listening on 3000" to its stdout, which is not MCP: check that its command starts an MCP server on stdio`
	if s.State != upstream.Connecting || s.Reason() != want {
		t.Errorf("%s: %s", s.State, s.Reason())
	}
}
