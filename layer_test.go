package toolpost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
)

// A shop is a Source that a test changes. Its handlers return the name that they
// were called with.
type shop struct {
	toolpost.Base
	tools    toolpost.Tools
	features *toolpost.Features
	away     error
}

func (s *shop) Tools(context.Context) ([]*toolpost.Tool, error) { return s.tools, nil }

func (s *shop) Features() *toolpost.Features { return s.features }
func (s *shop) Ready(context.Context) error  { return s.away }

func calledName(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	return toolpost.TextResult(call.Name), nil
}

func newShop(name string) *shop {
	tool := toolpost.New(name, "", add, nil)
	tool.Handler, tool.Policy.SkipValidation = calledName, true
	return &shop{tools: toolpost.Tools{tool}, features: &toolpost.Features{
		Instructions: "ask " + name,
		Prompts:      []*toolpost.Prompt{{Name: name, Get: calledName, Complete: calledName}},
		Resources:    []*toolpost.Resource{{URI: "x://" + name, Read: calledName}, {URI: "x://all/{id}", Template: true, Read: calledName}},
		Proxy: toolpost.Proxy{
			Capabilities: json.RawMessage(`{"extensions":{"x/` + name + `":{}}}`),
			ReadUnlisted: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				if !strings.Contains(call.Name, name) {
					return nil, fmt.Errorf("%s: %w", call.Name, toolpost.ErrNotFound)
				}
				return toolpost.TextResult(name + " reads " + call.Name), nil
			},
			Extend: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.TextResult(name + " does " + call.Name), nil
			},
		},
	}}
}

// reply returns what a handler returns, or its error.
func reply(t *testing.T, h toolpost.Handler, name string) string {
	t.Helper()
	r, err := h(t.Context(), &toolpost.Call{Name: name})
	if err != nil {
		return err.Error()
	}
	text, _ := r.FirstText()
	return text
}

// Prompts and resources pass the layers that tools pass.
func TestFeaturesPassLayers(t *testing.T) {
	s := newShop("a")
	var seen []string
	audit := func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			seen = append(seen, call.Name)
			return next(ctx, call)
		}
	}
	same := func(t *toolpost.Tool) *toolpost.Tool { return t }
	none := func(*toolpost.Tool) bool { return false }
	top := toolpost.Wrap(toolpost.Filter(toolpost.Map(toolpost.Prefix(s, "p_"), same), none), audit)
	f := top.Features()
	if tools, err := top.Tools(t.Context()); err != nil || len(tools) != 0 {
		t.Errorf("%v, %v", tools, err)
	}
	got := []string{
		f.Instructions, f.Prompts[0].Name, reply(t, f.Prompts[0].Get, "p_a"), reply(t, f.Prompts[0].Complete, "p_a"),
		f.Resources[0].URI, reply(t, f.Resources[0].Read, "x://a"), reply(t, f.ReadUnlisted, "x://a/1"), reply(t, f.Extend, "a/do"),
	}
	if diff := cmp.Diff([]string{"ask a", "p_a", "a", "p_a", "x://a", "x://a", "a reads x://a/1", "a does a/do"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"p_a", "p_a", "x://a", "x://a/1", "a/do"}, seen); diff != "" {
		t.Error(diff)
	}
	if s.features.Prompts[0].Name != "a" || f.Resources[0].Complete != nil {
		t.Error("a layer changed what it got, or made a handler where there was none")
	}
	if top.Features() != f {
		t.Error("the same features are others")
	}
	if s.features = nil; top.Features() != nil {
		t.Error("features of nothing")
	}
}

func TestJoinFeatures(t *testing.T) {
	a, b := newShop("a"), newShop("b")
	plain := toolpost.Tools{toolpost.New("plain", "", add, nil)}
	joined := toolpost.Join(plain, a, b, &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "a", Get: calledName}}})
	set, err := toolpost.NewSet(t.Context(), joined)
	if err != nil {
		t.Fatal(err)
	}
	f := set.Features()
	var names []string
	for _, p := range f.Prompts {
		names = append(names, p.Name)
	}
	for _, r := range f.Resources {
		names = append(names, r.URI)
	}
	if want := "a b a x://a x://all/{id} x://b x://all/{id}"; strings.Join(names, " ") != want || f.Instructions != "ask a\n\nask b" {
		t.Errorf("%q, %q", names, f.Instructions)
	}
	var findings []string
	for _, found := range set.Findings() {
		findings = append(findings, found.Message)
	}
	if diff := cmp.Diff([]string{`prompt "a" is offered twice, and the first is served`, `resource template "x://all/{id}" is offered twice, and the first is served`}, findings); diff != "" {
		t.Error(diff)
	}
	got := []string{
		reply(t, f.ReadUnlisted, "x://b/1"), reply(t, f.ReadUnlisted, "x://c"),
		reply(t, f.Extend, "a/do"), reply(t, f.Extend, "b/do"), reply(t, f.Extend, "c/do"),
	}
	if diff := cmp.Diff([]string{"b reads x://b/1", "x://c: not found", "a does a/do", "b does b/do", "method c/do: not found"}, got); diff != "" {
		t.Error(diff)
	}
	if toolpost.Join(plain, a).Features() != a.features || toolpost.Join(plain).Features() != nil {
		t.Error("features of one set are not its own")
	}
	if joined.Features() != f {
		t.Error("the same features are others")
	}
	if b.features = newShop("c").features; joined.Features() == f {
		t.Error("other features are the same")
	}
}

// A subscription goes to the set that lists the resource.
func TestJoinSubscribes(t *testing.T) {
	a, b := newShop("a"), newShop("b")
	var asked []string
	b.features.Subscribe = func(_ context.Context, uri string, on bool) error {
		asked = append(asked, fmt.Sprint(uri, on))
		return nil
	}
	subscribe := toolpost.Join(a, b).Features().Subscribe
	for uri, want := range map[string]error{"x://b": nil, "x://a": toolpost.ErrNotFound} {
		if err := subscribe(t.Context(), uri, true); !errors.Is(err, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if !slices.Equal(asked, []string{"x://btrue"}) {
		t.Errorf("asked %q", asked)
	}
}

// A Live follows the lists of what is below its layers, and passes on what else is
// reported there.
func TestLiveFollowsASource(t *testing.T) {
	a, b := newShop("a"), newShop("b")
	b.away = errors.New("away")
	l, err := toolpost.NewLive(t.Context(), toolpost.Join(toolpost.Prefix(a, "p_"), b))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(t.Context()); !errors.Is(err, b.away) {
		t.Errorf("ready: %v", err)
	}
	var events []toolpost.Event
	stop := l.Watch(func(e toolpost.Event) { events = append(events, e) })
	a.Notify(toolpost.Event{}) // nothing has changed
	said := toolpost.Event{Notification: &toolpost.Call{Name: "x/y"}}
	b.Notify(said)
	a.Notify(toolpost.Event{Resource: "x://a"})
	a.features = newShop("new").features
	a.Notify(toolpost.Event{})
	b.tools = toolpost.Tools{}
	b.Notify(toolpost.Event{})
	if got := l.Features().Prompts[0].Name; got != "p_new" || l.Lookup("b") != nil {
		t.Errorf("it lists %s and %v", got, l.Lookup("b"))
	}
	b.tools = toolpost.Tools{a.tools[0], a.tools[0]} // an error
	b.Notify(toolpost.Event{})
	stop()
	l.Close()
	a.features = nil
	a.Notify(toolpost.Event{})
	if l.Features() == nil || l.Lookup("p_a") == nil {
		t.Error("the last lists are gone")
	}
	if !slices.Equal(events, []toolpost.Event{said, {Resource: "x://a"}, {}, {}}) {
		t.Errorf("events %v", events)
	}
}

// A layer that panics because of what it lists does not end the source.
func TestLiveOverAPanic(t *testing.T) {
	s, broken := newShop("a"), false
	l, err := toolpost.NewLive(t.Context(), toolpost.Layer(s, func(tools []*toolpost.Tool) ([]*toolpost.Tool, error) {
		if broken {
			panic("on purpose")
		}
		return tools, nil
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	broken, s.tools = true, toolpost.Tools{}
	s.Notify(toolpost.Event{})
	if broken = false; l.Lookup("a") == nil {
		t.Error("the last list is gone")
	}
	s.Notify(toolpost.Event{})
	if l.Lookup("a") != nil {
		t.Error("it does not follow any more")
	}
}
