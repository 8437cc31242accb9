package toolpost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/schema"
)

type addInput struct {
	A int `json:"a" jsonschema:"first number"`
	B int `json:"b,omitempty" default:"10"`
}

func add(_ context.Context, in addInput) (int, error) { return in.A + in.B, nil }

func ExampleNew() {
	ctx := context.Background()
	sum := toolpost.New("add", "Add two numbers.", add, nil)
	set, _ := toolpost.NewSet(ctx, toolpost.Tools{sum})
	text, _ := set.CallText(ctx, "add", map[string]int{"a": 2, "b": 3})
	fmt.Println(text)
	// Output: 5
}

func ExamplePrefix() {
	ctx := context.Background()
	sum := toolpost.New("add", "Add two numbers.", add, nil)
	set, _ := toolpost.NewSet(ctx, toolpost.Prefix(toolpost.Tools{sum}, "math__"))
	r, _ := set.Call(ctx, &toolpost.Call{Name: "math__add", Arguments: []byte(`{"a":"1"}`)})
	text, _ := r.FirstText()
	fmt.Println(text)
	// Output:
	// invalid arguments for math__add:
	// /a: expected integer, got string "1"
	// Fix them and call math__add again.
}

// ExampleNew_duration shows that a time.Duration takes text as well as nanoseconds.
func ExampleNew_duration() {
	type wait struct {
		Timeout time.Duration `json:"timeout" desc:"longest wait" default:"30s"`
	}
	tool := toolpost.New("wait", "Waits.", func(_ context.Context, in wait) (string, error) {
		return in.Timeout.String(), nil
	}, nil)
	set, _ := toolpost.NewSet(context.Background(), toolpost.Tools{tool})
	for _, arguments := range []string{`{"timeout":"5m"}`, `{"timeout":300000000000}`, `{}`, `{"timeout":"soon"}`} {
		r, _ := set.Call(context.Background(), &toolpost.Call{Name: "wait", Arguments: []byte(arguments)})
		text, _ := r.FirstText()
		fmt.Println(text)
	}
	// Output:
	// 5m0s
	// 5m0s
	// 30s
	// invalid arguments for wait:
	// /timeout: expected a duration (write "5m", "1h30m" or a number of nanoseconds), got string "soon"
	// Fix them and call wait again.
}

func newSet(t testing.TB, ts ...toolpost.Toolset) *toolpost.Set {
	t.Helper()
	s, err := toolpost.NewSet(t.Context(), toolpost.Join(ts...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func call(t testing.TB, s *toolpost.Set, name, args string) *toolpost.Result {
	t.Helper()
	r, err := s.Call(t.Context(), &toolpost.Call{Name: name, Arguments: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(r *toolpost.Result) string {
	s, _ := r.FirstText()
	return s
}

func TestCall(t *testing.T) {
	type none struct{}
	fails := func(err error) func(context.Context, none) (string, error) {
		return func(context.Context, none) (string, error) { return "", err }
	}
	s := newSet(t,
		toolpost.Prefix(toolpost.Tools{toolpost.New("add", "", add, nil)}, "x_"),
		toolpost.Tools{
			toolpost.New("plain", "", fails(errors.New("boom")), nil),
			toolpost.New("retry", "", fails(fmt.Errorf("look: %w", toolpost.Retry.Errorf("use another id"))), nil),
			toolpost.New("failed", "", fails(toolpost.Failed.Errorf("gone for good")), nil),
			toolpost.New("denied", "", fails(toolpost.Denied.Errorf("not yours")), nil),
			toolpost.New("complete", "", fails(toolpost.Done.Errorf("all done")), nil),
			toolpost.New("asked", "", fails(nil), &toolpost.Options{Policy: toolpost.Policy{
				Approve: func(context.Context, *toolpost.Call) error { return errors.New("the person said no") },
			}}),
		})
	for _, tt := range []struct {
		name, tool, args, want string
		isError                bool
		kind                   toolpost.Outcome
	}{
		{"ok", "x_add", `{"a":1,"b":2}`, "3", false, 0},
		{"default", "x_add", `{"a":1}`, "11", false, 0},
		{"null is absent", "x_add", `{"a":1,"b":null}`, "11", false, 0},
		{"big number", "x_add", `{"a":9007199254740993,"b":0}`, "9007199254740993", false, 0},
		{"no arguments", "x_add", ``, "invalid arguments for x_add:\n/a: expected integer, got nothing: the property is required\nFix them and call x_add again.", true, toolpost.Retry},
		{"error", "plain", `{}`, "boom", true, toolpost.Failed},
		{"retry", "retry", `{}`, "look: use another id", true, toolpost.Retry},
		{"failed", "failed", `{}`, "gone for good", true, toolpost.Failed},
		{"denied", "denied", `{}`, "not yours", true, toolpost.Denied},
		{"complete", "complete", `{}`, "all done", false, toolpost.Done},
		{"approval", "asked", `{}`, "asked was not approved: the person said no", true, toolpost.Denied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, s, tt.tool, tt.args)
			if text(r) != tt.want || r.IsError() != tt.isError || r.Outcome() != tt.kind {
				t.Errorf("got %q, error %v, kind %v\nwant %q, %v, %v", text(r), r.IsError(), r.Outcome(), tt.want, tt.isError, tt.kind)
			}
		})
	}
	if _, err := s.Call(t.Context(), &toolpost.Call{Name: "none"}); !errors.Is(err, toolpost.ErrNotFound) {
		t.Errorf("unknown tool: error %v, want ErrNotFound", err)
	}
}

// Arguments replace defaults; objects that are left out are made only where
// they are no pointers.
func TestDefaults(t *testing.T) {
	type pair struct {
		A int
		B int `json:",omitempty"`
	}
	type limits struct {
		Depth int `default:"5"`
		Width int `json:",omitempty"`
	}
	type input struct {
		List    []pair         `default:"[{\"A\":1,\"B\":2}]"`
		Map     map[string]int `default:"{\"x\":1}"`
		Limits  limits         `json:",omitzero"`
		Pointer *limits
		Many    []limits `json:",omitempty"`
		Null    *int     `default:"7"`
	}
	s := newSet(t, toolpost.Tools{toolpost.New("get", "", func(_ context.Context, in input) (input, error) { return in, nil }, nil)})
	for args, want := range map[string]string{
		``: `{"List":[{"A":1,"B":2}],"Map":{"x":1},"Limits":{"Depth":5},"Pointer":null,"Null":7}`,
		`{"List":[{"A":9}],"Map":{"y":2},"Limits":{"Width":3},"Pointer":{"Depth":null},"Many":[{},{"Depth":1}],"Null":null}`: `{"List":[{"A":9}],"Map":{"y":2},"Limits":{"Depth":5,"Width":3},"Pointer":{"Depth":5},"Many":[{"Depth":5},{"Depth":1}],"Null":7}`,
		`{"List":[],"Map":{},"Limits":{"Depth":0},"Pointer":null,"Null":0}`:                                                  `{"List":[],"Map":{},"Pointer":null,"Null":0}`,
	} {
		if got := text(call(t, s, "get", args)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", args, got, want)
		}
	}
}

func TestCallText(t *testing.T) {
	s := newSet(t, toolpost.Tools{
		toolpost.New("add", "", add, nil),
		{Definition: toolpost.Definition{Name: "raw", Input: schema.MustParse(`{}`)}, Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult([]byte(`{"content":[{"type":"image","data":"AA=="},{"type":"text","text":"second"}]}`)), nil
		}},
		{Definition: toolpost.Definition{Name: "protocol", Input: schema.MustParse(`{}`)}, Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, &toolpost.ProtocolError{Code: -32000, Message: "session lost"}
		}},
	})
	if got, err := s.CallText(t.Context(), "add", map[string]int{"a": 1}); got != "11" || err != nil {
		t.Errorf("add = %q, %v", got, err)
	}
	if got, err := s.CallText(t.Context(), "raw", nil); got != "second" || err != nil {
		t.Errorf("raw = %q, %v", got, err)
	}
	var failed *toolpost.ToolError
	if _, err := s.CallText(t.Context(), "add", map[string]string{"a": "x"}); !errors.As(err, &failed) || failed.Outcome != toolpost.Retry {
		t.Errorf("bad arguments: error %v, want one to retry", err)
	}
	outer := newSet(t, toolpost.Tools{toolpost.New("outer", "", func(ctx context.Context, _ struct{}) (string, error) {
		return s.CallText(ctx, "add", map[string]string{"a": "x"})
	}, nil)})
	if r := call(t, outer, "outer", "{}"); r.Outcome() != toolpost.Failed {
		t.Errorf("a tool whose inner call failed has the outcome %v; its own caller cannot correct that call", r.Outcome())
	}
	var protocol *toolpost.ProtocolError
	if _, err := s.CallText(t.Context(), "protocol", nil); !errors.As(err, &protocol) || protocol.Code != -32000 {
		t.Errorf("protocol error: %v", err)
	}
	if _, err := s.CallText(t.Context(), "add", func() {}); err == nil {
		t.Error("arguments that are not JSON: no error")
	}
}

func TestPanicIsAnErrorWithAnID(t *testing.T) {
	var log bytes.Buffer
	ctx := dep.Logger.With(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	for _, policy := range []toolpost.Policy{{}, {Timeout: time.Minute}} {
		s := newSet(t, toolpost.Tools{toolpost.New("bad", "", func(context.Context, struct{}) (string, error) {
			panic("secret detail")
		}, &toolpost.Options{Policy: policy})})
		r, err := s.Call(ctx, &toolpost.Call{Name: "bad"})
		if err != nil || !r.IsError() {
			t.Fatalf("got %v, %v; want an error result", r, err)
		}
		_, id, found := strings.Cut(text(r), "(id ")
		id, _, _ = strings.Cut(id, ")")
		if !found || strings.Contains(text(r), "secret") || !strings.Contains(log.String(), "id="+id) || !strings.Contains(log.String(), "secret detail") {
			t.Errorf("model sees %q, log has %q", text(r), log.String())
		}
	}
}

func TestApproval(t *testing.T) {
	var asked []string
	opts := &toolpost.Options{Policy: toolpost.Policy{Approve: func(ctx context.Context, c *toolpost.Call) error {
		asked = append(asked, string(c.Arguments))
		if toolpost.CallFrom(ctx).Name != c.Name {
			t.Error("the approver's context has no call")
		}
		if len(asked) > 1 {
			panic("secret detail")
		}
		return nil
	}}}
	s := newSet(t, toolpost.Tools{toolpost.New("add", "", add, opts)})
	if r := call(t, s, "add", `{"a":1}`); text(r) != "11" {
		t.Errorf("got %q", text(r))
	}
	if diff := cmp.Diff([]string{`{"a":1,"b":10}`}, asked); diff != "" {
		t.Errorf("the approver sees what the tool gets: %s", diff)
	}
	ctx := dep.Logger.With(t.Context(), slog.New(slog.DiscardHandler))
	r, err := s.Call(ctx, &toolpost.Call{Name: "add", Arguments: []byte(`{"a":1}`)})
	if err != nil || !r.IsError() || strings.Contains(text(r), "secret") {
		t.Errorf("a panic: got %q, %v", text(r), err)
	}
}

// Whatever a layer does, a typed function runs only with arguments that fit.
func TestLayersCannotSkipValidation(t *testing.T) {
	tool := toolpost.New("add", "", add, nil)
	loose := toolpost.Map(toolpost.Prefix(toolpost.Tools{tool}, "my_"), func(t *toolpost.Tool) *toolpost.Tool {
		t.Input = schema.MustParse(`{"type":"object"}`)
		return t
	})
	changing := toolpost.Map(toolpost.Tools{tool}, func(t *toolpost.Tool) *toolpost.Tool {
		next := t.Handler
		t.Handler = func(ctx context.Context, c *toolpost.Call) (*toolpost.Result, error) {
			changed := *c
			changed.Arguments = []byte(`{"a":"changed"}`)
			return next(ctx, &changed)
		}
		return t
	})
	if r := call(t, newSet(t, loose), "my_add", `{"a":"x"}`); !strings.HasPrefix(text(r), "invalid arguments for my_add:\n/a: expected integer") {
		t.Errorf("another schema: got %q", text(r))
	}
	if r := call(t, newSet(t, loose), "my_add", `{"a":1}`); text(r) != "11" {
		t.Errorf("another schema: got %q", text(r))
	}
	if r := call(t, newSet(t, changing), "add", `{"a":1}`); !strings.Contains(text(r), `/a: expected integer, got string "changed"`) {
		t.Errorf("other arguments: got %q", text(r))
	}
}

func TestKindsOfOutput(t *testing.T) {
	type name string
	s := newSet(t, toolpost.Tools{
		toolpost.New("named", "", func(context.Context, struct{}) (name, error) { return "hi", nil }, nil),
		toolpost.New("nil", "", func(context.Context, struct{}) (*receipt, error) { return nil, nil }, nil),
	})
	if r := call(t, s, "named", ""); text(r) != "hi" || r.Structured() != nil {
		t.Errorf("a named string: got %q", text(r))
	}
	if r := call(t, s, "nil", ""); !r.IsError() {
		t.Errorf("nil: got %q, want an error", text(r))
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		wait := func(ctx context.Context, _ struct{}) (string, error) { <-release; return "late", nil }
		polite := func(ctx context.Context, _ struct{}) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		opts := &toolpost.Options{Policy: toolpost.Policy{Timeout: time.Second}}
		s := newSet(t, toolpost.Tools{toolpost.New("deaf", "", wait, opts), toolpost.New("polite", "", polite, opts)})
		for _, name := range []string{"deaf", "polite"} {
			start := time.Now()
			r := call(t, s, name, "")
			if want := name + " did not finish within 1s"; text(r) != want || !r.IsError() {
				t.Errorf("got %q, want %q", text(r), want)
			}
			if d := time.Since(start); d != time.Second {
				t.Errorf("%s took %v, want 1s", name, d)
			}
		}
		close(release)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Call(ctx, &toolpost.Call{Name: "polite"}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled call: error %v", err)
		}
	})
}

func TestNewSetRefuses(t *testing.T) {
	ok := toolpost.New("a", "the first", add, nil)
	second := toolpost.New("a", "the second", add, nil)
	for _, tt := range []struct {
		name  string
		tools toolpost.Tools
		want  string
	}{
		{"duplicate", toolpost.Tools{ok, second}, `list of 2 tools, number 2: tool "a": its name: two tools have it: "the first" and "the second"; give one another name with Rename or Prefix`},
		{"no name", toolpost.Tools{{}}, `list of 1 tools, number 1: a tool: its name: it is empty; give the tool a name`},
		{"no handler", toolpost.Tools{{Definition: toolpost.Definition{Name: "x"}}}, `list of 1 tools, number 1: tool "x": its function: it has no handler; give it one`},
		{"no schema", toolpost.Tools{{Definition: toolpost.Definition{Name: "x"}, Handler: ok.Handler}}, `list of 1 tools, number 1: tool "x": its schema: it has no input schema; use {"type":"object"} for none`},
	} {
		if _, err := toolpost.NewSet(t.Context(), tt.tools); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %q\nwant %q", tt.name, err, tt.want)
		}
	}
}

func TestFindings(t *testing.T) {
	long := toolpost.New("a", "", add, nil).Rename(strings.Repeat("x", 65))
	dotted := toolpost.New("a", "", add, nil).Rename("a.b")
	untyped := toolpost.New("untyped", "", func(context.Context, struct {
		M marshaler `json:"m"`
	}) (int, error) {
		return 0, nil
	}, nil)
	got := newSet(t, toolpost.Tools{long, dotted, untyped}).Findings()
	want := []toolpost.Finding{
		{Tool: long.Name, Message: "the name has 65 characters; use 1 to 64"},
		{Tool: "a.b", Message: `the name has the character '.'; use only A-Z, a-z, 0-9, _ and -`},
		{Tool: "untyped", Message: "input schema /properties/m: "},
	}
	for i := range want {
		if i >= len(got) || got[i].Tool != want[i].Tool || !strings.HasPrefix(got[i].Message, want[i].Message) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// A marshaler does not say what its JSON looks like.
type marshaler struct{}

func (marshaler) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

func (*marshaler) UnmarshalJSON([]byte) error { return nil }

func TestNewPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"name":       func() { toolpost.New("a b", "", add, nil) },
		"input kind": func() { toolpost.New("a", "", func(context.Context, int) (int, error) { return 0, nil }, nil) },
		"input field": func() {
			toolpost.New("a", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil }, nil)
		},
		"output": func() {
			toolpost.New("a", "", func(context.Context, struct{}) (func(), error) { return nil, nil }, nil)
		},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(fmt.Sprint(p), "toolpost.New(") {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			f()
		}()
	}
}

func TestLive(t *testing.T) {
	tools := toolpost.Tools{toolpost.New("a", "", add, nil)}
	var broken error
	l, err := toolpost.NewLive(t.Context(), toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, broken }))
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	stop := l.Watch(func(toolpost.Event) {
		ts, _ := l.Tools(t.Context())
		seen = append(seen, len(ts))
	})
	tools = append(tools, toolpost.New("b", "", add, nil))
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken = errors.New("away")
	if err := l.Refresh(t.Context()); !errors.Is(err, broken) {
		t.Errorf("refresh: %v", err)
	}
	if l.Lookup("b") == nil {
		t.Error("the set was lost by a refresh that failed")
	}
	broken = nil
	stop()
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{2}, seen); diff != "" {
		t.Error(diff)
	}
}

// A layer gives the same tool for a tool that is listed again, and forgets tools
// that are gone.
func TestMapRemembers(t *testing.T) {
	a, b := toolpost.New("a", "", add, nil), toolpost.New("b", "", add, nil)
	tools := toolpost.Tools{a, b}
	calls := 0
	layered := toolpost.Map(toolpost.Prefix(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil }), "x_"),
		func(t *toolpost.Tool) *toolpost.Tool {
			calls++
			if t.Name == "x_b" {
				return nil
			}
			return t
		})
	list := func() []*toolpost.Tool {
		t.Helper()
		got, err := layered.Tools(t.Context())
		if err != nil || len(got) != 1 || got[0].Name != "x_a" {
			t.Fatalf("got %v, %v", got, err)
		}
		return got
	}
	first := list()
	if again := list(); again[0] != first[0] || calls != 2 {
		t.Errorf("another tool, after %d calls", calls)
	}
	tools = toolpost.Tools{a}
	list()
	tools = toolpost.Tools{toolpost.New("a", "", add, nil), b}
	if other := list(); other[0] == first[0] || calls != 4 {
		t.Errorf("the tool before, after %d calls", calls)
	}
}

// A Live of layers over another follows it, also while the other is refreshed at once
// by many.
func TestLiveFollows(t *testing.T) {
	var mu sync.Mutex
	tools := toolpost.Tools{toolpost.New("a", "", add, nil)}
	source := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(tools), nil
	})
	l, err := toolpost.NewLive(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	broken := false
	derived, err := toolpost.NewLive(t.Context(), toolpost.Prefix(toolpost.Layer(l, func(tools []*toolpost.Tool) ([]*toolpost.Tool, error) {
		if broken {
			return nil, errors.New("broken")
		}
		return tools, nil
	}, nil), "d_"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			mu.Lock()
			tools = append(tools, toolpost.New(fmt.Sprint("t", i), "", add, nil))
			mu.Unlock()
			if err := l.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, _ := derived.Tools(t.Context()); len(got) != 9 || derived.Lookup("d_t7") == nil {
		t.Errorf("%d tools", len(got))
	}
	broken = true
	tools = nil
	if err := l.Refresh(t.Context()); err != nil {
		t.Errorf("a layer that fails is the failure of the derived Live only: %v", err)
	}
	if derived.Lookup("d_a") == nil || derived.Refresh(t.Context()) == nil {
		t.Error("the last list is gone, or the reason is")
	}
	broken = false
	derived.Close()
	tools = toolpost.Tools{toolpost.New("b", "", add, nil)}
	if err := l.Refresh(t.Context()); err != nil || derived.Lookup("d_a") == nil {
		t.Errorf("it follows after Close: %v", err)
	}
}

func TestDefinitionJSON(t *testing.T) {
	yes := true
	src := `{"icons":[{"src":"a"}],"name":"old","description":"","inputSchema":{"z":9007199254740993,"a":1},"annotations":{"readOnlyHint":true,"x":1},"execution":{"n":1.0}}`
	for _, tt := range []struct {
		name string
		d    toolpost.Definition
		want string
	}{
		{"own", toolpost.Definition{Name: "a", Description: "<b> & \"c\"", Input: schema.MustParse(`{"type": "object"}`), Annotations: toolpost.Annotations{ReadOnly: &yes}},
			`{"name":"a","description":"<b> & \"c\"","inputSchema":{"type": "object"},"annotations":{"readOnlyHint":true}}`},
		{"foreign, unchanged", toolpost.Definition{Name: "old", Input: schema.MustParse(`{"z":9007199254740993,"a":1}`), Annotations: toolpost.Annotations{ReadOnly: &yes}, Raw: json.RawMessage(src)}, src},
		{"foreign, changed", toolpost.Definition{Name: "new", Description: "d", Input: schema.MustParse(`{}`), Raw: json.RawMessage(src)},
			`{"icons":[{"src":"a"}],"name":"new","description":"d","inputSchema":{},"annotations":{},"execution":{"n":1.0}}`},
	} {
		got, err := tt.d.MarshalJSON()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
	// A value and a pointer are the same to encoding/json, also inside other values.
	tool := toolpost.New("t", "d", func(context.Context, struct{}) (string, error) { return "", nil }, nil)
	value, err := json.Marshal(map[string]any{"tool": tool.Definition})
	if pointer, _ := json.Marshal(map[string]any{"tool": &tool.Definition}); err != nil || string(value) != string(pointer) || !strings.Contains(string(value), `"inputSchema":`) {
		t.Errorf("a value is %s, %v", value, err)
	}
	d := toolpost.Definition{Name: "a", Raw: json.RawMessage(`[1]`)}
	if _, err := d.MarshalJSON(); err == nil {
		t.Error("a source that is not an object: no error")
	}
}

func TestRunInsideACall(t *testing.T) {
	inner := toolpost.New("inner", "Tells which call it is in.", func(ctx context.Context, in struct{ N int }) (string, error) {
		return toolpost.CallFrom(ctx).Name, nil
	}, nil)
	outer := toolpost.New("outer", "Runs inner twice at once.", func(ctx context.Context, _ struct{}) (string, error) {
		names := make(chan string, 2)
		for range 2 {
			go func() {
				r, err := inner.Run(ctx, &toolpost.Call{Name: "inner", Arguments: json.RawMessage(`{"N":1}`)})
				if err != nil {
					names <- err.Error()
					return
				}
				text, _ := r.FirstText()
				names <- text
			}()
		}
		_, err := inner.Run(ctx, &toolpost.Call{Name: "inner", Arguments: json.RawMessage(`{"N":"x"}`)})
		var wrong *toolpost.ArgumentsError
		if !errors.As(err, &wrong) {
			return "", fmt.Errorf("wrong arguments gave %v", err)
		}
		return <-names + " " + <-names + " " + toolpost.CallFrom(ctx).Name, nil
	}, nil)
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{outer})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := set.CallText(t.Context(), "outer", nil); got != "inner inner outer" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestNameCountsCharacters: the message is about characters, not bytes.
func TestNameCountsCharacters(t *testing.T) {
	odd := toolpost.New("a", "", add, nil).Rename(strings.Repeat("名", 30))
	found := newSet(t, toolpost.Tools{odd}).Findings()
	if len(found) != 1 || !strings.Contains(found[0].Message, `the character '名'`) {
		t.Errorf("got %v", found)
	}
}

// TestPrepare checks that what is validated and approved is what runs.
func TestPrepare(t *testing.T) {
	type input struct {
		Path string `json:"path"`
	}
	approved := ""
	tool := toolpost.New("t", "Echoes.", func(_ context.Context, in input) (string, error) { return in.Path, nil }, &toolpost.Options{
		Policy: toolpost.Policy{
			Prepare: func(json.RawMessage) json.RawMessage { return json.RawMessage(`{"path":"prepared"}`) },
			Approve: func(_ context.Context, call *toolpost.Call) error { approved = string(call.Arguments); return nil },
		},
	})
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "t", Arguments: json.RawMessage(`{"other":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); text != "prepared" || approved != `{"path":"prepared"}` {
		t.Errorf("ran with %q, approved %s", text, approved)
	}
}
