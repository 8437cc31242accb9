package top_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/top"
	"github.com/toolpost/toolpost/internal/access/status"
)

// noon is when everything happened.
var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// testStatus is a gateway with three servers, one of them hostile.
func testStatus() *status.Status {
	s := &status.Status{
		Version: "1.0.0", Started: noon.Add(-time.Hour), Time: noon, Seq: 6, Tools: 42, Running: 1,
		Servers: []status.Server{
			{Name: "files", State: "ready", Transport: "stdio", Version: "2025-11-25", Tools: 14, Counts: status.Counts{Calls: 120, Errors: 2, Bytes: 500_000, Tokens: 125_000}, P50: 3.2, P95: 61, Running: 1},
			{Name: "search", State: "connecting", Transport: "http"},
			{Name: "evil\x1b[2J\u202e", State: "failed", Error: "exit status 3: \x1b]0;T\x07 boom"},
		},
		Clients: []status.Client{
			{Name: "claude-code 2.1.329", Sessions: 2, Counts: status.Counts{Calls: 130, Errors: 2, Tokens: 126_000}, Last: noon.Add(-3 * time.Second)},
			{Name: "cursor 1.0", Sessions: 1, Counts: status.Counts{Calls: 3}, Last: noon.Add(-40 * time.Minute)},
		},
		Logs: []status.Log{
			{Seq: 1, Time: noon.Add(-time.Hour), Level: "info", Text: "server is ready server=files tools=14"},
			{Seq: 2, Time: noon.Add(-time.Minute), Level: "error", Text: "server cannot be started server=evil"},
		},
	}
	s.Calls = []status.Call{
		{Seq: 3, Time: noon.Add(-3 * time.Minute), Client: "cursor 1.0", Server: "files", Method: "tools/call", Name: "files__read_file", MS: 2.5, BytesOut: 2048, Tokens: 512, Outcome: "ok"},
		{Seq: 4, Time: noon.Add(-2 * time.Minute), Client: "claude-code 2.1.329", Server: "files", Method: "tools/call", Name: "files__read_file", MS: 57, BytesOut: 130, Tokens: 33, Outcome: "tool_error"},
		{Seq: 5, Time: noon.Add(-time.Minute), Client: "claude-code 2.1.329", Method: "tools/call", Name: "nope", MS: 0.3, Outcome: "protocol_error", Error: "there is no tool \"nope\""},
		{Seq: 6, Time: noon.Add(-time.Second), Client: "claude-code 2.1.329", Server: "files", Method: "resources/read", Name: "file:///a", MS: 12_345, BytesOut: 40_000_000, Tokens: 10_000_000, Outcome: "ok"},
	}
	return s
}

// press sends keys, each a character or a name in angle brackets.
func press(m *top.Model, keys ...string) (quit bool) {
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
		"down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	for _, key := range keys {
		message, ok := named[key]
		if !ok {
			message = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		if _, cmd := m.Update(message); cmd != nil {
			_, quit = cmd().(tea.QuitMsg)
		}
	}
	return quit
}

func started(width, height int) *top.Model {
	m := top.New("http://127.0.0.1:7717", false)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(top.Answer{Status: testStatus()})
	return m
}

func TestMain(m *testing.M) {
	time.Local = time.UTC // clocks are drawn in local time
	os.Exit(m.Run())
}

// TestScreens compares what is drawn after some keys with testdata.
func TestScreens(t *testing.T) {
	tests := []struct {
		name          string
		width, height int
		keys          []string
	}{
		{"servers", 80, 24, nil},
		{"clients", 80, 24, []string{"tab"}},
		{"calls", 80, 24, []string{"3"}},
		{"calls-wide", 140, 24, []string{"3"}},
		{"errors", 80, 24, []string{"4", "down"}},
		{"log", 80, 24, []string{"shift+tab"}},
		{"filter", 80, 24, []string{"3", "/", "r", "e", "a", "d", "x", "backspace", "enter"}},
		{"filter-empty", 80, 24, []string{"/", "z", "z"}},
		{"server-details", 80, 24, []string{"enter"}},
		{"call-details", 80, 24, []string{"3", "down", "enter"}},
		{"evil-details", 80, 24, []string{"end", "enter"}},
		{"small", 30, 8, []string{"3", "end"}},
		{"paused", 80, 24, []string{"p"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := started(tt.width, tt.height)
			press(m, tt.keys...)
			got := m.Text()
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) != tt.height {
				t.Errorf("%d lines on a screen of %d", len(lines), tt.height)
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > tt.width || strings.ContainsAny(line, "\x1b\x07\u202e") {
					t.Errorf("a line does not fit, or is not harmless: %+q", line)
				}
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if os.Getenv("TOOLPOST_UPDATE") != "" {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"enter", "q"}, {"/", "q", "ctrl+c"}} {
		if !press(started(80, 24), keys...) {
			t.Errorf("%v does not quit", keys)
		}
	}
	if press(started(80, 24), "/", "q") {
		t.Error("a q in the filter quits")
	}
}

// A later answer adds calls, and the selected call stays selected.
func TestNewCalls(t *testing.T) {
	m := started(80, 24)
	press(m, "3", "down")
	selected := func() string {
		for line := range strings.Lines(m.Text()) {
			if strings.HasPrefix(line, "> ") {
				return line
			}
		}
		return ""
	}
	before := selected()
	next := testStatus()
	next.Seq, next.Calls, next.Logs = 7, []status.Call{{Seq: 7, Time: noon, Client: "new", Method: "tools/call", Name: "newest", Outcome: "ok"}}, nil
	m.Update(top.Answer{Status: next})
	if before == "" || selected() != before || !strings.Contains(m.Text(), "newest") || !strings.Contains(m.Text(), "nope") {
		t.Errorf("selected %q, then %q on\n%s", before, selected(), m.Text())
	}
	press(m, "up", "up")
	if !strings.Contains(selected(), "newest") {
		t.Errorf("the first row is %q", selected())
	}
}

// While the view is paused it does not change, and afterwards it misses nothing.
func TestPause(t *testing.T) {
	m := started(80, 24)
	press(m, "3", "p")
	next := testStatus()
	next.Seq, next.Calls = 7, []status.Call{{Seq: 7, Time: noon, Client: "new", Method: "tools/call", Name: "newest", Outcome: "ok"}}
	before := m.Text()
	m.Update(top.Answer{Status: next})
	if m.Text() != before {
		t.Errorf("it changes while it is paused:\n%s", m.Text())
	}
	press(m, "p")
	m.Update(top.Answer{Status: next})
	if !strings.Contains(m.Text(), "newest") {
		t.Errorf("the call is missing:\n%s", m.Text())
	}
}

// The view shows why there is no answer, keeps what it knows, and starts over with
// a gateway that has started again.
func TestLostGateway(t *testing.T) {
	m := top.New("http://127.0.0.1:7717", true)
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
	m.Update(top.Answer{Err: errors.New("refused\x1b[2J")})
	if text := m.Text(); !strings.Contains(text, "no answer: refused") || !strings.Contains(text, "is toolpost serve running?") || strings.Contains(text, "\x1b") {
		t.Errorf("before the first answer:\n%s", text)
	}
	m.Update(top.Answer{Status: testStatus()})
	m.Update(top.Answer{Err: errors.New("refused")})
	press(m, "3")
	if text := m.Text(); !strings.Contains(text, "no answer") || !strings.Contains(text, "files__read_file") {
		t.Errorf("after the gateway ended:\n%s", text)
	}
	again := &status.Status{Started: noon, Time: noon, Seq: 1, Calls: []status.Call{{Seq: 1, Time: noon, Client: "c", Name: "first", Outcome: "ok"}}}
	m.Update(top.Answer{Status: again})
	if text := m.Text(); strings.Contains(text, "no answer") || strings.Contains(text, "files__read_file") || !strings.Contains(text, "first") {
		t.Errorf("after it started again:\n%s", text)
	}
}

func TestColor(t *testing.T) {
	plain, colored := started(80, 24), top.New("x", true)
	colored.Update(top.Answer{Status: testStatus()})
	if strings.Contains(plain.View().Content, "\x1b") {
		t.Error("there are colours although they are off")
	}
	if !strings.Contains(colored.View().Content, "\x1b[31m") || !colored.View().AltScreen {
		t.Error("there are no colours")
	}
}

func TestOnce(t *testing.T) {
	text := top.Once("x", 100, 24, testStatus())
	for _, want := range []string{"SERVER", "CLIENT", "files__read_file", "protocol_error", "evil"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("it is not harmless: %q", text)
	}
}
