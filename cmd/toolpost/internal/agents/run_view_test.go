package agents

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/claude/message"
)

// TestRunView shows messages on one writer, as on a terminal.
func TestRunView(t *testing.T) {
	var screen bytes.Buffer
	clock := time.Unix(0, 0)
	v := newRunView(&screen, &screen, func() time.Time { clock = clock.Add(time.Second); return clock })
	v.safe = true
	showAll(t, v,
		`{"type":"stream_event","api_message_id":"1","event":{"type":"message_start","message":{}}}`,
		`{"type":"stream_event","api_message_id":"1","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
		`{"type":"stream_event","api_message_id":"1","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I \u001b[2J"}}}`,
		`{"type":"stream_event","api_message_id":"1","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ask."}}}`,
		`{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"I \u001b[2Jask."}]}}`,
		`{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","id":"a","name":"mcp__tools__read","input":{"path":"x\u001b[2J"}}]}}`,
		`{"type":"assistant","parent_tool_use_id":"p","message":{"id":"2","content":[{"type":"tool_use","id":"b","name":"Bash","input":{}}]}}`,
		`{"type":"stream_event","parent_tool_use_id":"p","api_message_id":"2","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"of a sub-agent"}}}`,
		`{"type":"user","parent_tool_use_id":"p","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"no\u001b[2J\nmore"}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"unknown","content":"ok"}]}}`,
		`{"type":"assistant","message":{"id":"3","content":[{"type":"text","text":"Not in parts."}]}}`,
		`{"type":"something_new"}`,
		`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":1}`,
		`{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":2}`,
	)
	log := slog.New(slog.NewTextHandler(v, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	log.Warn("a tool was dropped")
	v.end()
	want := `I ·[2Jask.
→ read {"path":"x\u001b[2J"}
  → Bash {}
  ✗ Bash 1s: no·[2J more
✓ read 3s
Not in parts.
level=WARN msg="a tool was dropped"
5s · 3 turns · 0 tokens in (0 cached), 0 out · $2.0000
`
	if d := cmp.Diff(want, screen.String()); d != "" {
		t.Error(d)
	}
}

// TestRunViewWithoutIDs: an answer without an id is shown, once.
func TestRunViewWithoutIDs(t *testing.T) {
	const whole = `{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}`
	for name, lines := range map[string][]string{
		"whole": {whole},
		"in parts": {
			`{"type":"stream_event","event":{"type":"message_start","message":{}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}}`,
			whole,
		},
	} {
		var out, log strings.Builder
		v := newRunView(&out, &log, func() time.Time { return time.Unix(0, 0) })
		showAll(t, v, append(lines, `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"modelUsage":{"m":{"inputTokens":1}}}`)...)
		v.end()
		if out.String() != "Hello.\n" || log.String() != "0s · 1 turn · 1 token in (0 cached), 0 out · $0.0000\n" {
			t.Errorf("%s: %q, %q", name, out.String(), log.String())
		}
	}
}

func showAll(t *testing.T, v *runView, lines ...string) {
	t.Helper()
	var parser message.Parser
	for _, line := range lines {
		m, err := parser.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := v.show(m); err != nil {
			t.Fatal(err)
		}
	}
}
