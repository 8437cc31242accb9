package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// toolsOf returns the names of the tools that a session gets in a view.
func (p *pooled) toolsOf(session, view string) string {
	p.t.Helper()
	return strings.Join(p.listed(session, view), " ")
}

func (p *pooled) live(session, view string) *toolpost.Live {
	p.t.Helper()
	live, err := p.g.Views().View(observe.Client{Name: "c", View: view, Session: session})
	if err != nil {
		p.t.Fatal(err)
	}
	return live
}

func (p *pooled) listed(session, view string) (names []string) {
	p.t.Helper()
	tools, err := p.live(session, view).Tools(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// callOf calls a tool of a session's own lists.
func (p *pooled) callOf(name, tool string) string {
	p.t.Helper()
	r, err := p.live(name, "none").Call(p.t.Context(), hidden.WithOwner(&toolpost.Call{Name: tool}, session(name)))
	if err != nil {
		return err.Error()
	}
	text, _ := r.FirstText()
	return text
}

// two makes a server keep two sessions apart: a uses process 0, which lists, and b
// process 1.
func (p *pooled) two() {
	p.t.Helper()
	p.call(session("a"))
	hidden.UpstreamOptionsOf(&p.f.started[0].opts).OneClient(false)
	if got := p.call(session("b")); got != "1 t" {
		p.t.Fatalf("session b uses process %s", got)
	}
}

// changes counts the changes of the lists of a session.
func (p *pooled) changes(session string) *int {
	n := new(int)
	p.t.Cleanup(p.live(session, "").Watch(func(e toolpost.Event) {
		if e == (toolpost.Event{}) {
			*n++
		}
	}))
	return n
}

// What the process of a session adds and removes is listed to that session and called
// there, in every view, and no other session sees it.
func TestSessionLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd", "other", "cmd2")
		cfg.Profiles = []config.Profile{{Name: "p", Servers: []string{"s"}}}
		g, f := openWith(t, cfg, nil)
		p := &pooled{t, g, f}
		synctest.Wait()
		p.connect()
		synctest.Wait()
		for i, u := range f.started { // process 0 is home of s
			if u.cfg.Name == "s" && i != 0 {
				f.started[0], f.started[i] = f.started[i], f.started[0]
			}
		}
		p.call(session("a"))
		hidden.UpstreamOptionsOf(&f.started[0].opts).OneClient(false)
		p.call(session("b"))
		synctest.Wait()
		if p.live("b", "none") != p.live("a", "none") || p.live("b", "p") != p.live("", "p") {
			t.Error("sessions whose processes list the same must share their lists")
		}
		own := f.last("s")
		own.set(func(u *fake) { u.tools = append([]*toolpost.Tool{tool("new", "own")}, u.tools...) })
		synctest.Wait()
		for _, c := range []struct{ session, view, want string }{
			{"b", "none", "other__t s__new s__t"}, {"b", "", "other__t s__new s__t"}, {"b", "p", "s__new s__t"}, {"b", "p/none", "s__new s__t"},
			{"a", "none", "other__t s__t"}, {"a", "", "other__t s__t"}, {"", "p", "s__t"}, {"c", "p", "s__t"},
		} {
			if got := p.toolsOf(c.session, c.view); got != c.want {
				t.Errorf("session %q, view %q: %s, want %s", c.session, c.view, got, c.want)
			}
		}
		if got := p.callOf("b", "s__new"); got != "own new" {
			t.Errorf("the new tool answers %s", got)
		}
		if got := p.callOf("a", "s__new"); !strings.Contains(got, "no such") && !strings.Contains(got, "unknown") && !strings.Contains(got, "not found") {
			t.Errorf("another session calls it: %s", got)
		}
		mine := p.changes("b")
		own.set(func(u *fake) { u.tools = u.tools[:1] })
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "other__t s__new" {
			t.Errorf("after a tool was removed: %s", got)
		}
		if *mine == 0 {
			t.Error("the session does not hear that its lists have changed")
		}
		own.set(func(u *fake) { u.tools = []*toolpost.Tool{tool("t", "own")} })
		synctest.Wait()
		if p.live("b", "none") != g.Live() {
			t.Error("a session whose process lists the same again must share its lists")
		}
		own.set(func(u *fake) { u.tools = []*toolpost.Tool{tool("last", "own")} })
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "other__t s__last" {
			t.Errorf("tools %s", got)
		}
		g.Views().SessionEnded("b")
		synctest.Wait()
		if p.live("b", "none") != g.Live() || p.toolsOf("b", "p") != "s__t" {
			t.Error("a session that has ended has lists of its own")
		}
	})
}

// With "per-client", all sessions that use the process of a client get its lists.
func TestListsOfClientProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		cfg.Servers[0].Share = "per-client"
		g, f := openWith(t, cfg, nil)
		p := &pooled{t, g, f}
		synctest.Wait()
		p.connect()
		synctest.Wait()
		p.call(session("a"))
		p.call(session("b"))
		f.started[1].set(func(u *fake) { u.tools = []*toolpost.Tool{tool("t", "own"), tool("new", "own")} })
		synctest.Wait()
		for session, want := range map[string]string{"a": "s__new s__t", "b": "s__new s__t", "c": "s__t", "": "s__t"} {
			if got := p.toolsOf(session, ""); got != want {
				t.Errorf("session %q: %s", session, got)
			}
		}
		if p.live("a", "") != p.live("b", "") {
			t.Error("the sessions have lists of their own, although they use one process")
		}
		heard := 0
		t.Cleanup(p.live("a", "").Watch(func(e toolpost.Event) {
			if e.Resource != "" {
				heard++
			}
		}))
		f.started[1].Notify(toolpost.Event{Resource: "x://one"})
		if heard != 1 {
			t.Errorf("a change of a resource is heard %d times", heard)
		}
		g.Views().SessionEnded("a")
		synctest.Wait()
		if a, b := p.toolsOf("a", ""), p.toolsOf("b", ""); a != "s__t" || b != "s__new s__t" {
			t.Errorf("after the end of a: %s, %s", a, b)
		}
	})
}

// The process of a session offers no tool that the user has not approved.
func TestSessionListsAreApproved(t *testing.T) {
	for _, c := range []struct {
		name     string
		server   config.Server
		want     string // of the session
		withheld string
	}{
		{"new tools are served", config.Server{}, "s__new", "t"},
		{"new tools wait", config.Server{WithholdNew: true}, "", "new t"},
		{"nothing is pinned", config.Server{Unpinned: true}, "s__new s__t", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := servers("s", "cmd")
				cfg.Servers[0].Unpinned, cfg.Servers[0].WithholdNew = c.server.Unpinned, c.server.WithholdNew
				g, f := openWith(t, cfg, &gateway.Options{Pins: &gateway.Pins{}, Logger: slog.New(slog.DiscardHandler)})
				p := &pooled{t, g, f}
				synctest.Wait()
				p.connect()
				synctest.Wait()
				p.two()
				f.started[1].set(func(u *fake) {
					changed := tool("t", "own")
					changed.Description = "Sends everything."
					u.tools = []*toolpost.Tool{changed, tool("new", "own")}
				})
				synctest.Wait()
				if got := p.toolsOf("b", ""); got != c.want {
					t.Errorf("tools %s, want %s", got, c.want)
				}
				if got := p.toolsOf("a", ""); got != "s__t" {
					t.Errorf("tools of another session: %s", got)
				}
				var withheld []string
				g.WatchSnapshot(func(s *gateway.Snapshot) {
					for _, w := range s.Withheld {
						withheld = append(withheld, w.Tool)
					}
				})()
				slices.Sort(withheld)
				if got := strings.Join(withheld, " "); got != c.withheld {
					t.Errorf("withheld: %s, want %s", got, c.withheld)
				}
				for _, tool := range withheld {
					if err := g.Views().Missing(observe.Client{Session: "b"}, "s__"+tool); err == nil || !strings.Contains(err.Error(), "withheld") {
						t.Errorf("%s is missing, because %v", tool, err)
					}
					if err := g.Views().Missing(observe.Client{Session: "a"}, "s__"+tool); err != nil {
						t.Errorf("another session reads: %v", err)
					}
					// Also one that a client still has must not run.
					if got := p.call(session("b")); c.withheld != "" && !strings.Contains(got, "withheld") {
						t.Errorf("a call answers %s", got)
					}
				}
			})
		})
	}
}

// Prompts, resources and subscriptions of a session are those of its process.
func TestSessionFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		subscribed := map[string][]string{}
		offer := func(u *fake, name string, prompts ...string) {
			f := &toolpost.Features{}
			answer := func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.TextResult(name + " " + call.Name), nil
			}
			for _, prompt := range prompts {
				f.Prompts = append(f.Prompts, &toolpost.Prompt{Name: prompt, Get: answer, Complete: answer})
				f.Resources = append(f.Resources, &toolpost.Resource{URI: "x://" + prompt, Read: answer})
			}
			f.Subscribe = func(_ context.Context, uri string, on bool) error {
				subscribed[name] = append(subscribed[name], fmt.Sprint(uri, " ", on))
				return nil
			}
			u.set(func(u *fake) { u.features = f })
		}
		offer(p.f.started[0], "home", "one")
		synctest.Wait()
		p.two()
		offer(p.f.started[1], "own", "one", "two")
		synctest.Wait()
		features := func(session string) *toolpost.Features { return p.live(session, "").Features() }
		if a, b := features("a"), features("b"); len(a.Prompts) != 1 || len(b.Prompts) != 2 || len(a.Resources) != 1 || len(b.Resources) != 2 {
			t.Fatalf("prompts %d, %d, resources %d, %d", len(a.Prompts), len(b.Prompts), len(a.Resources), len(b.Resources))
		}
		for i, name := range []string{"one", "two"} {
			for what, h := range map[string]toolpost.Handler{"get": features("b").Prompts[i].Get, "complete": features("b").Prompts[i].Complete, "read": features("b").Resources[i].Read} {
				r, err := h(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "x"}, session("b")))
				if err != nil {
					t.Fatal(what, err)
				}
				if text, _ := r.FirstText(); !strings.HasPrefix(text, "own ") {
					t.Errorf("%s %s: %s", what, name, text)
				}
			}
		}
		if err := features("b").Subscribe(t.Context(), "x://two", true); err != nil {
			t.Error(err)
		}
		if err := features("a").Subscribe(t.Context(), "x://two", true); !errors.Is(err, toolpost.ErrNotFound) {
			t.Errorf("another session subscribes: %v", err)
		}
		if err := features("a").Subscribe(t.Context(), "x://one", true); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(subscribed); got != "map[home:[x://one true] own:[x://two true]]" {
			t.Errorf("subscriptions %s", got)
		}
		heard := map[string][]string{}
		for _, session := range []string{"a", "b"} {
			t.Cleanup(p.live(session, "").Watch(func(e toolpost.Event) {
				switch {
				case e.Resource != "":
					heard[session] = append(heard[session], e.Resource)
				case e.Notification != nil && e.Notification.Session == session: // others do not get it
					heard[session] = append(heard[session], e.Notification.Name+e.Notification.Session)
				}
			}))
		}
		p.f.started[1].Notify(toolpost.Event{Resource: "x://one"})
		p.f.started[0].Notify(toolpost.Event{Resource: "x://one"})
		p.f.started[1].Notify(toolpost.Event{Notification: hidden.WithOwner(&toolpost.Call{Name: "notifications/message", Params: []byte(`{"level":"info","data":"x"}`)}, session("b"))})
		if got := fmt.Sprint(heard); got != "map[a:[x://one] b:[x://one notifications/messageb]]" {
			t.Errorf("heard %s", got)
		}
	})
}

// A session that still listens to the lists of all when it gets lists of its own hears
// what is for it, once, in whichever of them.
func TestNotificationOfSessionThatMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		p.two()
		before := p.live("b", "")
		p.f.started[1].set(func(u *fake) { u.tools = append(u.tools[:1:1], tool("new", "own")) })
		synctest.Wait()
		now := p.live("b", "")
		if before == now {
			t.Fatal("the session has no lists of its own")
		}
		heard := map[*toolpost.Live]int{}
		for _, live := range []*toolpost.Live{before, now} {
			t.Cleanup(live.Watch(func(e toolpost.Event) {
				if e.Notification != nil && e.Notification.Session == "b" {
					heard[live]++
				}
			}))
		}
		p.f.started[1].Notify(toolpost.Event{Notification: hidden.WithOwner(&toolpost.Call{Name: "notifications/message", Params: []byte(`{"level":"info","data":"x"}`)}, session("b"))})
		if heard[before] != 1 || heard[now] != 1 {
			t.Errorf("the lists of all: %d, its own: %d", heard[before], heard[now])
		}
	})
}

// gainTool is a change by which a server has one more tool.
func gainTool(f *fake) { f.tools = append(f.tools[:1:1], tool("new", "own")) }

// A session that gets another process gets other lists, also if no refresh has seen it
// without a process: what belongs to the process, such as a subscription, begins again.
func TestListsOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		p.two()
		p.f.started[1].set(gainTool)
		synctest.Wait()
		before, all := p.live("b", ""), p.live("b", "none")
		var refresh chan struct{}
		t.Cleanup(p.g.WatchSnapshot(func(*gateway.Snapshot) {
			if refresh != nil {
				<-refresh
			}
		}))
		refresh = make(chan struct{})
		p.f.started[1].set(func(u *fake) { u.tools = append(u.tools[:1:1], tool("another", "own")) }) // causes a refresh
		synctest.Wait()
		hidden.UpstreamOptionsOf(&p.f.started[1].opts).OneClient(true)
		if got := p.call(session("b")); got != "2 t" {
			t.Fatalf("session b uses process %s", got)
		}
		p.f.last("s").set(gainTool)
		close(refresh)
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "s__new s__t" {
			t.Errorf("tools %s", got)
		}
		if p.live("b", "") == before || p.live("b", "none") == all {
			t.Error("the session has the lists of its process before")
		}
	})
}

// The views of sessions take the room of no other views, and cause no refresh of all.
func TestViewsOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "cmd")
		for i := range 300 {
			cfg.Profiles = append(cfg.Profiles, config.Profile{Name: fmt.Sprint("p", i), Include: []string{"s__t", "s__gone"}})
		}
		g, f := openWith(t, cfg, nil)
		p := &pooled{t, g, f}
		synctest.Wait()
		p.connect()
		synctest.Wait()
		p.two()
		p.f.started[1].set(func(u *fake) { u.tools = append(u.tools[:1:1], tool("new", "own")) })
		synctest.Wait()
		var shared []*toolpost.Live
		for i := range 200 {
			shared = append(shared, p.live("a", fmt.Sprint("p", i)))
		}
		synctest.Wait()
		refreshes := 0
		t.Cleanup(g.WatchSnapshot(func(*gateway.Snapshot) { refreshes++ }))
		refreshes = 0
		for i := range 300 {
			p.live("b", fmt.Sprint("p", i))
		}
		synctest.Wait()
		if refreshes != 0 {
			t.Errorf("the views of a session cause %d refreshes", refreshes)
		}
		for i, live := range shared {
			if p.live("a", fmt.Sprint("p", i)) != live {
				t.Fatalf("view %d of all clients was ended", i)
			}
		}
	})
}

// A process that ends takes its lists with it, and a server that is started again, too.
func TestSessionListsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		p.two()
		p.f.started[1].set(gainTool)
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "s__new s__t" {
			t.Fatalf("tools %s", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "s__t" || !p.f.started[1].isClosed() {
			t.Errorf("after an idle hour: %s", got)
		}
		p.call(session("b"))
		p.f.last("s").set(gainTool)
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "s__new s__t" {
			t.Errorf("tools %s", got)
		}
		if err := p.g.Reload(t.Context(), servers("s", "another")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.connect()
		synctest.Wait()
		if got := p.toolsOf("b", ""); got != "s__t" || p.f.last("s").Status().State != upstream.Ready {
			t.Errorf("after a reload: %s", got)
		}
	})
}

// A program that never reports the end of sessions does not fill the memory.
func TestSessionsWithoutEnd(t *testing.T) {
	for _, share := range []string{"auto", "per-client"} {
		synctest.Test(t, func(t *testing.T) {
			cfg := servers("s", "cmd")
			cfg.Servers[0].Share = share
			g, f := openWith(t, cfg, nil)
			p := &pooled{t, g, f}
			synctest.Wait()
			p.connect()
			synctest.Wait()
			p.call(session("first"))
			for i := range 10_500 {
				if _, err := g.Live().Call(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "s__t"}, session(fmt.Sprint(i)))); err != nil {
					t.Fatal(err)
				}
			}
			if n := g.RememberedSessions(); n > 10_000 {
				t.Errorf("with %q, %d sessions are remembered", share, n)
			}
		})
	}
}
