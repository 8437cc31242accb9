//go:build unix

package live

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/claudetest"
)

// TestClaudeRecordings records runs of the CLI and replays them. With
// TOOLPOST_UPDATE they become those of package claudetest.
func TestClaudeRecordings(t *testing.T) {
	bin := claudeCLI(t)
	folder := t.TempDir()
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		folder = "../../claude/claudetest/recordings"
	}
	for name, run := range map[string]func(*stage) string{
		"text": sdkText, "partial": sdkPartial, "tool": sdkTool, "retry": sdkRetry, "overloaded": sdkOverloaded, "unauthorized": sdkUnauthorized, "turns": sdkMaxTurns,
	} {
		t.Run(name, func(t *testing.T) {
			file, home := filepath.Join(folder, name+".jsonl"), ""
			t.Run("record", func(t *testing.T) {
				s := newStage(t, bin)
				home = filepath.Dir(s.opts.Dir)
				s.opts.Start = claudetest.Record(t, file)
				run(s)
			})
			publish(t, file, home)
			s := newStage(t, "/no/such/cli")
			if name == "tool" || name == "turns" {
				s.serve(false, add())
			}
			s.opts.Start = claudetest.Replay(t, os.DirFS(folder), name+".jsonl")
			r, err := s.run("anything")
			if failed := errors.As(err, new(*sdk.ResultError)); r == nil || r.IsError != failed || r.SessionID == "" || err != nil && !failed {
				t.Errorf("the replay ends with %+v, %v", r, err)
			}
		})
	}
}

// publish checks that a recording has no secrets. It removes the prompt, names of
// directories, descriptions, and all but the first of what the CLI has many of.
func publish(t *testing.T, file, home string) {
	t.Helper()
	recording, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for entry := range strings.Lines(string(recording)) {
		var e struct {
			Dir  string `json:"dir"`
			Line any    `json:"line"`
		}
		if err := json.Unmarshal([]byte(entry), &e); err != nil {
			t.Fatal(err)
		}
		l := e.Line
		if l, ok := l.(object); ok { // else it is a note
			if l["type"] == "user" && e.Dir == "stdin" {
				delete(l, "message")
			}
			shorten(l)
		}
		text, err := json.Marshal(object{"dir": e.Dir, "line": l})
		if err != nil {
			t.Fatal(err)
		}
		line := strings.ReplaceAll(string(text), home, "/home")
		for _, secret := range []string{"sk-ant-dummy", "You are a test", os.TempDir()} {
			if strings.Contains(line, secret) {
				t.Errorf("the recording has %q: %s", secret, line)
			}
		}
		lines.WriteString(line + "\n")
	}
	write(t, file, lines.String())
}

func shorten(o object) {
	delete(o, "memory_paths")
	delete(o, "messaging_socket_path")
	for name, v := range o {
		switch v := v.(type) {
		case object:
			shorten(v)
		case string:
			if name == "description" {
				o[name] = "…"
			}
		case []any:
			if strings.Contains(" commands slash_commands terminal_slash_commands agents models skills plugins ", " "+name+" ") && len(v) > 1 {
				v = v[:1]
			}
			for _, e := range v {
				if e, ok := e.(object); ok {
					shorten(e)
				}
			}
			o[name] = v
		}
	}
}
