package claude

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
)

// A toolset whose large outputs are kept is served as any other: the CLI gets
// the view, in the session the rest, and in another nothing.
func TestBridgeLargeOutput(t *testing.T) {
	rows, err := toolpost.JSONResult(map[string]string{"log": strings.Repeat("a line of the log\n", 10_000) + "the verdict"})
	if err != nil {
		t.Fatal(err)
	}
	text, structured := rawTool("text", `{"type":"object"}`, nil), rawTool("structured", `{"type":"object"}`, nil)
	text.Handler = textHandler(strings.Repeat("a line of the log\n", 10_000) + "the verdict")
	structured.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return rows, nil }
	cache := output.New(store.Memory(nil), &output.Options{Logger: slog.New(slog.DiscardHandler)})
	s, err := NewServer(t.Context(), "logs", cache.Layer(toolpost.Tools{text, structured}), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, other := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}}), newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	c.open("logs")
	other.open("logs")
	for i, tool := range []string{"text", "structured"} {
		answer := c.ask("logs", callLine(2+2*i, tool, `{}`))
		var m struct {
			Result struct {
				Content    []toolpost.Part
				Structured json.RawMessage   `json:"structuredContent"`
				Meta       map[string]string `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(answer), &m); err != nil {
			t.Fatal(err)
		}
		ref := m.Result.Meta["toolpost/output_ref"]
		if len(answer) > 55_000 || len(answer) < 3000 || m.Result.Structured != nil || ref == "" || !strings.Contains(answer, `tool_output_cache {\"ref_id\":\"`+ref) {
			t.Errorf("%s: %d bytes: %.500s", tool, len(answer), answer)
		}
		find := callLine(3+2*i, "tool_output_cache_grep", `{"ref_id":"`+ref+`","pattern":"verdict"}`)
		if got := c.ask("logs", find); !strings.Contains(got, "the verdict") || strings.Contains(got, "isError") {
			t.Errorf("%s: found %s", tool, got)
		}
		if got := other.ask("logs", find); !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: another session found %s", tool, got)
		}
	}
}
