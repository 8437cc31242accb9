package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// TestDirect: a tool is had directly only where a gateway that starts now would have the same.
func TestDirect(t *testing.T) { synctest.Test(t, testDirect) }

func testDirect(t *testing.T) {
	prefix := "a_"
	cfg := &config.Config{Servers: []config.Server{
		{Config: upstream.Config{Name: "a", Command: "a"}},
		{Config: upstream.Config{Name: "b", Command: "b"}, Prefix: &prefix},
	}, Approvals: []config.ApprovalList{{Rules: []config.ApprovalRule{{Action: "ask", Tools: []string{"ask"}}}}}}
	g, f := open(t, cfg)
	direct := func(name, fails string) *toolpost.Tool {
		t.Helper()
		d, _, err := g.Direct(t.Context(), name)
		if (err != nil) != (fails != "") || err != nil && !strings.Contains(err.Error(), fails) {
			t.Fatalf("%s: %v, want %q", name, err, fails)
		}
		return d
	}
	direct("a__x", "there is no tool")
	f.last("a").connect("x", "ask")
	synctest.Wait()
	direct("a__x", `server "b", which may have the tool, is connecting`)
	f.last("b").connect("y")
	synctest.Wait()
	r, err := direct("a__x", "").Handler(t.Context(), &toolpost.Call{Name: "a__x"})
	if text, _ := r.FirstText(); err != nil || text != "a a x" {
		t.Errorf("%q, %v", text, err)
	}
	direct("a__ask", "the user may have to approve a call")
	known := direct("a__x", "")
	cfg.Approvals[0].Rules[0].Tools = []string{"x"}
	if err := g.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if r, err := known.Handler(t.Context(), &toolpost.Call{Name: "a__x"}); r != nil || err != nil {
		t.Errorf("a call that the user has to approve by now: %v, %v", r, err)
	}
	cfg.Approvals = nil
	if err := g.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	f.last("b").connect("y", "_x")
	synctest.Wait()
	direct("a__x", `server "b" has a tool of that name too`)
	f.last("b").connect("y")
	f.last("a").fail(errors.New("lost"))
	synctest.Wait()
	direct("a__x", `server "a" is failed`)
}
