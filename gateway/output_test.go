package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/store"
)

// The configuration says what is cut, also one that comes later.
func TestOutputsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := prefixed(servers("a", strings.Repeat("x", 5000)), "")
		g, f := openWith(t, cfg, &gateway.Options{Store: store.Memory(nil)})
		f.last("a").connect("big")
		synctest.Wait()
		size := func() int { return len(call(g, "big")) }
		if n := size(); n < 5000 {
			t.Errorf("a result within the default limit has %d bytes", n)
		}
		before := g.Live().Lookup("big")
		reload := func(o config.Output, want ...string) {
			t.Helper()
			next := *cfg
			next.Output = o
			if err := g.Reload(t.Context(), &next); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if diff := cmp.Diff(want, names(g)); diff != "" {
				t.Error(diff)
			}
		}
		reload(config.Output{}, "big", "tool_output_cache", "tool_output_cache_grep")
		if g.Live().Lookup("big") != before {
			t.Error("a tool is another one though nothing changed")
		}
		reload(config.Output{Chars: 1000}, "big", "tool_output_cache", "tool_output_cache_grep")
		if n := size(); n > 1010 { // … has three bytes
			t.Errorf("a result above the limit has %d bytes", n)
		}
		cfg.Servers[0].Outputs = []config.OutputLimit{{Tools: "bi?", Chars: -1}, {Tools: "*", Chars: 1000}}
		reload(config.Output{Chars: 1000}, "big")
		if n := size(); n < 5000 {
			t.Errorf("a result of a tool that is not to be cut has %d bytes", n)
		}
		cfg.Servers[0].Outputs = []config.OutputLimit{{Tools: "other", Chars: -1}, {Tools: "*", Chars: 2000}}
		reload(config.Output{Off: true}, "big")
		if n := size(); n < 5000 {
			t.Errorf("a result has %d bytes though nothing is to be cut", n)
		}
		reload(config.Output{Chars: 1000}, "big", "tool_output_cache", "tool_output_cache_grep")
		if n := size(); n < 1500 || n > 2010 {
			t.Errorf("a result of a tool with a limit of its own has %d bytes", n)
		}
	})
}

// Settings match the name that clients see, without hidden characters.
func TestSettingsOfHiddenNames(t *testing.T) {
	cfg := prefixed(servers("a", strings.Repeat("x", 5000)), "")
	cfg.Servers[0].Outputs, cfg.Quiet = []config.OutputLimit{{Tools: "big", Chars: 1000}}, []string{"big"}
	g, f := openWith(t, cfg, &gateway.Options{Store: store.Memory(nil)})
	f.last("a").connect("b\u200big")
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(call(g, "big")); n > 1010 {
		t.Errorf("a result above the limit has %d bytes", n)
	}
	if !g.Live().Lookup("big").Policy.Polled {
		t.Error("the tool is not quiet")
	}
	if got := findings(g); len(got) != 1 || !strings.Contains(got[0], "hidden characters") {
		t.Errorf("findings: %q", got)
	}
}
