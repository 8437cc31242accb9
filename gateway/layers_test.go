package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
)

// A tool is quiet by a name that it has.
func TestQuietByOwnNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := prefixed(servers("a", "x", "b", "x"), "")
		cfg.Quiet = []string{"a__t", "b__u"}
		cfg.Servers[0].Prefix = new("b__")
		g, f := open(t, cfg)
		f.last("a").connect("u", "t") // b__u, b__t
		f.last("b").connect("u")      // u
		synctest.Wait()
		for name, want := range map[string]bool{"b__u": true, "b__t": false, "u": false} {
			if got := g.Live().Lookup(name).Policy.Polled; got != want {
				t.Errorf("%s: %v, want %v; findings: %q", name, got, want, findings(g))
			}
		}
	})
}

// A toolset that cannot be listed any more keeps its tools and their names, and
// one that panics does not end the servers.
func TestListingThatFails(t *testing.T) {
	fails := func() ([]*toolpost.Tool, error) { return nil, errors.New("on purpose") }
	for name, fail := range map[string]func() ([]*toolpost.Tool, error){
		"an error": fails, "a panic": func() ([]*toolpost.Tool, error) { panic("on purpose") },
	} {
		t.Run(name, func(t *testing.T) {
			g, f := open(t, servers("late", "x"))
			broken := false
			tools := toolpost.Tools{toolpost.New("t", "", func(context.Context, struct{}) (string, error) { return "", nil }, nil)}
			ts := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
				if broken {
					return fail()
				}
				return tools, nil
			})
			if err := g.Add("own", ts); err != nil {
				t.Fatal(err)
			}
			broken = true
			f.last("late").connect("t")
			if err := g.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := names(g); !slices.Equal(got, []string{"late__t", "own__t"}) {
				t.Errorf("tools: %q", got)
			}
			if got := strings.Join(findings(g), "\n"); !strings.Contains(got, "on purpose") {
				t.Errorf("findings: %s", got)
			}
		})
	}
}
