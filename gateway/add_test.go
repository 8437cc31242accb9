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
	if status := g.Status(); len(status) != 2 || status[1].Transport != gateway.InProcess || status[1].Tools != 1 {
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

// A toolset whose name is a server's in tool names gets another one there, and so
// does a server that comes later.
func TestAddOfATakenName(t *testing.T) {
	g, f := open(t, servers("my.server", "x"))
	f.last("my.server").connect("tool")
	if err := g.Add("", toolpost.Tools{}); err == nil || !strings.Contains(err.Error(), "it needs a name") {
		t.Errorf("without a name: %v", err)
	}
	if err := g.Add("my server", toolpost.Tools{tool("tool", "own")}); err != nil {
		t.Fatal(err)
	}
	wantTools(t, g, "my_server__tool", "my_server_2__tool")
	if got := call(g, "my_server_2__tool"); got != "own tool" {
		t.Errorf("got %q", got)
	}
	if told := strings.Join(findings(g), "\n"); !strings.Contains(told, `server "my server" is called "my_server_2" in tool names`) {
		t.Errorf("got %s", told)
	}
	if err := g.Reload(t.Context(), servers("my_server_2", "y")); err != nil {
		t.Fatal(err)
	}
	f.last("my_server_2").connect("tool")
	wantTools(t, g, "my_server_2_2__tool", "my_server_2__tool")
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
			Prompts:      []*toolpost.Prompt{prompt("p", "a")},
			Resources:    []*toolpost.Resource{resource("test://one", "a", false), resource("test://a/{id}", "a", true)},
			ReadUnlisted: echo("a"),
			Extend:       echo("a"),
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
