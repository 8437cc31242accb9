package toolsearch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/toolsearch"
)

type weatherInput struct {
	City string `json:"city" jsonschema:"description=Name of the city"`
}

// tool returns a tool that answers with its name, the city, and the name in the call.
func tool(name, description string, readOnly *bool) *toolpost.Tool {
	return toolpost.New(name, description, func(ctx context.Context, in weatherInput) (string, error) {
		return fmt.Sprintf("%s %s %s", name, in.City, toolpost.CallFrom(ctx).Name), nil
	}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: readOnly}})
}

func threeTools() toolpost.Tools {
	yes := true
	return toolpost.Tools{
		tool("weather__forecast", "Return the weather of the next days", &yes),
		tool("weather__report", "Report that a forecast was wrong", nil),
		tool("mail__send", "Send an e-mail", nil),
	}
}

func search(t *testing.T, ts toolpost.Toolset, opts *toolsearch.Options) *toolpost.Set {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), toolsearch.Layer(ts, opts))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// listed returns the names of the tools that clients see.
func listed(t *testing.T, set *toolpost.Set) (names []string) {
	t.Helper()
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if !tool.Policy.Unlisted {
			names = append(names, tool.Name)
		}
	}
	return names
}

func TestLayer(t *testing.T) {
	tools := threeTools()
	cost := 0
	for _, tool := range tools {
		cost += dialect.Tokens(tool)
	}
	pinned := func(name string) bool { return name == "mail__send" }
	all := "weather__forecast weather__report mail__send"
	for _, test := range []struct {
		opts *toolsearch.Options
		want string
	}{
		{nil, all},
		{&toolsearch.Options{Budget: cost, Tools: 3}, all},
		{&toolsearch.Options{Budget: cost - 1}, "find_tools call_tool_read call_tool_write"},
		{&toolsearch.Options{Tools: 2}, "find_tools call_tool_read call_tool_write"},
		{&toolsearch.Options{Tools: 2, Pinned: pinned}, "find_tools call_tool_read call_tool_write mail__send"},
	} {
		var report toolsearch.Report
		if test.opts != nil {
			test.opts.Report = func(r toolsearch.Report) { report = r }
		}
		names := listed(t, search(t, tools, test.opts))
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%+v lists %s, want %s", test.opts, got, test.want)
		}
		if test.opts != nil && (report.Active != (test.want != all) || report.Listed != len(names) || report.Tokens != cost || report.Costs <= 0) {
			t.Errorf("%+v reports %+v", test.opts, report)
		}
	}
}

// TestUnchanged lists twice: tools that are the same below are the same above, also
// after others were added.
func TestUnchanged(t *testing.T) {
	tools := threeTools()
	layer := toolsearch.Layer(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil }),
		&toolsearch.Options{Tools: 2})
	lookup := func(name string) *toolpost.Tool {
		set, err := toolpost.NewSet(t.Context(), layer)
		if err != nil {
			t.Fatal(err)
		}
		return set.Lookup(name)
	}
	before := lookup("weather__report")
	tools = append(slices.Clip(tools), tool("chat__post", "Post a message", nil))
	if lookup("weather__report") != before {
		t.Error("a tool that has not changed is another one")
	}
	if got := lookup("find_tools").Description; !strings.Contains(got, "4 tools: weather (2), mail (1), chat (1).") {
		t.Errorf("the description is %q", got)
	}
	tools = tools[:2]
	if lookup("find_tools") != nil || lookup("weather__report").Policy.Unlisted {
		t.Error("tools within the limit are searched")
	}
}

func TestFind(t *testing.T) {
	set := search(t, threeTools(), &toolsearch.Options{Tools: 1})
	text, err := set.CallText(t.Context(), "find_tools", map[string]any{"query": "weather forecast"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(text) {
		var hit struct {
			Name, Description string
			CallWith          string          `json:"call_with"`
			Input             json.RawMessage `json:"input_schema"`
		}
		if err := json.Unmarshal([]byte(line), &hit); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if !strings.Contains(string(hit.Input), "Name of the city") || hit.Description == "" {
			t.Errorf("%q lacks parts", line)
		}
		names = append(names, hit.Name+" "+hit.CallWith)
	}
	if got := strings.Join(names, ", "); got != "weather__forecast call_tool_read, weather__report call_tool_write" {
		t.Errorf("found %s", got)
	}
	for query, want := range map[string]string{"mail__send": `{"name":"mail__send","call_with":"call_tool_write"`, "!?": "weather (2), mail (1)"} {
		text, err := set.CallText(t.Context(), "find_tools", map[string]any{"query": query})
		var failed *toolpost.ToolError
		if errors.As(err, &failed) {
			text = failed.Text
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q is answered with %q, want %q", query, text, want)
		}
	}
}

// TestFindLarge finds tools whose definitions together are too large for one answer.
func TestFindLarge(t *testing.T) {
	var tools toolpost.Tools
	for i := range 10 {
		tools = append(tools, tool(fmt.Sprintf("s__tool%d", i), "Weather. "+strings.Repeat("x ", 5000), nil))
	}
	text, err := search(t, tools, &toolsearch.Options{Tools: 1}).CallText(t.Context(), "find_tools", map[string]any{"query": "weather", "limit": 10})
	if err != nil || len(text) > 25<<10 || !strings.HasSuffix(text, "8 more do not fit into this answer; ask for less at once.\n") {
		t.Errorf("%d bytes, %.200q, %v", len(text), text[max(0, len(text)-100):], err)
	}
}

func TestCall(t *testing.T) {
	tools := threeTools()
	tools[2].Policy.Approve = func(context.Context, *toolpost.Call) error { return errors.New("not today") }
	slow := tool("weather__slow", "Wait", nil)
	slow.Policy.Timeout = time.Nanosecond
	slow.Handler = func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	set := search(t, append(tools, slow), &toolsearch.Options{Tools: 1})
	for _, test := range []struct{ by, arguments, want string }{
		{"call_tool_read", `{"name":"weather__forecast","arguments":{"city":"Berlin"}}`, "weather__forecast Berlin weather__forecast"},
		{"call_tool_write", `{"name":"weather__forecast","arguments":{"city":"Berlin"}}`, "weather__forecast Berlin weather__forecast"},
		{"call_tool_write", `{"name":"weather__report","arguments":{"city":"Berlin"}}`, "weather__report Berlin weather__report"},
		{"weather__report", `{"city":"Berlin"}`, "weather__report Berlin weather__report"},
		{"call_tool_read", `{"name":"weather__report","arguments":{"city":"Berlin"}}`, "weather__report may change something, because it is not marked as read-only; call it with call_tool_write and the same arguments"},
		{"call_tool_read", `{"name":"weather__forecasts"}`, `there is no tool "weather__forecasts"; did you mean weather__forecast or weather__report? find_tools returns its arguments`},
		{"call_tool_read", `{"name":"send an e-mail to Anna"}`, `there is no tool "send an e-mail to Anna"; did you mean mail__send? find_tools returns its arguments`},
		{"call_tool_read", `{"name":"zzzzzz"}`, `there is no tool "zzzzzz"; find one with find_tools`},
		{"call_tool_read", `{"name":"weather__forecast"}`, "invalid arguments for weather__forecast:\n/city: expected string, got nothing: the property is required\nFix them and call it with call_tool_read again."},
		{"call_tool_write", `{"name":"mail__send","arguments":{"city":"Berlin"}}`, "mail__send was not approved: not today"},
		{"call_tool_write", `{"name":"weather__slow","arguments":{"city":"Berlin"}}`, "weather__slow did not finish within 1ns"},
	} {
		r, err := set.Call(t.Context(), &toolpost.Call{Name: test.by, Arguments: []byte(test.arguments)})
		if err != nil {
			t.Errorf("%s %s: %v", test.by, test.arguments, err)
			continue
		}
		if text, _ := r.FirstText(); text != test.want {
			t.Errorf("%s %s:\n got %s\nwant %s", test.by, test.arguments, text, test.want)
		}
	}
}

// TestTaken searches tools of which one already has a name of ours.
func TestTaken(t *testing.T) {
	set := search(t, append(threeTools(), tool("find_tools", "Find hammers", nil)), &toolsearch.Options{Tools: 1})
	if got := strings.Join(listed(t, set), " "); got != "find_tools_2 call_tool_read call_tool_write" {
		t.Errorf("listed %s", got)
	}
	if text, err := set.CallText(t.Context(), "find_tools", weatherInput{"x"}); err != nil || text != "find_tools x find_tools" {
		t.Errorf("%q %v", text, err)
	}
}

// TestOverview describes tools whose names have no server, and too many servers.
func TestOverview(t *testing.T) {
	var many toolpost.Tools
	for i := range 60 {
		many = append(many, tool(fmt.Sprintf("s%d__t", i), "", nil))
	}
	for want, tools := range map[string]toolpost.Tools{
		"There are 2 tools.":             {tool("a", "", nil), tool("b", "", nil)},
		"There are 2 tools: x (1) and 1": {tool("a", "", nil), tool("x__b", "", nil)},
		"s49 (1) and 10 others.":         many,
	} {
		if got := search(t, tools, &toolsearch.Options{Tools: 1}).Lookup("find_tools").Description; !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// TestHints checks the annotations, by which clients ask their users for permission.
func TestHints(t *testing.T) {
	set := search(t, threeTools(), &toolsearch.Options{Tools: 1})
	for name, want := range map[string]string{
		"find_tools":      `"readOnlyHint":true`,
		"call_tool_read":  `"readOnlyHint":true`,
		"call_tool_write": `"readOnlyHint":false,"destructiveHint":true`,
	} {
		raw, err := set.Lookup(name).MarshalJSON()
		if err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s %v", name, raw, err)
		}
	}
}

// A tool for MCP Apps only is neither found nor run for a model. The app calls it by
// its own name.
func TestToolsForAppsAreNotFound(t *testing.T) {
	tools := threeTools()
	tools[1].Meta = json.RawMessage(`{"ui":{"visibility":["app"]}}`)
	set := search(t, tools, &toolsearch.Options{Tools: 1})
	call := func(name, args string) string {
		t.Helper()
		r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(args)})
		if err != nil {
			return err.Error()
		}
		text, _ := r.FirstText()
		return text
	}
	for _, query := range []string{"report that a forecast was wrong", "weather__report"} {
		if got := call("find_tools", fmt.Sprintf(`{"query":%q,"limit":20}`, query)); strings.Contains(got, `"weather__report"`) || strings.Contains(got, "weather (2)") {
			t.Errorf("%s: got %s", query, got)
		}
	}
	if got := call("call_tool_write", `{"name":"weather__report","arguments":{"city":"Oslo"}}`); strings.Contains(got, "Oslo") || strings.Contains(got, "mean weather__report") {
		t.Errorf("got %s", got)
	}
	if got := call("weather__report", `{"city":"Oslo"}`); !strings.Contains(got, "weather__report Oslo") {
		t.Errorf("got %s", got)
	}
}

// Whatever observes a call learns which tool it is about, also if it does not run.
func TestObserversLearnTheTool(t *testing.T) {
	set := search(t, threeTools(), &toolsearch.Options{Tools: 1})
	for _, test := range []struct{ by, name, want string }{
		{"call_tool_read", "weather__forecast", "weather__forecast"},
		{"call_tool_write", "mail__send", "mail__send"},
		{"call_tool_read", "mail__send", "mail__send"}, // refused: it is not read-only
		{"call_tool_write", "made up", "call_tool_write"},
	} {
		ctx, r := observe.Begin(t.Context())
		r.Name = test.by
		_, _ = set.Call(ctx, &toolpost.Call{Name: test.by, Arguments: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{"city":"Oslo"}}`, test.name))})
		if got := r.Called(); got != test.want {
			t.Errorf("%s %s: got %q", test.by, test.name, got)
		}
	}
}
