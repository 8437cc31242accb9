package gateway_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
)

// countListed returns how many tools a client sees, and whether it sees find_tools.
func countListed(t *testing.T, v *gateway.Views, r observe.Client) (n int, searched bool) {
	t.Helper()
	live, err := v.View(r)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := live.Set().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if !tool.Policy.Unlisted {
			n++
		}
	}
	return n, live.Lookup("find_tools") != nil
}

// manyTools returns 90 tools, more than Cursor accepts, of some 60,000 tokens.
func manyTools() (tools toolpost.Tools) {
	for i := range 90 {
		t := tool(fmt.Sprintf("s__tool_%02d", i), "called")
		t.Description = strings.Repeat("many words ", 240)
		tools = append(tools, t)
	}
	return append(tools, tool("tool_output_cache", "called"))
}

// TestSearch checks for which clients tools are searched: for those that would lose
// tools, and above the budget, but not for those that defer tools themselves.
func TestSearch(t *testing.T) {
	live, err := toolpost.NewLive(t.Context(), manyTools())
	if err != nil {
		t.Fatal(err)
	}
	const all, found = 91, 4 // find_tools, call_tool_read, call_tool_write, tool_output_cache
	for _, test := range []struct {
		rest, client string
		want         int
	}{
		{``, "cursor-vscode", found},
		{``, "claude-code", all},
		{``, "claude-ai", found}, // the default budget
		{``, "unheard-of", all},
		{`, "search": true`, "cursor-vscode", found},
		{`, "search": false`, "cursor-vscode", all},
		{`, "search": false`, "claude-ai", all},
		{`, "search": {"budget": 100000}`, "claude-ai", all},
		{`, "search": {"budget": 100000}`, "cursor-vscode", found}, // it accepts 80 tools
		{`, "search": {"budget": 1000, "pin": ["s__tool_0*"]}`, "unheard-of", found + 10},
		{`, "search": {"budget": 1000}`, "claude-code", all},
		{`, "dialects": {"claude-code": {"defers": false}}`, "claude-code", found},
		{`, "search": {"budget": 1000}, "dialect": "none"`, "claude-ai", all},
		{`, "search": false, "profiles": {"p": {"clients": [{"name": "a"}], "budget": 1000, "pin": ["*_11"]}}`, "a", found + 1},
		{`, "profiles": {"p": {"clients": [{"name": "a"}], "budget": 1000, "include": ["*_11"]}}`, "a", 1},
		{`, "profiles": {"p": {"clients": [{"name": "a"}], "budget": 1000, "dialect": "none"}}`, "a", found},
	} {
		v, err := gateway.NewViews(live, parse(t, `{"mcpServers": {}`+test.rest+`}`), &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		n, searched := countListed(t, v, observe.Client{Name: test.client, Version: "99"})
		if n != test.want || searched != (n > 1 && n < all) {
			t.Errorf("%s%s: %d tools are listed (search %v), want %d", test.client, test.rest, n, searched, test.want)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSearchReload changes the budget while a client is connected. A call by the tool's
// own name works all the time, and the log reports each change once.
func TestSearchReload(t *testing.T) {
	live, err := toolpost.NewLive(t.Context(), manyTools())
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	v, err := gateway.NewViews(live, parse(t, `{"mcpServers": {}}`), &gateway.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	client := observe.Client{Name: "unheard-of"}
	for i, rest := range []string{``, `, "search": {"budget": 1000}`, `, "search": {"budget": 1001}`, `, "search": false`} {
		if err := v.Configure(parse(t, `{"mcpServers": {}`+rest+`}`)); err != nil {
			t.Fatal(err)
		}
		v.Refresh()
		if _, searched := countListed(t, v, client); searched != (i == 1 || i == 2) {
			t.Errorf("%s: searched %v", rest, searched)
		}
		seen, err := v.View(client)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := seen.CallText(t.Context(), "s__tool_42", nil); err != nil || text != "called s__tool_42" {
			t.Errorf("%s: %q %v", rest, text, err)
		}
	}
	if n := strings.Count(log.String(), "find_tools"); n != 1 || strings.Count(log.String(), "all tools are listed again") != 1 {
		t.Errorf("the log is %s", log.String())
	}
}

// TestSearchCall calls a tool whose name is too long for a client through the search:
// the tool below gets the arguments, and a string of JSON in their place is read.
func TestSearchCall(t *testing.T) {
	live, err := toolpost.NewLive(t.Context(), manyTools())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"cursor", "openai-strict", "gemini", "mcp"} {
		v, err := gateway.NewViews(live, parse(t, `{"mcpServers": {}, "search": {"budget": 1000}}`), &gateway.Options{Dialect: id, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		seen, err := v.View(observe.Client{})
		if err != nil {
			t.Fatal(err)
		}
		for _, arguments := range []any{map[string]any{}, `{}`} {
			text, err := seen.CallText(t.Context(), "call_tool_write", map[string]any{"name": "s__tool_42", "arguments": arguments})
			if err != nil || text != "called s__tool_42" {
				t.Errorf("%s, %#v: %q %v", id, arguments, text, err)
			}
		}
		if text, err := seen.CallText(t.Context(), "find_tools", map[string]any{"query": "tool 42"}); err != nil || !strings.Contains(text, `"s__tool_42"`) {
			t.Errorf("%s: %q %v", id, text, err)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}
