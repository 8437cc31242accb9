package serve

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

var listedServers = []upstream.Status{
	{Name: "everything", State: upstream.Ready, Transport: upstream.Stdio, Version: "2025-11-25", Tools: 12, Took: 1234 * time.Millisecond},
	{Name: "a-server-with-a-long-name", State: upstream.Connecting},
	{Name: "web\x1b[2J", State: upstream.Failed, Transport: upstream.HTTP, Err: errors.New("connect to http://127.0.0.1:1/mcp: connection refused; is the server running?")},
	{Name: "off", State: upstream.Disabled},
}

var odd = &dialect.Adapted{
	Dialect: &dialect.Dialect{ID: "claude-desktop"},
	Tools: []*dialect.Tool{{
		Tool:   &toolpost.Tool{Definition: toolpost.Definition{Name: "a"}},
		Losses: []dialect.Loss{{Pointer: "/x", Keyword: "anyOf", Kind: "encoded", Detail: "text"}, {Keyword: "if", Kind: "dropped"}, {Keyword: "not", Kind: "dropped"}},
	}},
	Withheld: []dialect.Withheld{{Name: "b\x1b[2J", Rule: "claude-desktop/schema", Why: "it is odd"}},
	Findings: []dialect.Finding{{Rule: "claude-desktop/tool-count", Message: "there are too many"}},
}

func TestAdaptation(t *testing.T) {
	var out bytes.Buffer
	v := newLogView(plainLogger(&out))
	v.Adapted(odd)
	wantLog := `level=INFO msg="tools adapted" dialect=claude-desktop tools=1 withheld=1 dropped=2 encoded=1
level=WARN msg="tool withheld" dialect=claude-desktop tool="b\x1b[2J" rule=claude-desktop/schema why="it is odd"
level=WARN msg="there are too many" dialect=claude-desktop rule=claude-desktop/tool-count
`
	if d := cmp.Diff(wantLog, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// plainLogger writes log lines of every level without the time.
func plainLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func TestLogView(t *testing.T) {
	var out bytes.Buffer
	v := newLogView(plainLogger(&out))
	v.Serving(&Access{URL: "http://127.0.0.1:1/mcp", Warning: "everyone can call"})
	v.Updated(&gateway.Snapshot{Status: listedServers})
	v.Updated(&gateway.Snapshot{Status: listedServers, Findings: []toolpost.Finding{{Tool: "a b", Message: "odd"}}})
	v.Updated(&gateway.Snapshot{Status: listedServers[:1], Findings: []toolpost.Finding{{Tool: "a b", Message: "odd"}}})
	want := `level=INFO msg=serving url=http://127.0.0.1:1/mcp
level=WARN msg="everyone can call"
level=ERROR msg="server cannot be started" server="web\x1b[2J" err="connect to http://127.0.0.1:1/mcp: connection refused; is the server running?"
level=INFO msg="server disabled" server=off
level=WARN msg=odd tool="a b"
level=INFO msg="server removed" server=a-server-with-a-long-name
level=INFO msg="server removed" server=off
level=INFO msg="server removed" server="web\x1b[2J"
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
