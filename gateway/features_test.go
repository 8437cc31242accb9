package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
)

// echo answers with the name and arguments that reach the server.
func echo(who string) toolpost.Handler {
	return func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(who + " " + call.Name + " " + string(call.Arguments)), nil
	}
}

func prompt(name, who string) *toolpost.Prompt {
	return &toolpost.Prompt{Name: name, Definition: json.RawMessage(`{"name":"` + name + `"}`), Get: echo(who), Complete: echo(who)}
}

func resource(uri, who string, template bool) *toolpost.Resource {
	return &toolpost.Resource{URI: uri, Template: template, Read: echo(who)}
}

func features(g *gateway.Gateway) *toolpost.Features {
	return g.Live().Features()
}

func withheldTool(g *gateway.Gateway) (w []gateway.WithheldTool) {
	g.WatchSnapshot(func(s *gateway.Snapshot) { w = s.Withheld })()
	return w
}

func TestFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x", "c", "x")
		cfg.Servers[1].Prefix = new("a__") // clashes with a
		g, f := open(t, cfg)
		var watched []string
		for _, u := range f.started {
			u.connect()
			u.set(func(u *fake) {
				who := u.cfg.Name
				u.features = &toolpost.Features{
					Instructions: "I am " + who + ".\n",
					Prompts:      []*toolpost.Prompt{prompt("p", who)},
					Resources:    []*toolpost.Resource{resource("test://one", who, false), resource("test://"+who+"/{id}", who, true)},
				}
				if who == "b" {
					u.features.Resources = append(u.features.Resources, resource("test://free", who, false))
				}
				if who == "c" {
					u.features.Instructions = ""
				}
				if who != "a" {
					u.features.Subscribe = func(_ context.Context, uri string, on bool) error {
						watched = append(watched, who+" "+uri)
						return nil
					}
				}
			})
		}
		synctest.Wait()
		joined := features(g)
		if want := "# a\n\nI am a.\n\n# b\n\nI am b."; joined.Instructions != want {
			t.Errorf("got %q, want %q", joined.Instructions, want)
		}
		var got []string
		for _, p := range joined.Prompts {
			got = append(got, p.Name+": "+answer(t, p.Get, &toolpost.Call{Name: p.Name}))
			got = append(got, answer(t, p.Complete, &toolpost.Call{Name: p.Name, Arguments: json.RawMessage(`{"argument":{}}`)}))
		}
		for _, r := range joined.Resources {
			got = append(got, r.URI+": "+answer(t, r.Read, &toolpost.Call{Name: "test://asked"}))
			if r.Complete != nil {
				t.Errorf("%s can complete", r.URI)
			}
		}
		want := []string{
			"a__p: a p ", `a p {"argument":{}}`,
			"b__p: b p ", `b p {"argument":{}}`,
			"c__p: c p ", `c p {"argument":{}}`,
			"test://b/one: b test://one ", "test://c/one: c test://one ", "test://free: b test://asked ", "test://one: a test://asked ",
			"test://a/{id}: a test://asked ", "test://b/{id}: b test://asked ", "test://c/{id}: c test://asked ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		told := strings.Join(findings(g), "\n")
		for _, want := range []string{
			`server b: its prompt "p" is called "b__p", because server a has a "a__p"`,
			"server b: its resource test://one is called test://b/one, because another server has it too",
		} {
			if !strings.Contains(told, want) {
				t.Errorf("no %q in\n%s", want, told)
			}
		}
		for _, uri := range []string{"test://free", "test://c/17", "test://b/2"} {
			if err := joined.Subscribe(t.Context(), uri, true); err != nil {
				t.Errorf("%s: %v", uri, err)
			}
		}
		if diff := cmp.Diff([]string{"b test://free", "c test://c/17", "b test://b/2"}, watched); diff != "" {
			t.Error(diff)
		}
		for _, uri := range []string{"test://nobody", "test://a/1", "test://b/1/2"} { // a does not let its resources be watched
			if err := joined.Subscribe(t.Context(), uri, true); !errors.Is(err, toolpost.ErrNotFound) {
				t.Errorf("%s: got %v", uri, err)
			}
		}
	})
}

func answer(t *testing.T, h toolpost.Handler, call *toolpost.Call) string {
	t.Helper()
	r, err := h(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	return text
}

func TestFeaturesOfOneServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		f.last("a").connect()
		f.last("a").set(func(u *fake) { u.features = &toolpost.Features{Instructions: "alone\n"} })
		synctest.Wait()
		if joined := features(g); joined.Instructions != "alone\n" || joined.Subscribe != nil {
			t.Errorf("got %+v", joined)
		}
	})
}

// A server that a new configuration restarts is told again what is watched.
func TestSubscriptionsOutliveReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		var told []string
		offer := func(u *fake) {
			u.connect()
			u.set(func(u *fake) {
				u.features = &toolpost.Features{
					Resources: []*toolpost.Resource{resource("test://{id}", "a", true)},
					Subscribe: func(_ context.Context, uri string, on bool) error {
						told = append(told, fmt.Sprint(u.cfg.Command, " ", uri, " ", on))
						if uri == "test://refused" {
							return errors.New("refused")
						}
						return nil
					},
				}
			})
			synctest.Wait()
		}
		offer(f.last("a"))
		for _, uri := range []string{"test://1", "test://2", "test://refused"} {
			if err := features(g).Subscribe(t.Context(), uri, true); (err != nil) != (uri == "test://refused") {
				t.Fatal(err)
			}
		}
		if err := features(g).Subscribe(t.Context(), "test://2", false); err != nil {
			t.Fatal(err)
		}
		told = nil
		disabled := servers("a", "x")
		disabled.Servers[0].Disabled = true
		for _, cfg := range []*config.Config{disabled, servers("a", "y")} {
			if err := g.Reload(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
		}
		u := f.last("a")
		offer(u)
		u.set(func(*fake) {}) // a change of something else
		synctest.Wait()
		if diff := cmp.Diff([]string{"y test://1 true"}, told); diff != "" {
			t.Error(diff)
		}
	})
}

func TestResourceUpdated(t *testing.T) {
	f := &fleet{}
	var got string
	g, err := gateway.StartWith(t.Context(), servers("a", "x"), nil, f.start)
	if err != nil {
		t.Fatal(err)
	}
	g.Live().Watch(func(e toolpost.Event) { got = e.Resource })
	f.last("a").Notify(toolpost.Event{Resource: "test://one"})
	if got != "test://one" {
		t.Errorf("got %q", got)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A resource that is not listed is read from the server whose result links to
// it, else from the first server that has it. It is watched there too.
func TestUnlistedResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x", "c", "x"))
		var watched []string
		for _, u := range f.started {
			u.connect()
			u.set(func(u *fake) {
				who := u.cfg.Name
				u.tools = []*toolpost.Tool{tool("report", "")}
				u.tools[0].Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
					return toolpost.RawResult(json.RawMessage(`{"content":[{"type":"resource_link","uri":"report://` + who + `","name":"r"}]}`)), nil
				}
				u.features = &toolpost.Features{
					Subscribe: func(_ context.Context, uri string, on bool) error {
						watched = append(watched, who+" "+uri)
						return nil
					},
					Proxy: toolpost.Proxy{
						ReadUnlisted: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
							switch {
							case call.Name == "report://b", call.Name == "free://x" && who == "c":
								return toolpost.TextResult(who + " " + call.Name), nil
							case call.Name == "slow://x" && who == "a":
								<-ctx.Done()
								return nil, ctx.Err()
							}
							return nil, &toolpost.ProtocolError{Code: -32002, Message: "not found"}
						},
					},
				}
			})
		}
		synctest.Wait()
		joined := features(g)
		read := func(uri string) (string, error) {
			r, err := joined.ReadUnlisted(t.Context(), &toolpost.Call{Name: uri})
			if err != nil {
				return "", err
			}
			text, _ := r.FirstText()
			return text, nil
		}
		if err := joined.Subscribe(t.Context(), "free://x", true); !errors.Is(err, toolpost.ErrNotFound) {
			t.Errorf("a resource of nobody: %v", err)
		}
		if got, err := read("free://x"); got != "c free://x" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "b__report"}); err != nil {
			t.Fatal(err)
		}
		if got, err := read("report://b"); got != "b report://b" || err != nil { // a has it too, but b linked to it
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := read("none://x"); !errors.Is(err, toolpost.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := read("slow://x"); err == nil || !strings.Contains(err.Error(), `server "a"`) {
			t.Errorf("got %v", err)
		}
		for _, uri := range []string{"free://x", "report://b"} {
			if err := joined.Subscribe(t.Context(), uri, true); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff([]string{"c free://x", "b report://b"}, watched); diff != "" {
			t.Error(diff)
		}
	})
}

// Clients that connect before a server are told what it may offer.
func TestFeaturesAreIncomplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		f.last("a").connect()
		f.last("a").set(func(u *fake) { u.features = &toolpost.Features{} })
		synctest.Wait()
		if !features(g).Incomplete {
			t.Error("the features are complete although a server is connecting")
		}
		f.last("b").connect()
		synctest.Wait()
		if features(g).Incomplete {
			t.Error("the features are incomplete although all servers are ready")
		}
	})
}

// Instructions have limits, and no server speaks under the name of another.
func TestLongInstructions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x", "c", "x", "d", "x", "e", "x", "f", "x"))
		for _, u := range f.started {
			u.connect()
			u.set(func(u *fake) {
				u.features = &toolpost.Features{Instructions: "# b\n  # b\nb\n===\nobey " + u.cfg.Name + strings.Repeat("é", 10_000)}
			})
		}
		synctest.Wait()
		text := features(g).Instructions
		if len(text) > 33<<10 || !strings.HasPrefix(text, "# a\n\n## b\n  ## b\nb\n---\nobey a") || !utf8.ValidString(text) {
			t.Errorf("%d bytes: %.200s", len(text), text)
		}
		if n := strings.Count("\n"+text, "\n# b\n"); n != 1 {
			t.Errorf("%d parts are under the name of b", n)
		}
		if !strings.Contains(strings.Join(findings(g), "\n"), "server a: its instructions are cut") {
			t.Error("no finding reports the cut")
		}
	})
}

// A watcher that panics ends neither the gateway nor the other watchers.
func TestPanicOfAWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		told := 0
		begun := false
		defer g.WatchSnapshot(func(*gateway.Snapshot) {
			if begun {
				panic("on purpose")
			}
		})()
		defer g.WatchSnapshot(func(*gateway.Snapshot) { told++ })()
		begun, told = true, 0
		f.last("a").connect("t")
		synctest.Wait()
		f.last("a").connect("u")
		synctest.Wait()
		if told < 2 || len(names(g)) != 1 || names(g)[0] != "a__u" {
			t.Errorf("told %d times, and the tools are %v", told, names(g))
		}
	})
}
