package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/upstream"
)

// An asked is a caller that records what it is asked, and answers.
type asked struct {
	questions []string
	answer    func(question string) (json.RawMessage, error)
}

func (a *asked) Notify(context.Context, string, json.RawMessage) error { return nil }

func (a *asked) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return nil, toolpost.ErrNoCaller
	}
	var p struct{ Message string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	a.questions = append(a.questions, p.Message)
	return a.answer(p.Message)
}

func answers(text string) *asked {
	return &asked{answer: func(string) (json.RawMessage, error) { return json.RawMessage(text), nil }}
}

const yes = `{"action":"accept","content":{"approve":true}}`

// approvals is a configuration of the server s with these rules.
func approvals(rules ...config.ApprovalRule) *config.Config {
	cfg := servers("s", "x")
	cfg.Approvals = []config.ApprovalList{{Name: "approvals", Rules: rules}}
	return cfg
}

func rule(action string, tools ...string) config.ApprovalRule {
	return config.ApprovalRule{Action: action, Tools: tools}
}

func onArgument(r config.ApprovalRule, name, pattern string) config.ApprovalRule {
	r.Arguments = append(r.Arguments, config.ApprovalArgument{Name: name, Pattern: pattern})
	return r
}

// recording makes the server's tools record the arguments of their calls.
func (f *fake) recording(calls *[]string, names ...string) {
	f.readyWith(recorders(calls, names...)...)
}

func recorders(calls *[]string, names ...string) (tools []*toolpost.Tool) {
	for _, name := range names {
		tools = append(tools, answeredBy(name, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			*calls = append(*calls, name+string(call.Arguments))
			return toolpost.TextResult("done"), nil
		}))
	}
	return tools
}

// answering makes the server ready with one tool that h answers.
func (f *fake) answering(name string, h toolpost.Handler) { f.readyWith(answeredBy(name, h)) }

func answeredBy(name string, h toolpost.Handler) *toolpost.Tool {
	t := tool(name, "s")
	t.Handler = h
	return t
}

func (f *fake) readyWith(tools ...*toolpost.Tool) {
	f.set(func(f *fake) { f.status.State, f.status.Tools, f.tools = upstream.Ready, len(tools), tools })
	f.end()
}

// try calls a tool, and returns the text of the result and what was observed.
func try(t *testing.T, set *toolpost.Set, name, arguments string, caller toolpost.Caller) (string, *observe.Request) {
	t.Helper()
	ctx, seen := observe.Begin(t.Context())
	result, err := set.Call(ctx, &toolpost.Call{Name: name, Arguments: json.RawMessage(arguments), Caller: caller})
	if err != nil {
		return "error: " + err.Error(), seen
	}
	text, _ := result.FirstText()
	if result.IsError() && result.Outcome() != toolpost.Denied {
		text = "not a denial: " + text
	}
	return text, seen
}

func TestApprovalRules(t *testing.T) {
	g, f := open(t, approvals(
		onArgument(rule("allow", "write"), "path", "/srv/*"),
		rule("deny", "rm*"),
		onArgument(config.ApprovalRule{Action: "deny", Tools: []string{"write"}, Reason: "secrets"}, "path", "*.key"),
		rule("ask", "write"),
	))
	var calls []string
	f.last("s").recording(&calls, "read", "write", "rm", "rmdir")
	wantTools(t, g, "s__read", "s__write")
	if err := g.Views().Missing(observe.Client{}, "s__rm"); err == nil || !strings.HasPrefix(err.Error(), "it is denied by the rule approvals[1] of Toolpost's configuration. Do not try") {
		t.Errorf("a denied tool: %v", err)
	}
	set := g.Live().Set()
	for _, tt := range []struct {
		tool, args string
		caller     toolpost.Caller
		want       string // the beginning of the text
		decision   string
	}{
		{"s__read", `{}`, nil, "done", ""},
		{"s__write", `{"path":"/srv/a"}`, nil, "done", "allow"},
		{"s__write", `{"path":"/srv/../a.key"}`, nil, "This call was not executed: it is denied by the rule approvals[2] of Toolpost's configuration: secrets.", "deny"},
		{"s__write", `{"path":"/tmp/a"}`, answers(yes), "done", "approved"},
		{"s__write", `{"path":"/tmp/a"}`, answers(`{"action":"decline"}`), "This call was not executed: the user declined it.", "declined"},
		{"s__write", `{"path":"/tmp/a"}`, answers(`{"action":"accept","content":{"approve":false}}`), "This call was not executed: the user declined it.", "declined"},
		{"s__write", `{"path":"/tmp/a"}`, answers(`{"action":"accept"}`), "This call was not executed: the user declined it.", "declined"},
		{"s__write", `{"path":"/tmp/a"}`, nil, "This call was not executed: the rule approvals[3] of Toolpost's configuration wants the user to approve it, and the user cannot be asked: the caller cannot answer requests during a call. Tell the user", "cannot_ask"},
		{"s__write", `{"path":"/tmp/a"}`, &asked{answer: func(string) (json.RawMessage, error) {
			return nil, &toolpost.ProtocolError{Code: 1, Message: "no\u202e"}
		}}, "This call was not executed: the rule approvals[3] of Toolpost's configuration wants the user to approve it, and the user cannot be asked: the client answered with the error no\\u202e", "cannot_ask"},
		{"s__write", `{"path":"/tmp/a","path":"/srv/a"}`, answers(yes), "This call was not executed: it is denied by the rule approvals[0] of Toolpost's configuration: the arguments have the member", "deny"},
	} {
		got, seen := try(t, set, tt.tool, tt.args, tt.caller)
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s:\n%s\nwant\n%s", tt.tool, tt.args, got, tt.want)
		}
		if rule, decision := seen.Approval(); decision != tt.decision {
			t.Errorf("%s %s: observed %s of %s, want %s", tt.tool, tt.args, decision, rule, tt.decision)
		}
		if denied := got != "done"; denied != (seen.Noted() == observe.Denied) {
			t.Errorf("%s %s: noted %q", tt.tool, tt.args, seen.Noted())
		}
	}
	if want := `read{},write{"path":"/srv/a"},write{"path":"/tmp/a"}`; strings.Join(calls, ",") != want {
		t.Errorf("the server got %q, want %s", calls, want)
	}
}

// A yes counts once: each call is asked about, with its own arguments.
func TestApprovalCountsOnce(t *testing.T) {
	g, f := open(t, approvals(rule("ask")))
	var calls []string
	f.last("s").recording(&calls, "write")
	wantTools(t, g, "s__write")
	user := answers(yes)
	for _, path := range []string{"/a", "/a", "/b"} {
		if got, _ := try(t, g.Live().Set(), "s__write", `{"path":"`+path+`"}`, user); got != "done" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if len(user.questions) != 3 || !strings.Contains(user.questions[2], `"path": "/b"`) {
		t.Errorf("the user was asked %q", user.questions)
	}
}

// A request that a limit refuses asks nobody.
func TestLimitsApplyBeforeTheUserIsAsked(t *testing.T) {
	admitted := 0
	admit := func(to *observe.Target, next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			if admitted++; admitted > 2 {
				return nil, toolpost.Failed.Errorf("too many calls of %s", to.Name)
			}
			return next(ctx, call)
		}
	}
	g, f := openWith(t, approvals(rule("ask")), &gateway.Options{Limits: func(*config.Config) (admitted, around gateway.Around) {
		return admit, nil
	}})
	var calls []string
	f.last("s").recording(&calls, "write")
	wantTools(t, g, "s__write")
	user := answers(yes)
	var got []string
	for range 4 {
		text, _ := try(t, g.Live().Set(), "s__write", `{}`, user)
		got = append(got, text)
	}
	if len(user.questions) != 2 || len(calls) != 2 || got[3] != "not a denial: too many calls of write" {
		t.Errorf("the user was asked %d times, the server got %q: %q", len(user.questions), calls, got)
	}
}

// A rule that is added while a request waits for its turn decides about it.
func TestRuleOfARequestThatWaits(t *testing.T) {
	var change func()
	admit := func(_ *observe.Target, next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			change()
			return next(ctx, call)
		}
	}
	g, f := openWith(t, approvals(), &gateway.Options{Limits: func(*config.Config) (admitted, around gateway.Around) {
		return admit, nil
	}})
	change = func() {
		if err := g.Reload(t.Context(), approvals(rule("deny"))); err != nil {
			t.Error(err)
		}
	}
	var calls []string
	f.last("s").recording(&calls, "write")
	wantTools(t, g, "s__write")
	if text, _ := try(t, g.Live().Set(), "s__write", `{}`, nil); len(calls) > 0 || !strings.Contains(text, "denied by the rule") {
		t.Errorf("the server got %q, the caller %s", calls, text)
	}
}

// Rules of a profile that only the views have are not passed by.
func TestRulesOfAProfileOfViews(t *testing.T) {
	g, f := open(t, servers("s", "x"))
	var calls []string
	f.last("s").recording(&calls, "write")
	wantTools(t, g, "s__write")
	cfg := servers("s", "x")
	cfg.Profiles = []config.Profile{{Name: "p", Approvals: approvals(rule("ask")).Approvals}}
	if err := g.Views().Configure(cfg); err != nil {
		t.Fatal(err)
	}
	live, err := g.Views().View(observe.Client{View: "p/none"})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := try(t, live.Set(), "s__write", `{}`, answers(yes)); len(calls) > 0 || !strings.Contains(text, "was removed from the configuration") {
		t.Errorf("the server got %q, the caller %s", calls, text)
	}
}

// The server changes the tool, or the user the rules, while the question is open.
func TestApprovalOfChangedTool(t *testing.T) {
	cfg := approvals(rule("ask", "write"))
	g, f := open(t, cfg)
	var calls []string
	f.last("s").recording(&calls, "write", "other")
	wantTools(t, g, "s__write", "s__other")
	during := func(change func()) *asked {
		return &asked{answer: func(string) (json.RawMessage, error) {
			change()
			return json.RawMessage(yes), nil
		}}
	}
	before := g.Live().Set()
	for name, tt := range map[string]struct {
		change func()
		want   string
	}{
		"description": {func() { f.last("s").describes("write", "evil", "other", "") }, "the server changed the definition of the tool while the user was asked"},
		"gone":        {func() { f.last("s").describes("other", "") }, "the server changed the definition of the tool while the user was asked"},
		"denied": {func() {
			f.last("s").recording(&calls, "write", "other")
			if err := g.Reload(t.Context(), approvals(rule("deny", "write"))); err != nil {
				t.Error(err)
			}
		}, "it is denied by the rule approvals[0]"},
	} {
		f.last("s").recording(&calls, "write", "other")
		if err := g.Reload(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		got, _ := try(t, before, "s__write", `{}`, during(tt.change))
		if !strings.Contains(got, tt.want) || len(calls) > 0 {
			t.Errorf("%s: %s; the server got %q", name, got, calls)
		}
	}
}

// The question is open for a time. A client that leaves meanwhile is not waited for.
func TestApprovalTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, approvals(rule("ask")))
		var calls []string
		f.last("s").recording(&calls, "write")
		wantTools(t, g, "s__write")
		start := time.Now()
		got, seen := try(t, g.Live().Set(), "s__write", `{}`, silent{})
		if _, decision := seen.Approval(); !strings.Contains(got, "the user did not answer within 5m0s") || time.Since(start) != 5*time.Minute || len(calls) > 0 || decision != "unanswered" {
			t.Errorf("after %v: %s, %q, %s", time.Since(start), got, calls, decision)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Live().Call(ctx, &toolpost.Call{Name: "s__write", Caller: silent{}}); !errors.Is(err, context.DeadlineExceeded) || len(calls) > 0 {
			t.Errorf("a client that leaves: %v, %q", err, calls)
		}
	})
}

// silent never answers.
type silent struct{}

func (silent) Notify(context.Context, string, json.RawMessage) error { return nil }

func (silent) Request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Rules see the server's own names and the arguments that it gets, whatever the tools
// blocks of the server and of the profile make of them.
func TestApprovalBelowProfile(t *testing.T) {
	cfg := approvals(onArgument(rule("deny", "write"), "path", "/etc/*"))
	cfg.Servers[0].Tools = config.ToolChanges{Tools: []config.ToolChange{
		{Tool: "write", Name: "store", Arguments: []config.ArgumentChange{{Argument: "path", Name: "place"}}},
	}}
	hidden := config.ToolChanges{Tools: []config.ToolChange{{Tool: "s__store", Name: "put", Arguments: []config.ArgumentChange{{Argument: "place", Hide: true, Default: json.RawMessage(`"/etc/passwd"`)}}}}}
	cfg.Profiles = []config.Profile{
		{Name: "hidden", Tools: hidden},
		{Name: "strict", Approvals: []config.ApprovalList{{Name: "profiles.strict.approvals", Rules: []config.ApprovalRule{rule("deny", "read"), rule("ask", "write")}}}},
		{Name: "loose", Approvals: []config.ApprovalList{{Name: "profiles.loose.approvals", Rules: []config.ApprovalRule{rule("allow")}}}},
	}
	g, f := open(t, cfg)
	var calls []string
	tools := recorders(&calls, "read", "write")
	for _, one := range tools { // before the gateway lists them
		one.Input = schema.MustParse(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	}
	f.last("s").readyWith(tools...)
	wantTools(t, g, "s__read", "s__store")
	in := func(profile string) *toolpost.Set {
		live, err := g.Views().View(observe.Client{View: profile + "/none"})
		if err != nil {
			t.Fatal(err)
		}
		return live.Set()
	}
	for _, tt := range []struct{ profile, tool, args, want string }{
		{"hidden", "put", `{}`, "denied by the rule approvals[0]"},
		{"loose", "s__store", `{"place":"/etc/x"}`, "denied by the rule approvals[0]"},
		{"loose", "s__store", `{"place":"/tmp"}`, "done"},
		{"strict", "s__store", `{"place":"/tmp"}`, "the rule profiles.strict.approvals[1] of Toolpost's configuration wants the user to approve it"},
		{"strict", "s__store", `{"place":"/etc/x"}`, "denied by the rule approvals[0]"},
	} {
		if got, _ := try(t, in(tt.profile), tt.tool, tt.args, nil); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s %s: %s", tt.profile, tt.tool, tt.args, got)
		}
	}
	if in("strict").Lookup("s__read") != nil || in("loose").Lookup("s__read") == nil {
		t.Error("the profile that denies a tool lists it, or another does not")
	}
	strict := in("strict")
	if tools, _ := strict.Tools(t.Context()); len(tools) != 1 {
		t.Errorf("strict has %d tools", len(tools))
	}
	cfg2 := *cfg
	cfg2.Profiles = cfg.Profiles[:1]
	if err := g.Reload(t.Context(), &cfg2); err != nil {
		t.Fatal(err)
	}
	if got, _ := try(t, strict, "s__store", `{"place":"/tmp"}`, answers(yes)); !strings.Contains(got, `The profile "strict" of this call was removed`) {
		t.Errorf("a profile that is gone: %s", got)
	}
}

// A tool that the search finds is under the rules, and so is a method of an extension.
func TestApprovalThroughSearchAndExtensions(t *testing.T) {
	cfg := approvals(onArgument(rule("deny", "write"), "path", "/etc/*"), config.ApprovalRule{Action: "ask", Servers: []string{"s"}})
	cfg.Profiles = []config.Profile{{Name: "small", Budget: 1}}
	g, f := open(t, cfg)
	var calls []string
	f.last("s").recording(&calls, "read", "write")
	f.last("s").set(func(f *fake) {
		f.features = &toolpost.Features{Proxy: toolpost.Proxy{Capabilities: json.RawMessage(`{"extensions":{"example/x":{}}}`), Extend: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			calls = append(calls, call.Name)
			return toolpost.RawResult([]byte(`{}`)), nil
		}}}
	})
	arrived(t, g, func() bool { return g.Live().Lookup("s__write") != nil && g.Live().Features().Extend != nil })
	live, err := g.Views().View(observe.Client{View: "small"})
	if err != nil {
		t.Fatal(err)
	}
	user := answers(yes)
	if got, _ := try(t, live.Set(), "call_tool_write", `{"name":"s__write","arguments":{"path":"/etc/x"}}`, user); !strings.Contains(got, "denied by the rule approvals[0]") {
		t.Errorf("denied: %s", got)
	}
	if got, _ := try(t, live.Set(), "call_tool_write", `{"name":"s__write","arguments":{"path":"/tmp"}}`, user); got != "done" || len(user.questions) != 1 || !strings.Contains(user.questions[0], `Tool: "write"`) {
		t.Errorf("asked: %s, %q", got, user.questions)
	}
	_, err = g.Live().Features().Extend(t.Context(), &toolpost.Call{Name: "example/do", Params: json.RawMessage(`{}`)})
	if o, ok := errors.AsType[*toolpost.ToolError](err); !ok || o.Outcome != toolpost.Denied {
		t.Errorf("an extension: %v", err)
	}
	if want := `write{"path":"/tmp"}`; strings.Join(calls, ",") != want {
		t.Errorf("the server got %q", calls)
	}
}
