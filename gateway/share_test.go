package gateway_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// With share "per-session", each client session has a process of its own, until
// the session ends or is idle for long.
func TestProcessPerSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share = config.PerSession
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		if got := names(g); len(got) != 1 || got[0] != "s__t" {
			t.Fatalf("tools %q", got)
		}
		answers := func(session string) string {
			result := make(chan string, 1)
			go func() {
				r, err := g.Live().Set().Call(t.Context(), &toolpost.Call{Owner: toolpost.Owner{Session: session}, Name: "s__t"})
				if err != nil {
					result <- err.Error()
					return
				}
				text, _ := r.FirstText()
				result <- text
			}()
			synctest.Wait()
			last := f.count() - 1
			f.started[last].set(func(u *fake) {
				if len(u.tools) == 0 {
					u.tools = []*toolpost.Tool{tool("t", fmt.Sprint("process ", last))}
				}
			})
			f.started[last].end()
			return <-result
		}
		for _, step := range []struct{ session, want string }{
			{"a", "process 1 t"}, {"b", "process 2 t"}, {"a", "process 1 t"},
		} {
			if got := answers(step.session); got != step.want {
				t.Errorf("session %s: got %q, want %q", step.session, got, step.want)
			}
		}
		g.SessionEnded("a")
		synctest.Wait()
		if !f.started[1].isClosed() || f.started[2].isClosed() {
			t.Error("the end of session a must end its process only")
		}
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		if !f.started[2].isClosed() || f.started[0].isClosed() {
			t.Error("the process of an idle session must end, and not the one that lists")
		}
		if got := answers("b"); got != "process 3 t" {
			t.Errorf("got %q", got)
		}
		for i := range 40 {
			answers(fmt.Sprint("many ", i))
		}
		running := 0
		for _, u := range f.started[1:] {
			if !u.isClosed() {
				running++
			}
		}
		if running != 32 {
			t.Errorf("%d processes run", running)
		}
	})
}

// With share "per-client", the sessions of one client use one process, which ends
// when it is idle for as long as the configuration says.
func TestProcessPerClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share, cfg.Servers[0].Idle = config.PerClient, time.Minute
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		use := func(session, party string) {
			go func() {
				_, _ = g.Live().Set().Call(t.Context(), &toolpost.Call{Owner: toolpost.Owner{Session: session, Party: party}, Name: "s__t"})
			}()
			synctest.Wait()
			if u := f.started[f.count()-1]; u.Status().State != upstream.Ready {
				u.connect("t")
			}
			synctest.Wait()
		}
		for _, step := range []struct {
			session, party string
			want           int
		}{{"1", "a", 2}, {"2", "a", 2}, {"3", "b", 3}, {"4", "", 4}, {"5", "", 5}, {"1", "a", 5}} {
			if use(step.session, step.party); f.count() != step.want {
				t.Errorf("%+v: %d processes", step, f.count())
			}
		}
		g.SessionEnded("1")
		synctest.Wait()
		if f.started[1].isClosed() {
			t.Error("the process of a client ended with one of its sessions")
		}
		time.Sleep(59 * time.Second)
		use("2", "a")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f.started[1].isClosed() || !f.started[2].isClosed() || f.started[0].isClosed() {
			t.Error("want only idle processes ended")
		}
	})
}

// A thousand first calls at the same time start one process.
func TestProcessIsStartedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share = config.PerClient
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		var calls sync.WaitGroup
		for i := range 1000 {
			calls.Go(func() {
				r, err := g.Live().Set().Call(t.Context(), &toolpost.Call{Owner: toolpost.Owner{Session: fmt.Sprint(i), Party: "a"}, Name: "s__t"})
				if err != nil || r.IsError() {
					t.Error(r, err)
				}
			})
		}
		synctest.Wait()
		if f.count() != 2 {
			t.Fatalf("%d processes", f.count())
		}
		f.started[1].connect("t")
		calls.Wait()
		if f.count() != 2 {
			t.Errorf("%d processes", f.count())
		}
	})
}

func TestShareKey(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers":{"a":{"command":"x","share":"per-session"}}}`:            "",
		`{"mcpServers":{"a":{"command":"x","share":"always"}}}`:                 "",
		`{"mcpServers":{"a":{"command":"x","share":"per-client","idle":"5m"}}}`: "",
		`{"mcpServers":{"a":{"command":"x","idle":"5m"}}}`:                      `add "share"`,
		`{"mcpServers":{"a":{"command":"x","share":"never"}}}`:                  `want "always", "per-client" or "per-session"`,
		`{"mcpServers":{"a":{"url":"http://x/mcp","share":"per-session"}}}`:     "",
	} {
		cfg, err := config.Parse("toolpost.json", []byte(text), func(string) (string, bool) { return "", false })
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		problems := fmt.Sprint(err)
		if cfg != nil {
			problems += fmt.Sprint(cfg.Servers[0].Err)
		}
		if !strings.Contains(problems, want) {
			t.Errorf("%s: got %s, want %s", text, problems, want)
		}
	}
}

// A filter that matches nothing is reported.
func TestUnmatchedFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Allow = []string{"read_grpah"}
		g, f := open(t, cfg)
		f.started[0].connect("read_graph")
		synctest.Wait()
		if got := strings.Join(findings(g), "\n"); !strings.Contains(got, `"read_grpah" matches none of its tools; did you mean "read_graph"?`) {
			t.Errorf("findings %s", got)
		}
	})
}

// A server whose lists are stored starts a moment later, so that they are served first.
// The process of a session does not: a call waits for it.
func TestHeadStart(t *testing.T) {
	catalog := &gateway.Catalog{Dir: t.TempDir(), Config: "c"}
	for _, warm := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cfg := servers("s", "cmd")
			cfg.Servers[0].Share = config.PerSession
			g, f := openWith(t, cfg, &gateway.Options{Catalog: catalog})
			if got := f.started[0].opts.StartDelay; (got > 0) != warm {
				t.Errorf("warm %v: the server that lists starts after %v", warm, got)
			}
			if !warm {
				f.started[0].connect("t")
				synctest.Wait()
				return
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = g.Live().Set().Call(t.Context(), &toolpost.Call{Owner: toolpost.Owner{Session: "a"}, Name: "s__t"})
			}()
			synctest.Wait()
			if n := f.count(); n != 2 {
				t.Fatalf("%d processes", n)
			}
			if got := f.started[1].opts.StartDelay; got != 0 {
				t.Errorf("the process of the session starts after %v", got)
			}
			f.started[1].end()
			<-done
		})
	}
}
