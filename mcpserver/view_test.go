package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// argumentTool has one argument, and answers with what it is called with.
func argumentTool(name, argument string) *toolpost.Tool {
	return rawTool(name, `{"type":"object","properties":{"`+argument+`":{}}}`,
		func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(name + " " + string(call.Arguments)).WithNotes("called as " + name), nil
		})
}

// A view is a toolset of some clients.
type view struct {
	*source
	live *toolpost.Live
}

// readers are views by the name of a client, which tests change.
type readers struct {
	hooks
	mu       sync.Mutex
	views    map[string]*view
	seen     map[observe.Client]bool // without their sessions
	sessions map[string]bool
}

func newReaders(t *testing.T, views map[string]*toolpost.Tool) *readers {
	t.Helper()
	r := &readers{views: map[string]*view{}, seen: map[observe.Client]bool{}, sessions: map[string]bool{}}
	for name, tool := range views {
		s := &source{tools: []*toolpost.Tool{tool}}
		live, err := toolpost.NewLive(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		r.views[name] = &view{s, live}
	}
	r.hooks.view = r.view
	return r
}

func (r *readers) view(c observe.Client) (*toolpost.Live, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Session != "" {
		r.sessions[c.Session] = true
	}
	c.Session, c.Address, c.Identity = "", "", ""
	r.seen[c] = true
	switch {
	case c.View != "" && r.views[c.View] == nil:
		return nil, errors.New("no such view; there are alpha and beta")
	case c.View != "":
		return r.views[c.View].live, nil
	case r.views[c.Name] != nil:
		return r.views[c.Name].live, nil
	}
	return r.views["others"].live, nil
}

// swap gives the clients of two names each other's view.
func (r *readers) swap(a, b string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views[a], r.views[b] = r.views[b], r.views[a]
}

func (r *readers) saw(c observe.Client) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[c]
}

func serveReaders(t *testing.T, opts *mcpserver.Options) (*served, *readers) {
	r := newReaders(t, map[string]*toolpost.Tool{
		"alpha": argumentTool("a_tool", "x"), "beta": argumentTool("b_tool", "y"), "others": argumentTool("tool", "z"),
	})
	opts.Views = &r.hooks
	return serve(t, opts, textTool("unseen", "unseen")), r
}

// listed returns the name and schema of the only tool of a list.
func listed(t *testing.T, s *mcp.ClientSession) string {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("list: %+v, %v", list, err)
	}
	raw, err := json.Marshal(list.Tools[0].InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools[0].Name + " " + string(raw)
}

func TestViews(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		var log syncBuffer
		s, r := serveReaders(t, &mcpserver.Options{Logger: logger(&log)})
		for _, c := range []struct{ client, path, tool, argument string }{
			{"alpha", "", "a_tool", "x"},
			{"beta", "", "b_tool", "y"},
			{"stranger", "", "tool", "z"},
			{"alpha", "/beta", "b_tool", "y"}, // the path wins
		} {
			if c.path != "" && w.transport == "stdio" {
				continue
			}
			session, _ := w.dialAs(t, s, c.client, c.path, nil)
			if got, want := listed(t, session), c.tool+` {"properties":{"`+c.argument+`":{}},"type":"object"}`; got != want {
				t.Errorf("%s lists %s, want %s", c.client, got, want)
			}
			want := c.tool + ` {"` + c.argument + `":9}`
			if got := callText(t, session, &mcp.CallToolParams{Name: c.tool, Arguments: map[string]int{c.argument: 9}}); got != want {
				t.Errorf("%s calls %s, want %s", c.client, got, want)
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "unseen"}); err == nil {
				t.Errorf("%s reaches a tool that it is not shown", c.client)
			}
			if !strings.Contains(log.String(), "called as "+c.tool) {
				t.Errorf("the log does not tell the notes of the call: %s", log.String())
			}
			agent := "Go-http-client/1.1"
			if w.transport == "stdio" {
				agent = ""
			}
			if c := (observe.Client{Name: c.client, Version: "9", UserAgent: agent, View: strings.TrimPrefix(c.path, "/")}); !r.saw(c) {
				t.Errorf("nobody asked for the view of %+v", c)
			}
		}
		want := 4
		if w.transport == "stdio" {
			want = 3
		}
		if w.transport == "http" && w.isModern() {
			want = 0 // it has no sessions
		}
		if len(r.sessions) != want {
			t.Errorf("%d sessions asked for their views, want %d", len(r.sessions), want)
		}
	})
}

// A view has prompts of its own, and only its clients hear that they changed.
func TestViewsHavePrompts(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s, r := serveReaders(t, &mcpserver.Options{})
		prompts := func(name string) *toolpost.Features {
			return &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: name, Get: answer(toolpost.RawResult(json.RawMessage(`{"messages":[]}`)))}}}
		}
		s.SetFeatures(prompts("base"))
		r.views["alpha"].SetFeatures(prompts("a"))
		r.views["beta"].SetFeatures(prompts("b"))
		gotA, optsA := watchChanges()
		alpha, stands := w.dialAs(t, s, "alpha", "", optsA)
		gotB, optsB := watchChanges()
		_, stands2 := w.dialAs(t, s, "beta", "", optsB)
		if w.isModern() {
			soon(t, stands, "the subscription of alpha")
			soon(t, stands2, "the subscription of beta")
		}
		lists := func(want string) {
			t.Helper()
			if got, err := alpha.ListPrompts(t.Context(), nil); err != nil || len(got.Prompts) != 1 || got.Prompts[0].Name != want {
				t.Errorf("%+v, %v, want %s", got, err, want)
			}
		}
		lists("a")
		if _, err := alpha.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "b"}); err == nil {
			t.Error("alpha gets a prompt of beta")
		}
		r.views["alpha"].SetFeatures(prompts("new"))
		soon(t, gotA.prompts, "prompts/list_changed for alpha")
		lists("new")
		r.views["beta"].SetFeatures(prompts("newer"))
		soon(t, gotB.prompts, "prompts/list_changed for beta")
		if len(gotA.prompts)+len(gotB.prompts)+len(gotA.tools)+len(gotA.resources) > 0 {
			t.Error("more was told than changed")
		}
	})
}

func TestViewsChange(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s, r := serveReaders(t, &mcpserver.Options{})
		gotA, optsA := watchChanges()
		alpha, stands := w.dialAs(t, s, "alpha", "", optsA)
		gotB, optsB := watchChanges()
		beta, stands2 := w.dialAs(t, s, "beta", "", optsB)
		if w.isModern() {
			soon(t, stands, "the subscription of alpha")
			soon(t, stands2, "the subscription of beta")
		}
		before := listed(t, beta)
		r.views["alpha"].set(t, argumentTool("a_tool", "new"))
		soon(t, gotA.tools, "tools/list_changed for alpha")
		if got := listed(t, alpha); !strings.Contains(got, "new") {
			t.Errorf("alpha lists %s", got)
		}
		r.views["beta"].set(t, argumentTool("b_tool", "newer"))
		soon(t, gotB.tools, "tools/list_changed for beta")
		if got := listed(t, beta); got == before {
			t.Errorf("beta lists %s", got)
		}
		if len(gotA.tools)+len(gotB.tools) > 0 {
			t.Errorf("more was told than changed: alpha %d, beta %d", len(gotA.tools), len(gotB.tools))
		}
		r.swap("alpha", "beta")
		r.changed()
		soon(t, gotA.tools, "tools/list_changed for alpha with another view")
		soon(t, gotB.tools, "tools/list_changed for beta with another view")
		if got := listed(t, alpha); !strings.HasPrefix(got, "b_tool") {
			t.Errorf("alpha lists %s", got)
		}
		r.changed() // of nobody
		r.views["beta"].set(t, argumentTool("a_tool", "last"))
		soon(t, gotB.tools, "tools/list_changed for beta")
		if len(gotA.tools) > 0 {
			t.Errorf("alpha was told of nothing")
		}
	})
}

// The view of a session is chosen when it begins, and again after a change of views.
func TestSessionKeepsItsView(t *testing.T) {
	first, second := fixedLive(t, "first"), fixedLive(t, "second")
	var current atomic.Pointer[toolpost.Live]
	var chosen atomic.Int32
	current.Store(first)
	views := &hooks{view: func(observe.Client) (*toolpost.Live, error) {
		chosen.Add(1)
		return current.Load(), nil
	}}
	s := serve(t, &mcpserver.Options{Views: views}, textTool("u", "u"))
	session := s.session(t)
	list := func(want string) {
		t.Helper()
		if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session); !strings.Contains(e.body, want) {
			t.Errorf("got %s, want %s", e.body, want)
		}
	}
	list(`"first"`)
	before := chosen.Load()
	current.Store(second)
	for range 5 {
		list(`"first"`)
	}
	if n := chosen.Load(); n != before {
		t.Errorf("5 requests of a session chose its view %d times", n-before)
	}
	views.changed()
	list(`"second"`)
}

// A list that waits until all is ready is of the view that the session has by then.
func TestListThatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var current atomic.Pointer[toolpost.Live]
		current.Store(fixedLive(t, "first"))
		second := fixedLive(t, "second")
		base := &source{ready: make(chan struct{})}
		views := &hooks{view: func(observe.Client) (*toolpost.Live, error) { return current.Load(), nil }}
		s := newServerOf(t, &mcpserver.Options{Views: views}, base)
		h := hear(t, s)
		h.wants(t, "initialize", h.send(t, initialize), `"result"`)
		time.AfterFunc(time.Second, func() {
			current.Store(second)
			views.changed()
			close(base.ready)
		})
		h.wants(t, "the list", h.send(t, listToolsRequest), `"second"`)
	})
}

func TestPathOfNoView(t *testing.T) {
	s, _ := serveReaders(t, &mcpserver.Options{})
	for _, request := range []string{"POST /mcp/gamma", "GET /sse/gamma", "POST /sse/gamma"} {
		method, path, _ := strings.Cut(request, " ")
		e := s.do(t, method, path, initialize, "")
		if want := `{"error":"no such view; there are alpha and beta"}`; e.status != http.StatusNotFound || e.body != want {
			t.Errorf("%s: %d %s", request, e.status, e.body)
		}
	}
	for _, path := range []string{"/mcp/alpha/beta", "/mcp//", "/other/alpha"} {
		if e := s.do(t, http.MethodPost, path, initialize, ""); e.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, e.status, e.body)
		}
	}
	plain := serve(t, nil)
	if e := plain.do(t, http.MethodPost, "/mcp/alpha", initialize, ""); e.status != http.StatusNotFound || !strings.Contains(e.body, "nothing here") {
		t.Errorf("without views: %d %s", e.status, e.body)
	}
}

// A request that is refused in any case, as that of a browser, makes no view.
func TestNoViewWithoutSession(t *testing.T) {
	s, r := serveReaders(t, &mcpserver.Options{})
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodHead} {
		if e := s.do(t, method, "/mcp/alpha", "", "Accept: text/html\n"); e.status < 400 || e.status == http.StatusNotFound {
			t.Errorf("%s: %d %s", method, e.status, e.body)
		}
	}
	if len(r.seen) > 0 {
		t.Errorf("views were asked for: %v", r.seen)
	}
}

// A modern request may say by its header alone who it comes from.
func TestViewByUserAgent(t *testing.T) {
	s, r := serveReaders(t, &mcpserver.Options{})
	body, header := modernCall("tool", `{}`, "")
	if e := s.post(t, body, header+"User-Agent: alpha/3\n"); e.status != http.StatusOK {
		t.Errorf("%d %s", e.status, e.body)
	}
	if c := (observe.Client{UserAgent: "alpha/3"}); !r.saw(c) {
		t.Errorf("nobody asked for the view of %+v", c)
	}
}

// What a tool mirrors in headers is what the client's own view of it says.
func TestMirroredArgumentsOfView(t *testing.T) {
	s, r := serveReaders(t, &mcpserver.Options{})
	for _, beside := range []string{`{}`, `true`, `null`, `[]`, `{"properties":true}`, `{"properties":{"x":false}}`, `{"type":"string","type":"number"}`} {
		r.views["others"].set(t, rawTool("tool", `{"type":"object","properties":{"y":`+beside+`,"z":{"type":"string","x-mcp-header":"Z"}}}`,
			func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.TextResult("done"), nil
			}))
		body, header := modernCall("tool", `{"z":"v"}`, "")
		if e := s.post(t, body, header+"Mcp-Param-Z: v\n"); e.status != http.StatusOK {
			t.Errorf("beside %s: %d %s", beside, e.status, e.body)
		}
		if e := s.post(t, body, header+"Mcp-Param-Z: w\n"); e.status != http.StatusBadRequest {
			t.Errorf("beside %s, another value: %d %s", beside, e.status, e.body)
		}
	}
}

func fixedLive(t *testing.T, name string) *toolpost.Live {
	t.Helper()
	live, err := toolpost.NewLive(t.Context(), toolpost.Tools{argumentTool(name, "x")})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// The server keeps no view that the owner of the views has replaced.
func TestReplacedViewsAreForgotten(t *testing.T) {
	var current *toolpost.Live
	s := serve(t, &mcpserver.Options{Views: &hooks{view: func(observe.Client) (*toolpost.Live, error) { return current, nil }}}, textTool("u", "u"))
	body, header := modernCall("tool", `{}`, "")
	var replaced []weak.Pointer[toolpost.Live]
	for range 20 {
		current = fixedLive(t, "tool")
		replaced = append(replaced, weak.Make(current))
		for range 2 {
			if e := s.post(t, body, header); e.status != http.StatusOK {
				t.Fatalf("%d %s", e.status, e.body)
			}
		}
	}
	current = fixedLive(t, "tool")
	for deadline := time.Now().Add(time.Minute); len(replaced) > 0; {
		runtime.GC()
		replaced = slices.DeleteFunc(replaced, func(p weak.Pointer[toolpost.Live]) bool { return p.Value() == nil })
		if time.Now().After(deadline) {
			t.Fatalf("%d of 20 replaced views are kept", len(replaced))
		}
	}
}

// Who waits for a view holds nobody up whose view is there.
func TestViewsBeginByThemselves(t *testing.T) {
	behind, fast := &source{tools: []*toolpost.Tool{argumentTool("tool", "x")}}, fixedLive(t, "tool")
	slow, err := toolpost.NewLive(t.Context(), behind)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan bool, 5)
	s := serve(t, &mcpserver.Options{Views: &hooks{view: func(c observe.Client) (*toolpost.Live, error) {
		if c.UserAgent == "slow" {
			asked <- true
			return slow, nil
		}
		return fast, nil
	}}}, textTool("u", "u"))
	held, release := make(chan bool), make(chan bool)
	slow.Watch(func(toolpost.Event) {
		close(held)
		<-release
	})
	go behind.set(t, argumentTool("tool", "x"))
	<-held // and with it the list of the slow one
	body, header := modernCall("tool", `{}`, "")
	var slowly sync.WaitGroup
	for range cap(asked) {
		slowly.Go(func() {
			if e := s.post(t, body, header+"User-Agent: slow\n"); e.status != http.StatusOK {
				t.Errorf("slow: %d %s", e.status, e.body)
			}
		})
	}
	for range cap(asked) {
		<-asked
	}
	for range 20 {
		if e := s.post(t, body, header); e.status != http.StatusOK {
			t.Errorf("%d %s", e.status, e.body)
		}
	}
	close(release)
	slowly.Wait()
}

// A mistake of the program is told, to each client.
func TestNoView(t *testing.T) {
	s := serve(t, &mcpserver.Options{Views: &hooks{view: func(observe.Client) (*toolpost.Live, error) { return nil, nil }}}, textTool("u", "u"))
	body, header := modernCall("u", `{}`, "")
	for range 2 {
		if e := s.post(t, body, header); !strings.Contains(e.body, "Options.Views") {
			t.Errorf("%d %s", e.status, e.body)
		}
	}
}
