package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
)

func TestAdd(t *testing.T) {
	g, f := open(t, servers("a", "x"))
	f.last("a").connect("tool")
	tools := toolpost.Tools{tool("one", "first")}
	live, err := toolpost.NewLive(t.Context(), toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil }))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Add("own", live); err != nil {
		t.Fatal(err)
	}
	wantTools(t, g, "a__tool", "own__one")
	if got := call(g, "own__one"); got != "first one" {
		t.Errorf("got %q", got)
	}
	if status := g.Status(); len(status) != 2 || status[1].Transport != "in-process" || status[1].Tools != 1 {
		t.Errorf("%+v", status)
	}

	tools = append(tools, tool("two", "second"))
	if err := live.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	arrived(t, g, func() bool { return slices.Contains(names(g), "own__two") })

	if err := g.Reload(t.Context(), servers("b", "y")); err != nil {
		t.Fatal(err)
	}
	f.last("b").connect("tool")
	wantTools(t, g, "b__tool", "own__one", "own__two")

	for _, name := range []string{"own", "b"} {
		if err := g.Add(name, live); err == nil || !strings.Contains(err.Error(), `two servers are named "`+name+`"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.Reload(t.Context(), servers("own", "y")); err == nil || !strings.Contains(err.Error(), `two servers are named "own"`) {
		t.Errorf("a server with the name of a toolset: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add("late", live); err == nil {
		t.Error("a closed gateway took a toolset")
	}
}

// The names of a toolset follow from its name, whatever servers there are.
func TestAddOfATakenName(t *testing.T) {
	g, f := open(t, servers("my.server", "x"))
	f.last("my.server").connect("tool")
	if err := g.Add("", toolpost.Tools{}); err == nil || !strings.Contains(err.Error(), "it needs a name") {
		t.Errorf("without a name: %v", err)
	}
	if err := g.Add("my server", toolpost.Tools{tool("tool", "own")}); err != nil {
		t.Fatal(err)
	}
	wantTools(t, g, "my_server_szq4__tool", "my_server_weuy__tool")
	if got := call(g, "my_server_weuy__tool"); got != "own tool" {
		t.Errorf("got %q", got)
	}
	if told := strings.Join(findings(g), "\n"); !strings.Contains(told, `server "my server" is called "my_server_weuy" in tool names`) {
		t.Errorf("got %s", told)
	}
	if err := g.Reload(t.Context(), servers("my_server_weuy", "y")); err != nil { // nothing but intent makes this name
		t.Fatal(err)
	}
	f.last("my_server_weuy").connect("tool")
	wantTools(t, g, "my_server_weuy_2__tool", "my_server_weuy__tool")
}

// Middleware runs around every call, also of prompts and resources, with the
// names that clients use and the whole result.
func TestMiddleware(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	audit := func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			r, err := next(ctx, call)
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, call.Name)
			return r, err
		}
	}
	g, f := openWith(t, servers("a", "x"), &gateway.Options{Middleware: audit})
	a := f.last("a")
	a.set(func(u *fake) {
		u.features = &toolpost.Features{
			Prompts:   []*toolpost.Prompt{prompt("p", "a")},
			Resources: []*toolpost.Resource{resource("test://one", "a", false), resource("test://a/{id}", "a", true)},
			Proxy: toolpost.Proxy{
				ReadUnlisted: echo("a"),
				Extend:       echo("a"),
			},
		}
	})
	a.connect("tool")
	wantTools(t, g, "a__tool")
	call(g, "a__tool")
	all := features(g)
	for _, h := range []struct {
		toolpost.Handler
		name string
	}{
		{all.Prompts[0].Get, "a__p"}, {all.Prompts[0].Complete, "complete p"},
		{all.Resources[0].Read, "test://one"}, {all.Resources[1].Read, "test://a/7"}, {all.ReadUnlisted, "test://other"}, {all.Extend, "x/do"},
	} {
		if _, err := h.Handler(t.Context(), &toolpost.Call{Name: h.name}); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"a__tool", "a__p", "complete p", "test://one", "test://a/7", "test://other", "x/do"}, seen); diff != "" {
		t.Error(diff)
	}
	if all.Resources[0].Complete != nil {
		t.Error("middleware made a handler where there was none")
	}
}

// Around runs around every request to a server, with the names of the server, and a
// client's request has the server that it went to.
func TestAround(t *testing.T) {
	var seen []observe.Target
	around := func(to *observe.Target, next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			seen = append(seen, *to)
			if call.Name == "refused" {
				return nil, toolpost.Failed.Errorf("not now")
			}
			return next(ctx, call)
		}
	}
	g, f := openWith(t, servers("a", "x"), &gateway.Options{Around: []gateway.Around{around}})
	a := f.last("a")
	a.set(func(u *fake) {
		u.features = &toolpost.Features{
			Prompts:   []*toolpost.Prompt{prompt("p", "a")},
			Resources: []*toolpost.Resource{resource("test://one", "a", false)},
			Proxy: toolpost.Proxy{
				ReadUnlisted: echo("a"),
				Extend:       echo("a"),
			},
		}
	})
	a.connect("tool", "refused")
	wantTools(t, g, "a__tool", "a__refused")
	all := features(g)
	ctx, request := observe.Begin(t.Context())
	for _, h := range []struct {
		toolpost.Handler
		name string
	}{
		{g.Live().Set().Call, "a__tool"}, {all.Prompts[0].Get, "a__p"}, {all.Prompts[0].Complete, "complete p"},
		{all.Resources[0].Read, "test://one"}, {all.ReadUnlisted, "test://other"}, {all.Extend, "x/do"},
	} {
		if _, err := h.Handler(ctx, &toolpost.Call{Name: h.name}); err != nil {
			t.Error(err)
		}
		if to := request.Target(); to == nil || *to != seen[len(seen)-1] {
			t.Errorf("%s went to %+v, and the request says %+v", h.name, seen[len(seen)-1], to)
		}
	}
	if r, err := g.Live().Call(ctx, &toolpost.Call{Name: "a__refused"}); err != nil || !r.IsError() {
		t.Errorf("got %v, %v, want a refusal", r, err)
	}
	want := []observe.Target{
		{Server: "a", Transport: "stdio", Method: "tools/call", Name: "tool"}, {Server: "a", Transport: "stdio", Method: "prompts/get", Name: "p"},
		{Server: "a", Transport: "stdio", Method: "completion/complete"}, {Server: "a", Transport: "stdio", Method: "resources/read"},
		{Server: "a", Transport: "stdio", Method: "resources/read"}, {Server: "a", Transport: "stdio", Method: "x/do"},
		{Server: "a", Transport: "stdio", Method: "tools/call", Name: "refused"},
	}
	for i, to := range seen {
		if isTool := to.Method == "tools/call"; isTool != (to.Definition != nil) || isTool && to.Definition.Name != to.Name {
			t.Errorf("%s %s has the definition %+v", to.Method, to.Name, to.Definition)
		}
		seen[i].Definition = nil
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}
