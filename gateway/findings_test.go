package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A glob of quiet tools that matches none is reported, but not before all
// servers have listed their tools.
func TestUnmatchedQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x")
		cfg.Quiet = []string{"get_*", "b__list", "raed", "a__raed", "xyzzy"}
		g, f := open(t, cfg)
		f.last("a").connect("get_comments", "read")
		synctest.Wait()
		if got := findings(g); len(got) > 0 {
			t.Errorf("before b is ready: %q", got)
		}
		f.last("b").connect("list")
		synctest.Wait()
		want := []string{
			`| quiet: "raed" matches no tool; did you mean "read"?`,
			`| quiet: "a__raed" matches no tool; did you mean "a__read"?`,
			`| quiet: "xyzzy" matches no tool; "toolpost list" shows the tools`,
		}
		if diff := cmp.Diff(want, findings(g)); diff != "" {
			t.Error(diff)
		}
	})
}

// Servers with the same tools and the same prefix are reported in one line.
func TestEqualPrefixes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, prefixed(servers("a", "x", "b", "x", "c", "x"), ""))
		f.last("a").connect("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "c__t2")
		f.last("b").connect("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9")
		f.last("c").connect("t1", "t2")
		synctest.Wait()
		want := []string{
			"| server b: 9 of its tools have names that server a has too: t1 (called b__t1), t2 (called b__t2), t3 (called b__t3), " +
				"t4 (called b__t4), t5 (called b__t5) and 4 more; give one of them another prefix",
			"| server c: 2 of its tools have names that server a has too: t1 (called c__t1), t2 (called c__t2_b2vd); give one of them another prefix",
		}
		if diff := cmp.Diff(want, findings(g)); diff != "" {
			t.Error(diff)
		}
	})
}

// The error of a server that cannot be started names the server once, as the
// errors of all servers do.
func TestStartErrorNamesTheServerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x")
		cfg.Servers[0].Err = errors.New("mcpServers.a.env.K is not set")
		g, _ := open(t, cfg)
		if got, want := g.Status()[0].Err.Error(), `server "a": mcpServers.a.env.K is not set`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A server that becomes ready while its tools are read keeps the tools that it
// had before a reload, until they are read again.
func TestReadyWhileListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "1"))
		f.last("a").connect("t")
		synctest.Wait()
		if err := g.Reload(t.Context(), servers("a", "2")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		u := f.last("a")
		u.set(func(f *fake) {
			f.listing = func() {
				u.mu.Lock()
				defer u.mu.Unlock()
				u.status.State, u.listing = upstream.Ready, nil
				u.tools = []*toolpost.Tool{tool("new", "a 2")}
			}
		})
		synctest.Wait()
		if got := strings.Join(names(g), " "); got != "a__t" {
			t.Errorf("while the server became ready, the tools were %q", got)
		}
		u.Notify(toolpost.Event{})
		synctest.Wait()
		if got := strings.Join(names(g), " "); got != "a__new" {
			t.Errorf("after that, the tools were %q", got)
		}
	})
}
