package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/store"
)

const profiled = `{
	"mcpServers": {
		"git": {"command": "x", "tools": {"status": {"name": "state", "annotations": {"readOnlyHint": true}}}},
		"docs": {"command": "x"},
	},
	"profiles": {
		"read": {"readOnly": true, "clients": [{"name": "reader"}]},
		"git": {"servers": ["git"], "exclude": ["*__push"], "tools": {"git__commit": {"name": "save"}}},
		"typo": {"include": ["gti__*"], "dialect": "none"},
	},
}`

// toolsOf returns the names of the tools of a client, in order.
func toolsOf(t *testing.T, g *gateway.Gateway, c observe.Client) []string {
	t.Helper()
	live, err := g.Views().View(c)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	tools, _ := live.Set().Tools(t.Context()) // a Set never fails
	all := []string{}
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return all
}

func TestProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, parse(t, profiled))
		f.last("git").connect("commit", "push", "status")
		f.last("docs").connect("search")
		synctest.Wait()
		all := []string{"docs__search", "git__commit", "git__push", "git__state"}
		for _, tt := range []struct {
			client observe.Client
			want   []string
		}{
			{observe.Client{Name: "other"}, all},
			{observe.Client{Name: "reader"}, []string{"git__state"}},
			{observe.Client{Name: "Reader", View: "mcp"}, []string{"git__state"}},
			{observe.Client{Name: "reader", View: "git"}, []string{"git__state", "save"}},
			{observe.Client{View: "git/none"}, []string{"git__state", "save"}},
			{observe.Client{View: "typo"}, []string{}},
			{observe.Client{View: "gti"}, []string{`error: unknown profile or dialect "gti"; did you mean "git"?`}},
			{observe.Client{View: "cursr"}, []string{`error: unknown profile or dialect "cursr"; did you mean "cursor"?`}},
			{observe.Client{View: "git/nothing"}, []string{`error: unknown dialect "nothing"`}},
			{observe.Client{View: "mcp/git"}, []string{`error: unknown profile "mcp"`}},
		} {
			got := toolsOf(t, g, tt.client)
			slices.Sort(got)
			if len(got) == 1 && len(tt.want) == 1 && strings.HasPrefix(got[0], tt.want[0]) {
				continue
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%+v gets %q, want %q", tt.client, got, tt.want)
			}
		}
		live, err := g.Views().View(observe.Client{View: "git"})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"save": "git x commit", "git__state": "git x status"} {
			if got, err := live.CallText(t.Context(), name, nil); got != want || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		synctest.Wait()
		if got := strings.Join(findings(g), "\n"); !strings.Contains(got, `profile typo: include: "gti__*" matches no tool or prompt`) {
			t.Errorf("findings: %s", got)
		}
	})
}

// Nothing is said about tools and servers outside of the profile.
// The tools that read long outputs are part of every profile that does not exclude
// them, but not those of a server that are called alike.
func TestProfileReadsOutputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := openWith(t, parse(t, `{
			"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "prefix": ""}},
			"profiles": {"one": {"servers": ["a"]}, "two": {"include": ["a__*"], "exclude": ["*_grep"], "readOnly": false}},
		}`), &gateway.Options{Store: store.Memory(nil)})
		f.last("a").connect("t")
		f.last("b").connect("tool_output_cache_b")
		synctest.Wait()
		for profile, want := range map[string][]string{
			"one": {"a__t", "tool_output_cache", "tool_output_cache_grep"},
			"two": {"a__t", "tool_output_cache"},
		} {
			got := toolsOf(t, g, observe.Client{View: profile + "/none"})
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", profile, got, want)
			}
		}
	})
}

func TestMissingInProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, parse(t, profiled))
		f.last("git").connect("commit")
		f.last("docs").fail(errors.New("refused"))
		synctest.Wait()
		if err := g.Views().Missing(observe.Client{}, "docs__search"); err == nil {
			t.Error("without a profile, nothing is said about a server that is not ready")
		}
		if err := g.Views().Missing(observe.Client{View: "git"}, "docs__search"); err != nil {
			t.Errorf("a client of the profile hears: %v", err)
		}
	})
}

// Prompts, resources, subscriptions, instructions and extensions are those of the
// profile.
func TestProfileFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, parse(t, profiled))
		read := func(who string) toolpost.Handler {
			return func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult(who), nil }
		}
		var asked []string
		for _, name := range []string{"git", "docs"} {
			f.last(name).set(func(u *fake) {
				u.features = &toolpost.Features{
					Instructions: "about " + name,
					Prompts:      []*toolpost.Prompt{{Name: "p", Definition: json.RawMessage(`{"name":"p"}`), Get: read(name)}},
					Resources:    []*toolpost.Resource{{URI: name + "://a", Definition: json.RawMessage(`{"uri":"` + name + `://a","name":"a"}`), Read: read(name)}},
					Subscribe:    func(context.Context, string, bool) error { return nil },
					Proxy: toolpost.Proxy{
						ReadUnlisted: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
							asked = append(asked, name)
							return toolpost.TextResult(name), nil
						},
						Capabilities: json.RawMessage(`{"extensions":{"com.example/` + name + `":{}}}`),
						Extend:       read(name),
					},
				}
			})
			f.last(name).connect("t")
		}
		synctest.Wait()
		live, err := g.Views().View(observe.Client{View: "git"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // what the first listing finds has the gateway list again
		features := live.Features()
		if len(features.Prompts) != 1 || features.Prompts[0].Name != "git__p" || len(features.Resources) != 1 || features.Resources[0].URI != "git://a" {
			t.Errorf("prompts %v, resources %v", features.Prompts, features.Resources)
		}
		if features.Instructions != "about git" || !strings.Contains(string(features.Capabilities), "com.example/git") || strings.Contains(string(features.Capabilities), "docs") {
			t.Errorf("instructions %q, capabilities %s", features.Instructions, features.Capabilities)
		}
		if _, err := features.ReadUnlisted(t.Context(), &toolpost.Call{Name: "docs://c"}); err != nil || !slices.Equal(asked, []string{"git"}) {
			t.Errorf("%v; asked: %q", err, asked)
		}
		if err := features.Subscribe(t.Context(), "docs://a", true); err == nil {
			t.Error("a resource of another server can be watched")
		}
		if err := features.Subscribe(t.Context(), "git://a", true); err != nil {
			t.Error(err)
		}
		// git is alone in the profile, and so gets what it does not declare.
		if got := answer(t, features.Extend, &toolpost.Call{Name: "com.example/docs/do"}); got != "git" {
			t.Errorf("a method of another server is answered with %s", got)
		}
		if live.Features() != features {
			t.Error("the same features are others")
		}
	})
}

// A resource whose URI is the template of another server brings that one neither
// into a profile nor out of it.
func TestProfileTemplates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, parse(t, profiled))
		for name, template := range map[string]bool{"git": true, "docs": false} {
			f.last(name).set(func(u *fake) {
				u.features = &toolpost.Features{Resources: []*toolpost.Resource{{
					URI: "git://{id}", Template: template, Definition: json.RawMessage(`{"name":"` + name + `"}`),
					Read: func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult(name), nil },
				}}}
			})
			f.last(name).connect("t")
		}
		synctest.Wait()
		live, err := g.Views().View(observe.Client{View: "git"})
		if err != nil {
			t.Fatal(err)
		}
		if all := live.Features().Resources; len(all) != 1 || !all[0].Template {
			t.Errorf("the profile has %d resources", len(all))
		}
	})
}

// A reload applies to sessions at once; a profile that is gone is an error.
func TestProfilesReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, parse(t, profiled))
		f.last("git").connect("commit", "push")
		f.last("docs").connect("search")
		synctest.Wait()
		client, before := observe.Client{View: "git"}, f.count()
		if got := toolsOf(t, g, client); !slices.Equal(got, []string{"save"}) {
			t.Errorf("before: %q", got)
		}
		if err := g.Reload(t.Context(), parse(t, strings.Replace(profiled, `"*__push"`, `"*__commit"`, 1))); err != nil {
			t.Fatal(err)
		}
		if got := toolsOf(t, g, client); !slices.Equal(got, []string{"git__push"}) {
			t.Errorf("after: %q", got)
		}
		if err := g.Reload(t.Context(), parse(t, strings.Replace(profiled, `"git": {"servers"`, `"other": {"servers"`, 1))); err != nil {
			t.Fatal(err)
		}
		if got := toolsOf(t, g, client); !strings.Contains(got[0], `unknown profile or dialect "git"; it may have been removed`) {
			t.Errorf("when it is gone: %q", got)
		}
		if f.count() != before {
			t.Errorf("%d servers were started again", f.count()-before)
		}
	})
}

// With a profile for all clients, no other one is served; without its token, a
// profile is served to no client.
func TestOneProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := parse(t, strings.Replace(profiled, `"readOnly": true`, `"token": "${UNSET_TOKEN}"`, 1))
		g, f := openWith(t, cfg, &gateway.Options{Profile: "git"})
		f.last("git").connect("commit")
		synctest.Wait()
		for view, want := range map[string]string{"": "save", "git": "save", "none": "save", "read": `error: this address serves the profile "git" only`} {
			if got := toolsOf(t, g, observe.Client{Name: "reader", View: view}); !strings.HasPrefix(got[0], want) {
				t.Errorf("%s: %q", view, got)
			}
		}
		other, _ := open(t, cfg)
		if got := toolsOf(t, other, observe.Client{Name: "reader"}); !strings.Contains(got[0], "UNSET_TOKEN") {
			t.Errorf("a client of a profile without its token gets %q", got)
		}
	})
	if _, err := gateway.Start(t.Context(), &config.Config{}, &gateway.Options{Profile: "git"}); err == nil {
		t.Error("a profile that does not exist is served")
	}
}

// For a client that defers tools, known tools keep their places.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("s", "x"))
		client := observe.Client{Name: "claude-code", Version: "2.1.400"}
		var got []string
		for _, names := range [][]string{{"m", "z"}, {"a", "m", "z"}, {"a", "z"}, {"a", "b", "m", "z"}} {
			f.last("s").connect(names...)
			synctest.Wait()
			got = append(got, strings.Join(toolsOf(t, g, client), " "))
		}
		want := []string{"s__m s__z", "s__m s__z s__a", "s__z s__a", "s__m s__z s__a s__b"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := toolsOf(t, g, observe.Client{Name: "other"}); !slices.IsSorted(got) {
			t.Errorf("another client gets %q", got)
		}
	})
}
