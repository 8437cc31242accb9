package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// With share "per-session", each client session has a process of its own, until
// the session ends or is idle for long.
func TestProcessPerSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share = "per-session"
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		if got := names(g); len(got) != 1 || got[0] != "s__t" {
			t.Fatalf("tools %q", got)
		}
		answers := func(session string) string {
			result := make(chan string, 1)
			go func() {
				r, err := g.Live().Call(t.Context(), &toolpost.Call{Session: session, Name: "s__t"})
				if err != nil {
					result <- err.Error()
					return
				}
				text, _ := r.FirstText()
				result <- text
			}()
			synctest.Wait()
			last := f.count() - 1
			if u := f.started[last]; u.Status().State != upstream.Ready {
				u.set(func(u *fake) {
					u.status.State = upstream.Ready
					u.tools = []*toolpost.Tool{tool("t", fmt.Sprint("process ", last))}
				})
			}
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
		g.Views().SessionEnded("a")
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
		cfg.Servers[0].Share, cfg.Servers[0].Idle = "per-client", time.Minute
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		use := func(session, party string) {
			go func() {
				_, _ = g.Live().Call(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "s__t"}, hidden.Owner{Session: session, Party: party}))
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
		g.Views().SessionEnded("1")
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
		cfg.Servers[0].Share = "per-client"
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		var calls sync.WaitGroup
		for i := range 1000 {
			calls.Go(func() {
				r, err := g.Live().Call(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "s__t"}, hidden.Owner{Session: fmt.Sprint(i), Party: "a"}))
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
		`{"mcpServers":{"a":{"command":"x","idle":"5m"}}}`:                      "",
		`{"mcpServers":{"a":{"command":"x","share":"auto"}}}`:                   "",
		`{"mcpServers":{"a":{"command":"x","share":"always","idle":"5m"}}}`:     `remove one of them`,
		`{"mcpServers":{"a":{"command":"x","share":"never"}}}`:                  `want "auto", "always", "per-client" or "per-session"`,
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
			cfg.Servers[0].Share = "per-session"
			g, f := openWith(t, cfg, &gateway.Options{Catalog: catalog, Starting: time.Minute})
			if got := f.started[0].opts.Starting; got != time.Minute {
				t.Errorf("the server may start for %v", got)
			}
			if got := hidden.UpstreamOptionsOf(&f.started[0].opts).StartDelay; (got > 0) != warm {
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
				_, _ = g.Live().Call(t.Context(), &toolpost.Call{Session: "a", Name: "s__t"})
			}()
			synctest.Wait()
			if n := f.count(); n != 2 {
				t.Fatalf("%d processes", n)
			}
			if got := hidden.UpstreamOptionsOf(&f.started[1].opts).StartDelay; got != 0 {
				t.Errorf("the process of the session starts after %v", got)
			}
			if got := f.started[1].opts.Starting; got != 0 {
				t.Errorf("the process of the session may start for %v", got)
			}
			f.started[1].connect("t")
			<-done
		})
	}
}

// A pooled is the gateway of one server that is shared by the default rule.
type pooled struct {
	t *testing.T
	g *gateway.Gateway
	f *fleet
}

// call makes a call, connects the process that was started for it, and returns the
// number of the process that ran it.
func (p *pooled) call(owner hidden.Owner) string {
	p.t.Helper()
	result := make(chan string, 1)
	go func() {
		r, err := p.g.Live().Call(p.t.Context(), hidden.WithOwner(&toolpost.Call{Name: "s__t"}, owner))
		if err != nil {
			result <- err.Error()
			return
		}
		text, _ := r.FirstText()
		result <- text
	}()
	synctest.Wait()
	p.connect()
	synctest.Wait()
	return <-result
}

// connect makes the processes ready that are not.
func (p *pooled) connect() {
	for i, u := range p.f.started {
		if u.Status().State == upstream.Connecting {
			u.set(func(u *fake) {
				u.status.State = upstream.Ready
				u.tools = []*toolpost.Tool{tool("t", fmt.Sprint(i))}
			})
			u.end()
		}
	}
}

func (p *pooled) end(session string) {
	p.g.Views().SessionEnded(session)
	synctest.Wait()
	p.connect()
	synctest.Wait()
}

func (p *pooled) running() (n int) {
	for _, u := range p.f.started {
		if !u.isClosed() {
			n++
		}
	}
	return n
}

func session(name string) hidden.Owner { return hidden.Owner{Session: name, Party: "p"} }

func openPooled(t *testing.T, opts *gateway.Options) *pooled {
	cfg := servers("s", "cmd")
	g, f := openWith(t, cfg, opts)
	p := &pooled{t, g, f}
	synctest.Wait()
	p.connect()
	synctest.Wait()
	return p
}

// All share one process until the server asks. From then on a session keeps its
// process, others get one, and one whose session has ended serves no other. That it
// asks is remembered.
func TestAutoShare(t *testing.T) {
	catalog := &gateway.Catalog{Dir: t.TempDir(), Config: "c"}
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, &gateway.Options{Catalog: catalog, Starting: time.Minute})
		steps := func(want ...string) {
			t.Helper()
			for i := 0; i < len(want); i += 2 {
				if got := p.call(session(want[i])); got != want[i+1] {
					t.Errorf("session %s: process %s, want %s", want[i], got, want[i+1])
				}
			}
		}
		steps("a", "0 t", "b", "0 t", "a", "0 t")
		p.end("a")
		p.end("b")
		if p.f.count() != 1 {
			t.Fatalf("%d processes of a server that does not ask", p.f.count())
		}
		steps("a", "0 t")
		hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(false)
		steps("a", "0 t", "b", "1 t", "c", "2 t", "b", "1 t")
		if got := strings.Join(names(p.g), " "); got != "s__t" {
			t.Errorf("tools %s", got)
		}
		p.end("b")
		if !p.f.started[1].isClosed() || p.f.started[0].isClosed() || p.running() != 2 {
			t.Error("the end of a session must end its process, and no other")
		}
		p.end("a") // which used the process that lists
		if !p.f.started[0].isClosed() || p.running() != 2 {
			t.Error("the process that lists must be replaced")
		}
		if got := strings.Join(names(p.g), " "); got != "s__t" || p.g.Status()[0].State != upstream.Ready {
			t.Errorf("tools %s, status %+v", got, p.g.Status()[0])
		}
		steps("d", "3 t", "e", "4 t", "d", "3 t")
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if p.running() != 1 || p.f.started[3].isClosed() {
			t.Errorf("%d processes run, and only that which lists must", p.running())
		}
		for i, u := range p.f.started {
			if (u.opts.Starting > 0) != (i == 0) {
				t.Errorf("process %d may start for %v", i, u.opts.Starting)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, &gateway.Options{Catalog: catalog})
		if a, b := p.call(session("a")), p.call(session("b")); a == b {
			t.Error("it is forgotten that the server asks")
		}
	})
}

// A question that may be for several clients is refused once: all of them get processes
// of their own.
func TestUnclearQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		p.call(session("a"))
		p.call(session("b"))
		hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(true)
		synctest.Wait()
		p.connect()
		synctest.Wait()
		a, b := p.call(session("a")), p.call(session("b"))
		if a == "0 t" || b == "0 t" || a == b {
			t.Errorf("processes %s and %s", a, b)
		}
		if !p.f.started[0].isClosed() || p.running() != 2 {
			t.Errorf("%d processes run", p.running())
		}
	})
}

// The calls of a client without sessions have processes to themselves, which they use
// again unless a call was canceled that the server has not answered.
func TestLeasedProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		owner := hidden.Owner{Session: "client x", Party: "x", Shared: true}
		p.call(owner)
		hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(false)
		if got := p.call(owner); got != "0 t" {
			t.Errorf("process %s", got)
		}
		p.f.started[0].set(func(u *fake) { u.unsettled = true })
		if got := p.call(owner); got != "1 t" {
			t.Errorf("after a call that the server did not answer: process %s", got)
		}
		if got := p.call(hidden.Owner{Session: "client y", Party: "y", Shared: true}); got != "2 t" {
			t.Errorf("another client: process %s", got)
		}
		if got := p.call(owner); got != "1 t" {
			t.Errorf("process %s", got)
		}
		p.f.started[0].set(func(u *fake) { u.unsettled = false })
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		p.connect()
		synctest.Wait()
		if p.running() != 1 {
			t.Errorf("%d idle processes run", p.running())
		}
	})
}

// With 32 processes that all have calls under way, one more call waits for one of them.
func TestProcessesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(false)
		p.call(session("home"))
		release := make(chan struct{})
		var calls sync.WaitGroup
		begin := func(name string) {
			calls.Go(func() {
				_, err := p.g.Live().Call(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "s__t"}, session(name)))
				if err != nil {
					t.Error(name, err)
				}
			})
			synctest.Wait()
			for _, u := range p.f.started {
				if u.Status().State == upstream.Connecting {
					u.connectTool("t", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
						<-release
						return toolpost.TextResult("done"), nil
					})
				}
			}
			synctest.Wait()
		}
		for i := range 33 {
			begin(fmt.Sprint("s", i))
		}
		if p.running() != 33 { // one of them lists
			t.Errorf("%d processes run", p.running())
		}
		close(release)
		synctest.Wait()
		p.connect()
		calls.Wait()
		if p.running() != 33 {
			t.Errorf("%d processes run", p.running())
		}
	})
}

// A client without sessions that lets its calls wait leaves processes for others.
func TestProcessesOfOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(false)
		p.call(session("home"))
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		owner := func(name string) hidden.Owner { return hidden.Owner{Session: name, Party: name, Shared: true} }
		var refused []string
		begin := func(ctx context.Context, name string) {
			calls.Go(func() {
				if r, err := p.g.Live().Call(ctx, hidden.WithOwner(&toolpost.Call{Name: "s__t"}, owner(name))); err == nil && r.IsError() && ctx.Err() == nil {
					text, _ := r.FirstText()
					refused = append(refused, name+": "+text)
				}
			})
			synctest.Wait()
			for _, u := range p.f.started[1:] {
				if u.Status().State == upstream.Connecting {
					u.connectTool("t", func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					})
				}
			}
			synctest.Wait()
		}
		first, end := context.WithCancel(ctx)
		begin(first, "greedy")
		for range 15 {
			begin(ctx, "greedy")
		}
		started := p.f.count()
		begin(ctx, "greedy") // waits
		for range 10 {
			begin(ctx, "other")
		}
		if len(refused) != 0 || p.f.count() != started+10 {
			t.Fatalf("%d processes were started for 10 calls of another client; refused are %q", p.f.count()-started, refused)
		}
		end()
		synctest.Wait()
		begin(ctx, "greedy") // waits, because the one before it has taken the place of the first
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(refused) != 1 || !strings.Contains(refused[0], "greedy: ") || !strings.Contains(refused[0], "16 calls of this client are under way") {
			t.Errorf("refused are %q", refused)
		}
		cancel()
		calls.Wait()
	})
}

// A call that comes when its session has ended starts no process.
func TestLateCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share = "per-session"
		g, f := open(t, cfg)
		f.started[0].connect("t")
		synctest.Wait()
		ended, end := context.WithCancel(t.Context())
		end()
		tools, _ := g.Live().Set().Tools(t.Context())
		if _, err := tools[0].Handler(ended, hidden.WithOwner(&toolpost.Call{Name: "s__t"}, session("a"))); err == nil || f.count() != 1 {
			t.Errorf("%d processes, %v", f.count(), err)
		}
	})
}
