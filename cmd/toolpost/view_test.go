package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema/lower"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

var listedServers = []upstream.Status{
	{Name: "everything", State: upstream.Ready, Transport: upstream.Stdio, Version: "2025-11-25", Tools: 12, Took: 1234 * time.Millisecond},
	{Name: "a-server-with-a-long-name", State: upstream.Connecting},
	{Name: "web\x1b[2J", State: upstream.Failed, Transport: upstream.HTTP, Err: errors.New("connect to http://127.0.0.1:1/mcp: connection refused; is the server running?")},
	{Name: "off", State: gateway.Disabled},
}

func TestTable(t *testing.T) {
	got := strings.Join(table(listedServers, 64, false), "\n")
	want := `SERVER         TRANSPORT  PROTOCOL    STATE       TOOLS  START
everything     stdio      2025-11-25  ready          12  1.2 s
a-server-wit…  -          -           connecting      -      -
web·[2J        http       -           failed          -      -
    connect to http://127.0.0.1:1/mcp: connection refused; is
    the server running?
off            -          -           disabled        -      -
1 of 3 servers connected, 12 tools`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, width := range []int{1, 10, 40, 80, 200} {
		for _, line := range table(listedServers, width, true) {
			if n := terminal.Width(line); n > max(width, 24) {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
	}
	if lines := table(listedServers, 80, true); !strings.Contains(lines[1], "\x1b[32mready\x1b[0m") {
		t.Errorf("%q", lines[1])
	}
}

// TestWideNames: characters that take two columns do not move the columns after them.
func TestWideNames(t *testing.T) {
	all := []upstream.Status{{Name: "天気予報", State: upstream.Connecting}, {Name: "files", State: upstream.Connecting},
		{Name: "とても長い名前のサーバー", State: upstream.Connecting}}
	lines := table(all, 64, false)
	cells, _ := cli.Columns([][]string{{"天気予報", "ready"}, {"files", "ready"}}, nil, 0, 0)
	for word, lines := range map[string][]string{"connecting": lines[1:4], "ready": strings.Split(cells, "\n")[:2]} {
		at := -1
		for _, line := range lines {
			before, _, _ := strings.Cut(line, word)
			if n := terminal.Width(before); at >= 0 && n != at {
				t.Errorf("%q begins in the columns %d and %d of\n%s", word, at, n, strings.Join(lines, "\n"))
			} else {
				at = n
			}
		}
	}
}

// screen is a terminal that knows the few codes that a board writes.
type screen struct {
	lines []string
	row   int
}

func (s *screen) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		var up int
		if n := cursorUp(rest, &up); n > 0 {
			s.row -= up
			s.lines = s.lines[:s.row]
			rest = rest[n:]
			continue
		}
		line, after, _ := strings.Cut(rest, "\n")
		s.lines = append(s.lines[:s.row], line)
		s.row++
		rest = after
	}
	return len(p), nil
}

// cursorUp reads "move up and clear" and returns its length.
func cursorUp(s string, up *int) int {
	after, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 0
	}
	number, rest, ok := strings.Cut(after, "A\r\x1b[J")
	if !ok {
		return 0
	}
	for _, c := range number {
		*up = *up*10 + int(c-'0')
	}
	return len(s) - len(rest)
}

func TestBoard(t *testing.T) {
	var s screen
	b := &board{out: &s, size: func() (int, int) { return 200, 50 }}
	b.begin(&guide{access: &serve.Access{URL: "http://127.0.0.1:7717/mcp"}})
	at := func(state upstream.State, findings ...toolpost.Finding) *gateway.Snapshot {
		return &gateway.Snapshot{Status: []upstream.Status{{Name: "one", State: state, Tools: 3}}, Findings: findings}
	}
	has := func(want ...string) {
		t.Helper()
		text := strings.Join(s.lines, "\n")
		for _, w := range want {
			if strings.Count(text, w) != 1 {
				t.Errorf("want %q once in:\n%s", w, text)
			}
		}
	}
	b.update(at(upstream.Connecting))
	has("connecting", "SERVER", "claude mcp add --transport http toolpost http://127.0.0.1:7717/mcp")
	newLogger(b, slog.LevelWarn, "text").Warn("odd")
	has("connecting", "msg=odd", "SERVER")
	b.update(at(upstream.Ready))
	has("ready", "msg=odd", "SERVER", "gemini mcp add")
	b.settle()
	b.settle()
	has("ready", "SERVER", "Claude Desktop")
	drawn := len(s.lines)
	b.update(at(upstream.Ready))
	if len(s.lines) != drawn {
		t.Errorf("nothing changed, but it wrote %q", s.lines[drawn:])
	}
	b.update(at(upstream.Failed))
	b.update(at(upstream.Connecting))
	b.update(at(upstream.Failed))
	b.update(at(upstream.Connecting))
	b.update(at(upstream.Ready, toolpost.Finding{Tool: "x", Message: "the name is odd"}))
	b.update(&gateway.Snapshot{})
	want := []string{"one: failed", "one: ready, 3 tools, 0.0 s", `tool "x": the name is odd`, "one: removed"}
	if d := cmp.Diff(want, s.lines[drawn:]); d != "" {
		t.Error(d)
	}
}

var odd = newAdaptation(&dialect.Adapted{
	Dialect: &dialect.Dialect{ID: "claude-desktop"},
	Tools: []*dialect.Tool{{
		Tool:   &toolpost.Tool{Definition: toolpost.Definition{Name: "a"}},
		Losses: []lower.Loss{{Pointer: "/x", Keyword: "anyOf", Kind: lower.Encoded, Detail: "text"}, {Keyword: "if", Kind: lower.Dropped}, {Keyword: "not", Kind: lower.Dropped}},
	}},
	Withheld: []dialect.Withheld{{Name: "b\x1b[2J", Rule: "claude-desktop/schema", Why: "it is odd"}},
	Findings: []dialect.Finding{{Rule: "claude-desktop/tool-count", Message: "there are too many"}},
})

func TestAdaptation(t *testing.T) {
	var s screen
	b := &board{out: &s, size: func() (int, int) { return 200, 50 }}
	b.begin(&guide{access: &serve.Access{URL: "http://127.0.0.1:7717/mcp"}})
	b.update(&gateway.Snapshot{Status: listedServers})
	b.adapt(odd)
	want := []string{
		"claude-desktop: 1 tool, 1 withheld; parts of schemas that this dialect does not have: 2 dropped, 1 encoded",
		`claude-desktop: tool "b\x1b[2J" is withheld: it is odd (claude-desktop/schema)`,
		"claude-desktop: there are too many (claude-desktop/tool-count)",
	}
	if d := cmp.Diff(want, s.lines[:3]); d != "" {
		t.Error(d)
	}
	if !strings.Contains(strings.Join(s.lines, "\n"), "SERVER") {
		t.Errorf("the table is gone: %q", s.lines)
	}

	var out bytes.Buffer
	v := &logView{log: plainLogger(&out)}
	v.adapt(odd)
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

// TestSmallScreen checks that what does not fit is drawn only once.
func TestSmallScreen(t *testing.T) {
	var s screen
	b := &board{out: &s, size: func() (int, int) { return 80, 5 }}
	b.begin(&guide{access: &serve.Access{URL: "http://127.0.0.1:7717/mcp"}})
	b.update(&gateway.Snapshot{Status: listedServers})
	if len(s.lines) > 0 {
		t.Errorf("drawn: %q", s.lines)
	}
	b.settle()
	if len(s.lines) < 10 || s.row != len(s.lines) {
		t.Errorf("drawn: %q", s.lines)
	}
}

func TestLogView(t *testing.T) {
	var out bytes.Buffer
	v := &logView{log: plainLogger(&out)}
	v.begin(&guide{access: &serve.Access{URL: "http://127.0.0.1:1/mcp", Warning: "everyone can call"}})
	v.update(&gateway.Snapshot{Status: listedServers})
	v.update(&gateway.Snapshot{Status: listedServers, Findings: []toolpost.Finding{{Tool: "a b", Message: "odd"}}})
	v.update(&gateway.Snapshot{Status: listedServers[:1], Findings: []toolpost.Finding{{Tool: "a b", Message: "odd"}}})
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
