package board

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dev/screen"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

const address = "http://127.0.0.1:7717/mcp"

// A stage is a board on a screen.
type stage struct {
	*Board
	screen *screen.Screen
}

func newStage(t *testing.T, width, height int, color bool) *stage {
	s := screen.New(width, height)
	b := New(s, s.Size, color)
	t.Cleanup(b.Close)
	return &stage{b, s}
}

// show reports servers to the board.
func (s *stage) show(servers ...upstream.Status) {
	s.Updated(&gateway.Snapshot{Status: servers})
}

func ready(name string, tools int) upstream.Status {
	return upstream.Status{Name: name, State: upstream.Ready, Transport: upstream.Stdio, Version: "2025-11-25", Tools: tools, Took: 1234 * time.Millisecond}
}

func starting(name, install string) upstream.Status {
	st := upstream.Status{Name: name, State: upstream.Connecting, Package: install}
	if install != "" {
		st.State = upstream.Installing
	}
	return st
}

// failed is a server that is tried again at a time.
func failed(name, why string, retry time.Time) upstream.Status {
	return upstream.Status{Name: name, State: upstream.Failed, Transport: upstream.HTTP, Retry: retry, Err: fmt.Errorf("server %q: %s", name, why)}
}

// TestPictures draws what people see at a terminal, in two sizes. With TOOLPOST_UPDATE=1
// it writes the pictures anew.
func TestPictures(t *testing.T) {
	some := func(now time.Time) []upstream.Status {
		return []upstream.Status{
			ready("everything", 12), starting("memory", "@modelcontextprotocol/server-memory"), starting("slow", ""),
			failed("web", "connect to http://127.0.0.1:1/mcp: connection refused; is the server running? "+strings.Repeat("A long reason. ", 12), now.Add(40*time.Second)),
			{Name: "off", State: upstream.Disabled},
		}
	}
	pictures := map[string]func(s *stage){
		"starting": func(s *stage) {
			s.Serving(&serve.Access{URL: address})
			s.show(some(time.Now())...)
			time.Sleep(12 * time.Second)
		},
		"ready": func(s *stage) {
			s.Serving(&serve.Access{URL: address})
			s.show(starting("everything", ""), starting("files", ""))
			s.show(ready("everything", 12), ready("files", 4))
			s.Settled()
			s.Note(time.Now(), "claude-code 2.1 connected")
			s.show(ready("everything", 12), failed("files", "it ended: exit status 3", time.Now().Add(time.Second)))
			time.Sleep(3 * time.Second)
			s.show(ready("everything", 12), failed("files", "it ended: exit status 4", time.Now().Add(2*time.Minute)))
		},
		"output": func(s *stage) {
			s.Serving(&serve.Access{URL: address})
			odd := starting("odd", "")
			odd.Output, odd.Err = "Welcome!\x1b[2J Listening on port 3000", errors.New("an attempt before")
			s.show(ready("everything", 12), odd, starting("slow", ""))
			time.Sleep(3 * time.Second)
		},
		"many": func(s *stage) {
			s.Serving(&serve.Access{URL: address})
			var all []upstream.Status
			for i := range 50 {
				all = append(all, ready(fmt.Sprintf("server-%02d", i), i))
			}
			all[7], all[30], all[49].State = some(time.Now())[3], starting("late", ""), upstream.Disabled
			s.show(all...)
		},
		"folder": func(s *stage) {
			s.Describe(Intro{Folder: "serving read, list, glob and grep over /home/me/a-project (read only)"})
			s.Serving(&serve.Access{URL: address})
			s.Settled()
		},
		"bash": func(s *stage) {
			s.Describe(Intro{Folder: "serving bash, bash_output and bash_kill over /home/me/a-project", Chosen: true})
			s.Serving(&serve.Access{URL: "http://127.0.0.1:9000/mcp", Token: "secret", Source: `"toolpost token"`})
			s.Settled()
		},
		"bridge": func(s *stage) {
			s.Describe(Intro{Bridge: true})
			s.Serving(&serve.Access{URL: address, Warning: "everyone who reaches the port can call the tools of this server, with your credentials"})
			s.show(ready("server", 3))
			s.Settled()
		},
		"login": func(s *stage) {
			s.Serving(&serve.Access{URL: "https://tools.example.com/mcp", Token: "secret", Issuer: "https://login.example.com/realms/team"})
			s.show(starting("one", ""))
		},
		"readme": func(s *stage) {
			s.Serving(&serve.Access{URL: address})
			s.show(ready("files", 14), ready("github", 41), starting("memory", "@modelcontextprotocol/server-memory"), failed("search", "no token: the variable TOKEN is not set", time.Now().Add(30*time.Second)))
			time.Sleep(4 * time.Second)
		},
		"no-servers": func(s *stage) {
			s.Describe(Intro{Empty: true})
			s.Serving(&serve.Access{URL: address})
			s.show()
			s.Settled()
		},
	}
	for name, draw := range pictures {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, size[0], size[1], true)
					draw(s)
					synctest.Wait()
					compare(t, filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1])), s.screen.String())
					if all := s.screen.All(); all != s.screen.String() {
						t.Errorf("a part was scrolled away:\n%s", all)
					}
					if strings.Contains(s.screen.All(), "secret") {
						t.Error("it shows the token")
					}
				})
			})
		}
	}
}

// clock is the time of day in a picture.
var clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`)

func compare(t *testing.T, path, got string) {
	t.Helper()
	got = clock.ReplaceAllString(got, "12:00:00")
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if d := cmp.Diff(string(want), got); d != "" || err != nil {
		t.Errorf("%s (-want +got): %v\n%s", path, err, d)
	}
}

// TestSmallTerminals draws in every size, and in another one from one moment to the next:
// the table is never on the screen twice, and never wider than it.
func TestSmallTerminals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, size := range [][2]int{{1, 1}, {10, 2}, {20, 5}, {40, 10}, {80, 6}, {200, 12}} {
			s := newStage(t, size[0], size[1], false)
			s.Serving(&serve.Access{URL: address})
			all := []upstream.Status{ready("とても長い名前のサーバー", 3), ready(strings.Repeat("long", 20), 3), starting("x", ""), failed("web\x1b[2J", "no", time.Time{})}
			s.show(all...)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			s.screen.Resize(size[0]/2+1, size[1]/2+1)
			time.Sleep(3 * time.Second)
			s.screen.Resize(70, 30)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			text := s.screen.String()
			if n := strings.Count(text, "2 of 4 servers ready"); n > 1 {
				t.Errorf("%v: the table is there %d times:\n%s", size, n, text)
			}
			for _, line := range s.servers.table(20, size[0], time.Now(), s.paint) {
				if n := terminal.Width(line); n > size[0] {
					t.Errorf("%v: %d columns: %q", size, n, line)
				}
			}
		}
	})
}

// TestWideNames: characters that take two columns do not move the columns after them.
func TestWideNames(t *testing.T) {
	s := &servers{}
	s.update(&gateway.Snapshot{Status: []upstream.Status{starting("天気予報", ""), starting("files", ""), starting("とても長い名前のサーバー", "")}}, time.Now())
	at := -1
	for _, line := range s.table(20, 80, time.Now(), func(_, text string) string { return text })[1:4] {
		before, _, _ := strings.Cut(line, "connecting")
		if n := terminal.Width(before); at >= 0 && n != at {
			t.Errorf("the states begin in the columns %d and %d", at, n)
		} else {
			at = n
		}
	}
}

// TestActivity shows clients, calls and reloads, a dim line each, problems as log lines,
// and the findings that are new.
func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 90, 50, true)
		s.Serving(&serve.Access{URL: address})
		s.show(ready("one", 1))
		s.Settled()
		begin := strings.Count(s.screen.All(), "\n")
		log := s.Logger(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelError, ReplaceAttr: withoutTime})).With("a", 1)
		clients := Clients{Note: s.Note}
		for range 2 {
			clients.Add(observe.Client{Name: "claude-code", Version: "2.1\x1b[2J"})
		}
		log.Info("call", "tool", "files__read", "client", "claude-code", "ms", 12.345, "bytes", 34)
		log.Info("call", "tool", "files__read", "client", "", "ms", 0.2, "bytes", 5, "failed", true)
		log.Info("call", "tool", "x\u202e", "client", "y", "ms", 0.2, "bytes", 5, "err", strings.Repeat("long ", 30))
		log.Debug("call", "tool", "quiet")
		log.Info("server is ready", "server", "one") // the board shows that
		log.Warn("server is away")
		log.Info("configuration applied", "file", "toolpost.json")
		log.Error("it broke")
		for range 2 {
			s.Updated(&gateway.Snapshot{Status: []upstream.Status{ready("one", 1)}, Findings: findings(6)})
		}
		s.Adapted(&dialect.Adapted{
			Dialect: &dialect.Dialect{ID: "claude-desktop"},
			Tools: []*dialect.Tool{
				{Losses: []dialect.Loss{{Kind: "encoded"}, {Kind: "dropped"}}}, {Losses: []dialect.Loss{{Kind: "noop"}}},
			},
			Withheld: []dialect.Withheld{{Name: "b\x1b[2J", Rule: "claude-desktop/schema", Why: "it is odd"}},
			Findings: []dialect.Finding{{Rule: "claude-desktop/tool-count", Message: "there are too many"}},
		})
		s.show()
		log.Info("stopped")
		var got []string
		for _, line := range strings.Split(strings.TrimSpace(s.screen.All()), "\n")[begin-3:] {
			got = append(got, clock.ReplaceAllString(line, "TIME"))
		}
		want := []string{
			"TIME  claude-code 2.1·[2J connected",
			"TIME  claude-code called files__read: 12 ms, 34 bytes",
			"TIME  - called files__read: 0 ms, 5 bytes, failed",
			"TIME  y called x·: 0 ms, 5 bytes, long long long long long long long long long long l…",
			"TIME  configuration applied",
			`level=ERROR msg="it broke" a=1`,
			`tool "t0": it is odd`, `tool "t1": it is odd`, `tool "t2": it is odd`,
			"3 more findings; toolpost doctor --all lists them",
			"Tools for claude-desktop: 2, 1 of them with a simpler schema (toolpost lint --for",
			"claude-desktop says which)",
			`claude-desktop: tool "b\x1b[2J" is withheld: it is odd (claude-desktop/schema)`,
			"claude-desktop: there are too many (claude-desktop/tool-count)",
			"TIME one: removed",
			"TIME  stopped",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		for i := range 2 * maxClients {
			clients.Add(observe.Client{Name: fmt.Sprint(i)})
		}
		if n := len(clients.seen); n != maxClients {
			t.Errorf("it remembers %d clients", n)
		}
	})
}

func findings(n int) (all []toolpost.Finding) {
	for i := range n {
		all = append(all, toolpost.Finding{Tool: fmt.Sprintf("t%d", i), Message: "it is odd"})
	}
	return all
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// TestChanges checks that a server that fails again with another error is reported once.
func TestChanges(t *testing.T) {
	var s servers
	at := func(st ...upstream.Status) string {
		changed, _ := s.update(&gateway.Snapshot{Status: st}, time.Now())
		var told []string
		for _, st := range changed {
			told = append(told, change(st))
		}
		return strings.Join(told, "; ")
	}
	for i, step := range []struct {
		st   []upstream.Status
		want string
	}{
		{[]upstream.Status{starting("one", "")}, ""},
		{[]upstream.Status{ready("one", 3)}, "one: ready, 3 tools"},
		{[]upstream.Status{ready("one", 3)}, ""},
		{[]upstream.Status{failed("one", "log 1", time.Time{})}, "one: failed: log 1"},
		{[]upstream.Status{starting("one", "")}, ""},
		{[]upstream.Status{failed("one", "log 2", time.Time{})}, ""},
		{[]upstream.Status{ready("one", 4)}, "one: ready, 4 tools"},
		{[]upstream.Status{{Name: "one", State: upstream.NeedsLogin, Err: errors.New("run toolpost login one")}}, "one: login needed: run toolpost login one"},
		{nil, "one: removed"},
	} {
		if got := at(step.st...); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}
