package gateway_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/gateway"
)

// A gateway lists what its servers listed last, before they have connected.
func TestCatalog(t *testing.T) {
	dir := t.TempDir()
	options := func() *gateway.Options {
		return &gateway.Options{Catalog: &gateway.Catalog{Dir: dir, Config: "c"}}
	}
	synctest.Test(t, func(t *testing.T) {
		g, f := openWith(t, servers("a", "x", "down", "x"), options())
		f.last("a").connect("t", "u")
		f.last("down").fail(errors.New("refused"))
		synctest.Wait()
		if got := names(g); !slices.Equal(got, []string{"a__t", "a__u"}) {
			t.Errorf("got %q", got)
		}
	})
	synctest.Test(t, func(t *testing.T) { // warm
		g, f := openWith(t, servers("a", "x", "down", "x"), options())
		began := time.Now()
		if err := g.Live().Ready(t.Context()); err != nil || time.Since(began) != 0 {
			t.Error("clients wait although all lists are known", err)
		}
		before, _ := g.Live().Set().Tools(t.Context())
		if got := names(g); !slices.Equal(got, []string{"a__t", "a__u"}) {
			t.Errorf("got %q", got)
		}
		answer := make(chan string, 1)
		go func() { answer <- call(g, "a__t") }()
		synctest.Wait()
		f.last("a").set(func(f *fake) { // the tools stay what they are
			f.tools[0].Handler = tool("t", "a now").Handler
		})
		f.last("a").end()
		synctest.Wait()
		if got := <-answer; got != "a now t" {
			t.Errorf("got %q", got)
		}
		after, _ := g.Live().Set().Tools(t.Context())
		if !slices.Equal(before, after) {
			t.Error("the tools are others although the server lists the same")
		}
	})
	synctest.Test(t, func(t *testing.T) { // another command is another server
		g, f := openWith(t, servers("a", "y"), options())
		if got := names(g); len(got) != 0 {
			t.Errorf("got %q", got)
		}
		ready := make(chan error, 1)
		go func() { ready <- g.Live().Ready(t.Context()) }()
		synctest.Wait()
		select {
		case <-ready:
			t.Error("clients do not wait for a server whose lists are not known")
		default:
		}
		f.last("a").connect()
		<-ready
	})
}

// A server that does not answer is waited for once, and not again at the next
// start.
func TestCatalogOfHangingServer(t *testing.T) {
	dir := t.TempDir()
	options := func() *gateway.Options {
		return &gateway.Options{Catalog: &gateway.Catalog{Dir: dir, Config: "c"}}
	}
	synctest.Test(t, func(t *testing.T) {
		openWith(t, servers("hangs", "x"), options())
		time.Sleep(6 * time.Second) // the bubble's clock
	})
	synctest.Test(t, func(t *testing.T) {
		g, _ := openWith(t, servers("hangs", "x"), options())
		began := time.Now()
		if err := g.Live().Ready(t.Context()); err != nil || time.Since(began) != 0 {
			t.Error(time.Since(began), err)
		}
	})
}

// A server at an address that may start after its gateway is waited for at each start,
// until its lists are known.
func TestCatalogOfLateServer(t *testing.T) {
	dir := t.TempDir()
	for _, lists := range []string{"", "t", "stored"} {
		synctest.Test(t, func(t *testing.T) {
			cfg := servers("late", "")
			cfg.Servers[0].URL = "http://late.example"
			g, f := openWith(t, cfg, &gateway.Options{Catalog: &gateway.Catalog{Dir: dir, Config: "c"}, Starting: 20 * time.Second})
			began, waits := time.Now(), 10*time.Second
			switch lists {
			case "t":
				time.AfterFunc(waits, func() { f.last("late").connect("t") })
			case "":
				time.AfterFunc(waits, func() { f.last("late").fail(errors.New("nothing listens")) })
			default:
				waits = 0
			}
			if err := g.Live().Ready(t.Context()); err != nil || time.Since(began) != waits {
				t.Errorf("lists %q: %v after %v", lists, err, time.Since(began))
			}
			synctest.Wait()
		})
	}
}

// A folder that cannot be used is reported, and nothing else.
func TestNoCatalog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		g, f := openWith(t, servers("a", "x"), &gateway.Options{Catalog: &gateway.Catalog{Dir: file, Config: "c"}})
		f.last("a").connect("t")
		synctest.Wait()
		if got := call(g, "a__t"); got != "a x t" {
			t.Errorf("got %q", got)
		}
	})
}

// A tool whose name another server wants too keeps it at the next start, even if
// the other server answers first and comes first in the file.
func TestCatalogOfNames(t *testing.T) {
	dir := t.TempDir()
	options := func() *gateway.Options {
		return &gateway.Options{Catalog: &gateway.Catalog{Dir: dir, Config: "c"}}
	}
	synctest.Test(t, func(t *testing.T) {
		_, f := openWith(t, prefixed(servers("old", "x"), ""), options())
		f.last("old").connect("t")
		synctest.Wait()
	})
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			g, f := openWith(t, prefixed(servers("new", "x", "old", "x"), ""), options())
			f.last("new").connect("t")
			f.last("old").connect("t")
			synctest.Wait()
			if got := call(g, "t") + ", " + call(g, "new__t"); got != "old x t, new x t" {
				t.Errorf("got %q", got)
			}
		})
	}
}
