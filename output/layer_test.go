package output_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
)

func named(name, result string) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)},
		Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(result), nil
		},
	}
}

func list(t *testing.T, ts toolpost.Toolset) (tools []*toolpost.Tool, names string) {
	t.Helper()
	tools, err := ts.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		names += tool.Name + " "
	}
	return tools, strings.TrimSpace(names)
}

func TestLayerFollowsTheList(t *testing.T) {
	a, b := named("a", ""), named("b", "")
	source := toolpost.Tools{a}
	c := output.New(newShelf(), nil)
	layer := c.Layer(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return source, nil }))
	first, names := list(t, layer)
	if names != "a tool_output_cache tool_output_cache_grep" {
		t.Fatal(names)
	}
	source = toolpost.Tools{b, a}
	second, names := list(t, layer)
	if names != "b a tool_output_cache tool_output_cache_grep" {
		t.Fatal(names)
	}
	if first[0] != second[1] || first[1] != second[2] || first[2] != second[3] {
		t.Error("tools that did not change are others")
	}
	if source = nil; len(source) == 0 {
		if _, names := list(t, layer); names != "" {
			t.Errorf("without tools, %s are listed", names)
		}
	}
}

func TestToolsThatNeedNoLayer(t *testing.T) {
	a, b := named("a", ""), named("b", "")
	a.Policy.MaxOutput, b.Policy.MaxOutput = -1, -1
	source := toolpost.Tools{a, b}
	layer := output.New(newShelf(), nil).Layer(source)
	if tools, names := list(t, layer); names != "a b" || tools[0] != a || tools[1] != b {
		t.Errorf("tools that keep to a limit are listed as %s", names)
	}
	source[1] = named("b", "") // another tool
	if _, names := list(t, layer); names != "a b tool_output_cache tool_output_cache_grep" {
		t.Errorf("one of two can be cut, listed are %s", names)
	}
}

func TestNamesThatClash(t *testing.T) {
	c := output.New(newShelf(), &output.Options{Chars: 1000, Logger: quiet})
	layer := c.Layer(toolpost.Tools{named("big", numbered(1000)), named("tool_output_cache", numbered(1000))})
	if _, names := list(t, layer); names != "big tool_output_cache tool_output_cache_2 tool_output_cache_grep" {
		t.Fatal(names)
	}
	b := &bench{}
	set, err := toolpost.NewSet(t.Context(), layer)
	if err != nil {
		t.Fatal(err)
	}
	b.set = set
	for _, name := range []string{"big", "tool_output_cache"} { // a tool of that name is not exempt
		r := b.call(t, "s", name, `{}`)
		if !strings.Contains(text(t, r), `Read on with tool_output_cache_2 {"ref_id":"`+r.OutputRef()+`"`) {
			t.Errorf("the view of %s is %q", name, text(t, r))
		}
	}
}

// The reading tools are those of their cache, whatever they are called.
func TestReadingToolsAreExempt(t *testing.T) {
	shelf := newShelf()
	c := output.New(shelf, &output.Options{Chars: 48_000, Logger: quiet})
	narrow := output.New(shelf, &output.Options{Chars: 1000, Logger: quiet})
	inner := toolpost.Prefix(c.Layer(toolpost.Tools{named("big", numbered(9000))}), "x_")
	b := &bench{}
	var err error
	if b.set, err = toolpost.NewSet(t.Context(), narrow.Layer(inner)); err != nil {
		t.Fatal(err)
	}
	if _, names := list(t, b.set); names != "x_big x_tool_output_cache x_tool_output_cache_grep tool_output_cache tool_output_cache_grep" {
		t.Fatal(names)
	}
	r := b.call(t, "s", "x_big", `{}`)
	if len(text(t, r)) < 10_000 {
		t.Error("a view is cut again")
	}
	page := b.call(t, "s", "x_tool_output_cache", `{"ref_id":"`+r.OutputRef()+`"}`)
	if page.OutputRef() != "" || len(text(t, page)) < 20_000 {
		t.Error("a page is cut")
	}
	if _, names := list(t, c.Layer(inner)); names != "x_big x_tool_output_cache x_tool_output_cache_grep" {
		t.Errorf("the tools are added twice: %s", names)
	}
}

func TestScope(t *testing.T) {
	shelf := newShelf()
	b := &bench{shelf: shelf}
	open := func() {
		c := output.New(shelf, &output.Options{Chars: 1000, Logger: quiet})
		var err error
		if b.set, err = toolpost.NewSet(t.Context(), c.Layer(toolpost.Tools{named("big", numbered(1000))})); err != nil {
			t.Fatal(err)
		}
	}
	open()
	ref := b.call(t, "alice", "big", `{}`).OutputRef()
	if len(ref) != 16 {
		t.Fatalf("the reference is %q", ref)
	}
	open() // as after a restart
	args := `{"ref_id":"` + ref + `"}`
	if r := b.call(t, "alice", "tool_output_cache", args); r.IsError() {
		t.Errorf("its own session cannot read it: %s", text(t, r))
	}
	if r := b.call(t, "alice", "tool_output_cache", `{"ref_id":" `+strings.ToUpper(ref)+`"}`); r.IsError() {
		t.Errorf("it cannot be read in capitals: %s", text(t, r))
	}
	for _, test := range []struct{ session, tool, args string }{
		{"bob", "tool_output_cache", args},
		{"", "tool_output_cache", args},
		{"bob", "tool_output_cache_grep", `{"ref_id":"` + ref + `","pattern":"line"}`},
		{"alice", "tool_output_cache", `{"ref_id":"aaaaaaaaaaaaaaaa"}`},
		{"alice", "tool_output_cache", `{"ref_id":"../` + ref + `"}`},
		{"alice", "tool_output_cache", `{"ref_id":"x` + ref + `"}`},
	} {
		r := b.call(t, test.session, test.tool, test.args)
		if got := text(t, r); !r.IsError() || !strings.Contains(got, "it has expired, or belongs to another session. Call the tool that produced it again, with narrower arguments") {
			t.Errorf("%v: %q", test, got)
		}
	}
	for name := range shelf.blobs {
		if session, got, ok := hidden.SplitOutputName(name); !ok || got != ref || strings.Contains(name, "alice") || session == "" {
			t.Errorf("the name in the store is %q", name)
		}
	}
	a, second := b.call(t, "alice", "big", `{}`), b.call(t, "alice", "big", `{}`)
	if a.OutputRef() == second.OutputRef() {
		t.Error("two outputs have one reference")
	}
}

// A tool that calls another one gets the whole result: only the result for the client becomes a
// view. A tool that wraps another one passes on what is for the client.
func TestCallsInsideACall(t *testing.T) {
	stored := false
	inner := named("inner", "")
	inner.Handler = func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		stored = hidden.Keep(ctx) != nil // as package upstream asks
		return toolpost.TextResult("done"), nil
	}
	others, err := toolpost.NewSet(t.Context(), toolpost.Tools{inner})
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]toolpost.Handler{
		"calls": others.Call,
		"wraps": inner.Run,
	} {
		outer := named(name, "")
		outer.Handler = func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			return handler(ctx, &toolpost.Call{Name: "inner"})
		}
		set, err := toolpost.NewSet(t.Context(), output.New(newShelf(), nil).Layer(toolpost.Tools{outer}))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := set.CallText(t.Context(), name, nil); text != "done" || err != nil {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
		if want := name == "wraps"; stored != want {
			t.Errorf("a tool that %s another one: the inner result may be stored: %t, want %t", name, stored, want)
		}
	}
}
