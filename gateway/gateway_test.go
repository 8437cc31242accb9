package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

func TestOthersServeWhileOneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := time.Now()
		cfg := servers("slow", "x", "good", "x", "bad", "x", "refused", "refused", "unset", "x")
		cfg.Servers[4].Err = errors.New("KEY is not set")
		g, f := open(t, cfg)
		f.last("good").connect("a", "b")
		f.last("bad").fail(errors.New("it exits at once"))
		synctest.Wait()
		if got, want := names(g), []string{"good__a", "good__b"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := call(g, "good__a"), "good x a"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		var got []string
		for _, s := range g.Status() {
			got = append(got, fmt.Sprintf("%s %s %v", s.Name, s.State, s.Err))
		}
		want := []string{
			"slow connecting <nil>", "good ready <nil>", "bad failed it exits at once",
			`refused failed start upstream "refused": it is refused`,
			`unset failed server "unset": KEY is not set`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("it took %v", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ready with a hanging server: got %v", err)
		}
		f.last("slow").connect("late")
		if err := g.Ready(t.Context()); err != nil {
			t.Errorf("Ready: %v", err)
		}
		if got, want := names(g), []string{"good__a", "good__b", "slow__late"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestToolsStayWhileServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		f.last("a").connect("one")
		synctest.Wait()
		f.last("a").fail(errors.New("connection lost"))
		synctest.Wait()
		if got := names(g); !slices.Equal(got, []string{"a__one"}) {
			t.Errorf("got %q", got)
		}
		f.last("a").set(func(f *fake) { f.err, f.tools = errors.New("broken"), nil })
		synctest.Wait()
		if got := findings(g); len(got) != 1 || !strings.Contains(got[0], "server a: its tools cannot be listed: broken") {
			t.Errorf("got %q", got)
		}
	})
}

func TestNamesDoNotDependOnReadiness(t *testing.T) {
	var wantNames, wantFindings []string
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			g, f := open(t, prefixed(servers("a", "x", "b", "x", "c", "x"), ""))
			for _, i := range order {
				f.started[i].connect([][]string{{"read", "list", "c__list"}, {"read", "b__read"}, {"list", "read", "own"}}[i]...)
				synctest.Wait()
			}
			if wantNames == nil {
				wantNames, wantFindings = names(g), findings(g)
			}
			if diff := cmp.Diff(wantNames, names(g)); diff != "" {
				t.Errorf("order %v: %s", order, diff)
			}
			if diff := cmp.Diff(wantFindings, findings(g)); diff != "" {
				t.Errorf("order %v: %s", order, diff)
			}
			for name, want := range map[string]string{"read": "a x read", "b__read": "b x b__read", "c__read": "c x read", "c__list": "a x c__list"} {
				if got := call(g, name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
	if want := []string{"b__read", "b__read_tx2d", "c__list", "c__list_uzie", "c__read", "list", "own", "read"}; !slices.Equal(wantNames, want) {
		t.Errorf("got %q, want %q", wantNames, want)
	}
	want := []string{
		`b__read_tx2d| server b: its tool "read" is called "b__read_tx2d", because server a has a "read"; give one of them another prefix`,
		`| server c: 2 of its tools have names that server a has too: list (called c__list_uzie), read (called c__read); give one of them another prefix`,
	}
	if diff := cmp.Diff(want, wantFindings); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("my server", "x", "my.server", "x", "p", "x")
		cfg.Servers[2].Prefix = new("pre-")
		cfg.Findings = []toolpost.Finding{{Message: "of the file"}}
		g, f := open(t, cfg)
		f.started[0].connect("t")
		f.started[1].connect("t", "a.b", strings.Repeat("n", 60))
		f.started[2].connect("t")
		f.started[2].set(func(f *fake) {
			f.tools = append(f.tools, nil, &toolpost.Tool{}, &toolpost.Tool{Definition: toolpost.Definition{Name: "no handler"}})
			f.status.Skipped = []toolpost.Finding{{Tool: "poison", Message: "its schema is not JSON"}}
		})
		synctest.Wait()
		if diff := cmp.Diff([]string{"my_server_szq4__a.b", "my_server_szq4__" + strings.Repeat("n", 60), "my_server_szq4__t", "my_server_weuy__t", "pre-t"}, names(g)); diff != "" {
			t.Error(diff)
		}
		got := strings.Join(findings(g), "\n")
		for _, want := range []string{
			"| of the file",
			`| server "my server" is called "my_server_weuy" in tool names`,
			`| server "my.server" is called "my_server_szq4" in tool names`,
			"my_server_szq4__a.b| the name has the character '.'",
			"nnn| the name has 76 characters",
			"| server p: a tool without a name, a handler or an input schema is left out",
			"pre-poison| server p: its schema is not JSON",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	})
}

func TestSelectionAndQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x")
		cfg.Servers[0].Allow, cfg.Servers[0].Deny = []string{"read_*", "list?"}, []string{"*_raw"}
		cfg.Servers[1].Deny = []string{"x.y"}
		cfg.Quiet = []string{"get_*", "a__list?"}
		g, f := open(t, cfg)
		f.last("a").connect("read_a", "read_raw", "list", "list1", "list22")
		f.last("b").connect("get_comments", "list1", "x.y", "xzy")
		synctest.Wait()
		if diff := cmp.Diff([]string{"a__list1", "a__read_a", "b__get_comments", "b__list1", "b__xzy"}, names(g)); diff != "" {
			t.Error(diff)
		}
		var quiet []string
		tools, _ := g.Live().Set().Tools(t.Context())
		for _, tool := range tools {
			if tool.Policy.Polled {
				quiet = append(quiet, tool.Name)
			}
		}
		if diff := cmp.Diff([]string{"a__list1", "b__get_comments"}, quiet); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("same", "1", "changed", "1", "gone", "1", "moved", "1"))
		for _, u := range f.started {
			u.connect("t")
		}
		same, changed, gone := f.last("same"), f.last("changed"), f.last("gone")
		release := make(chan struct{})
		gone.set(func(f *fake) {
			f.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				<-release
				return toolpost.TextResult("finished"), nil
			})
		})
		synctest.Wait()
		answer := make(chan string, 1)
		go func() { answer <- call(g, "gone__t") }()
		synctest.Wait()

		cfg := servers("moved", "1", "same", "1", "changed", "2", "new", "1")
		cfg.Servers[1].Prefix = new("s-")
		if err := g.Reload(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := f.count(); n != 6 {
			t.Errorf("%d servers were started, want 6", n)
		}
		if diff := cmp.Diff([]string{"changed__t", "moved__t", "s-t"}, names(g)); diff != "" {
			t.Error(diff)
		}
		if f.last("same") != same || same.isClosed() || !changed.isClosed() || gone.isClosed() {
			t.Error("want the same server kept, the changed one closed, the removed one open until its call ends")
		}

		late := make(chan string, 1)
		go func() { late <- call(g, "changed__t") }() // waits for the new one
		synctest.Wait()
		f.last("changed").connect("t", "u")
		f.last("new").connect("t")
		synctest.Wait()
		if got := <-late; got != "changed 2 t" {
			t.Errorf("got %q", got)
		}
		if diff := cmp.Diff([]string{"changed__t", "changed__u", "moved__t", "new__t", "s-t"}, names(g)); diff != "" {
			t.Error(diff)
		}

		close(release)
		if got := <-answer; got != "finished" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		if !gone.isClosed() {
			t.Error("the removed server is open after its last call")
		}
	})
}

func TestReloadKeepsToolsOfServerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "1"))
		f.last("a").connect("t", "gone")
		synctest.Wait()
		if err := g.Reload(t.Context(), servers("a", "2")); err != nil {
			t.Fatal(err)
		}
		f.last("a").fail(errors.New("command not found"))
		synctest.Wait()
		if got := call(g, "a__t"); !strings.Contains(got, "command not found") {
			t.Errorf("got %q", got)
		}
		if err := g.Reload(t.Context(), servers("a", "3")); err != nil { // the tools are kept once more
			t.Fatal(err)
		}
		set := g.Live().Set()
		f.last("a").connect("t")
		synctest.Wait()
		if got := call(g, "a__t"); got != "a 3 t" {
			t.Errorf("got %q", got)
		}
		if got := names(g); !slices.Equal(got, []string{"a__t"}) {
			t.Errorf("got %q", got)
		}
		r, err := set.Call(t.Context(), &toolpost.Call{Name: "a__gone"}) // by a client that did not list again
		if err != nil || !r.IsError() {
			t.Fatalf("got %v, %v", r, err)
		}
		if text, _ := r.FirstText(); !strings.Contains(text, `no longer has a tool "gone"`) {
			t.Errorf("got %q", text)
		}
	})
}

func TestReloadDrainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "1"))
		u := f.last("a")
		u.connect("t")
		release := make(chan struct{})
		u.set(func(f *fake) {
			f.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				<-release
				return nil, nil
			})
		})
		synctest.Wait()
		go call(g, "a__t")
		synctest.Wait()
		if err := g.Reload(t.Context(), servers()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(gateway.DrainTime - time.Second) // the bubble's clock
		synctest.Wait()
		if u.isClosed() {
			t.Error("closed while a call is under way")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !u.isClosed() {
			t.Error("open after the drain time")
		}
		close(release)
	})
}

func TestReloadErrors(t *testing.T) {
	g, f := open(t, servers("a", "1"))
	if err := g.Reload(t.Context(), servers("a", "2", "a", "3")); err == nil || !strings.Contains(err.Error(), `two servers are named "a"`) {
		t.Errorf("got %v", err)
	}
	if f.count() != 1 || f.last("a").isClosed() {
		t.Error("a refused configuration changed something")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(t.Context(), servers()); err == nil {
		t.Error("a closed gateway was replaceMembers")
	}
	if _, err := gateway.Start(t.Context(), servers("a", "1", "a", "1"), nil); err == nil {
		t.Error("two servers of one name were opened")
	}
}

func TestDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "1")
		g, f := open(t, cfg)
		f.last("a").connect("t")
		off := servers("a", "1")
		off.Servers[0].Disabled = true
		if err := g.Reload(t.Context(), off); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := g.Status()[0]; s.State != upstream.Disabled || s.Name != "a" || len(names(g)) > 0 || !f.last("a").isClosed() {
			t.Errorf("got %+v, tools %q", s, names(g))
		}
		if err := g.Reload(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if f.count() != 2 {
			t.Error("the server was not started again")
		}
	})
}

// No change is lost, however fast they come.
func TestWatchSeesLastState(t *testing.T) {
	g, f := open(t, servers("a", "x", "b", "x", "c", "x"))
	last := make(chan *gateway.Snapshot, 1)
	stop := g.WatchSnapshot(func(s *gateway.Snapshot) {
		select {
		case <-last:
		default:
		}
		last <- s
	})
	var all sync.WaitGroup
	for _, u := range f.started {
		all.Go(func() {
			for i := range 200 {
				u.connect(fmt.Sprintf("t%d", i))
			}
			u.set(func(f *fake) { f.status.Version = "done" })
		})
	}
	all.Wait()
	for {
		s := <-last
		if slices.ContainsFunc(s.Status, func(s upstream.Status) bool { return s.Version != "done" }) {
			continue // a later one comes, or the test hangs
		}
		break
	}
	if diff := cmp.Diff([]string{"a__t199", "b__t199", "c__t199"}, names(g)); diff != "" {
		t.Error(diff)
	}
	stop()
	for len(last) > 0 {
		<-last
	}
	f.last("a").fail(errors.New("x"))
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(last) > 0 {
		t.Error("f was called after stop")
	}
}
