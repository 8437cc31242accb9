package main

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/serve"
)

// TestActivity has a board show clients, calls and reloads, a dim line each,
// and problems as log lines.
func TestActivity(t *testing.T) {
	var s screen
	b := &board{out: &s, size: func() (int, int) { return 90, 50 }, color: true}
	b.begin(&guide{access: &serve.Access{URL: "http://127.0.0.1:7717/mcp"}})
	b.update(&gateway.Snapshot{Status: listedServers})
	b.settle()
	drawn := len(s.lines)
	log := slog.New(&activity{newLogger(b, slog.LevelError, "text").Handler(), b}).With("a", 1)
	clients := roster{seen: map[string]bool{}, log: b.note}
	for range 2 {
		clients.add(mcpserver.Client{Name: "claude-code", Version: "2.1\x1b[2J"})
	}
	log.Info("call", "tool", "files__read", "client", "claude-code", "ms", 12.345, "bytes", 34)
	log.Info("call", "tool", "files__read", "client", "", "ms", 0.2, "bytes", 5, "failed", true)
	log.Info("call", "tool", "x\u202e", "client", "y", "ms", 0.2, "bytes", 5, "err", strings.Repeat("long ", 30))
	log.Debug("call", "tool", "quiet")
	log.Info("server is ready", "server", "one") // the board shows that
	log.Warn("server is away")
	log.Info("configuration applied", "file", "toolpost.json")
	log.Error("it broke")
	log.Info("stopped")
	var got []string
	at := regexp.MustCompile(`^\x1b\[2m\d\d:\d\d:\d\d  `)
	for _, line := range s.lines[drawn:] {
		got = append(got, at.ReplaceAllString(line, "DIM "))
	}
	want := []string{
		"DIM claude-code 2.1·[2J connected\x1b[0m",
		"DIM claude-code called files__read: 12 ms, 34 bytes\x1b[0m",
		"DIM - called files__read: 0 ms, 5 bytes, failed\x1b[0m",
		"DIM y called x·: 0 ms, 5 bytes, long long long long long long long long long long l…\x1b[0m",
		"DIM configuration applied\x1b[0m",
		got[min(5, len(got)-1)],
		"DIM stopped\x1b[0m",
	}
	if d := cmp.Diff(want, got); d != "" || !strings.Contains(got[5], `level=ERROR msg="it broke" a=1`) {
		t.Errorf("(-want +got):\n%s", d)
	}
	for i := range 2 * maxClients {
		clients.add(mcpserver.Client{Name: fmt.Sprint(i)})
	}
	if n := len(clients.seen); n != maxClients {
		t.Errorf("it remembers %d clients", n)
	}
}

// TestGuideFitsSmallTerminals has every line of the guide fit 80 columns, with
// and without a token, and checks that folded commands and entries are whole.
func TestGuideFitsSmallTerminals(t *testing.T) {
	for _, a := range []*serve.Access{{}, {Token: strings.Repeat("t", 43), Source: `"toolpost token"`}} {
		a.URL = "http://127.0.0.1:7717/mcp"
		g := &guide{access: a, folder: "serving read over /home/me", chosen: false}
		text := strings.Join(g.lines(), "\n")
		for _, line := range g.lines() {
			if len([]rune(line)) > guideWidth && !strings.Contains(line, cli.Program()) {
				t.Errorf("%d columns: %s", len([]rune(line)), line)
			}
		}
		for _, client := range []string{"Claude Code", "Gemini CLI", "Codex", "Cursor", "Zed", "VS Code", "opencode", "Claude Desktop"} {
			if !strings.Contains(text, "  "+client) {
				t.Errorf("no %s in:\n%s", client, text)
			}
		}
		if a.Token != "" && strings.Count(text, "Bearer "+a.Token) != 7 {
			t.Errorf("the token is not in every entry:\n%s", text)
		}
	}
	entry := `{"a":"x, {y\"","b":{"c":["` + strings.Repeat("z", 60) + `","d"]}}`
	lines := foldJSON(entry)
	if got := strings.ReplaceAll(strings.Join(lines, ""), "    ", ""); got != entry || len(lines) < 2 {
		t.Errorf("folded: %q", lines)
	}
}
