package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// TestRestart: one server ends and starts again; its tools stay listed, and a call of another
// server goes on.
func TestRestart(t *testing.T) { synctest.Test(t, testRestart) }

func testRestart(t *testing.T) {
	cfg := servers("a", "a", "b", "b", "off", "off")
	cfg.Servers[2].Disabled = true
	g, f := open(t, cfg)
	old := f.last("a")
	old.connect("x")
	goOn := make(chan struct{})
	f.last("b").connectTool("y", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		<-goOn
		return toolpost.TextResult("done"), nil
	})
	synctest.Wait()
	answer := make(chan string)
	go func() { answer <- call(g, "b__y") }()
	synctest.Wait()

	restarted := make(chan upstream.Status)
	go func() {
		s, err := g.Restart(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		restarted <- s
	}()
	synctest.Wait()
	again := make(chan upstream.Status)
	go func() {
		s, err := g.Restart(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		again <- s
	}()
	synctest.Wait()
	if !old.isClosed() || f.last("a") == old {
		t.Error("the server was not started again")
	}
	if got := strings.Join(names(g), " "); got != "a__x b__y" {
		t.Errorf("while it starts, the tools are %s", got)
	}
	f.last("a").connect("x", "z")
	for _, done := range []chan upstream.Status{restarted, again} { // also that which the other one has overtaken
		if s := <-done; s.State != upstream.Ready || s.Tools != 2 {
			t.Errorf("got %+v", s)
		}
	}
	if got := strings.Join(names(g), " "); got != "a__x a__z b__y" {
		t.Errorf("then the tools are %s", got)
	}
	close(goOn)
	if got := <-answer; got != "done" {
		t.Errorf("the call of another server: %s", got)
	}
	for name, want := range map[string]string{"aa": `did you mean "a"?`, "off": "is disabled in the configuration"} {
		if _, err := g.Restart(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
