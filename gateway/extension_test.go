package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

// extend gives the fakes extensions. Each answers with what answer returns, or
// with the method and the params that reached it.
func extend(f *fleet, declared map[string]string, answer func(who string, call *toolpost.Call) string) (heard *[]string) {
	heard = new([]string)
	for _, u := range f.started {
		who := u.cfg.Name
		if len(u.tools) == 0 {
			u.connect()
		}
		u.set(func(u *fake) {
			if u.features == nil {
				u.features = &toolpost.Features{}
			}
			u.features.Capabilities = json.RawMessage(declared[who])
			u.features.Extend = func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				raw := answer(who, call)
				if raw == "" {
					raw = fmt.Sprintf(`{"at":%q,"method":%q,"params":%s}`, who, call.Name, call.Params)
				}
				if raw == "fails" {
					return nil, errors.New(who + " fails")
				}
				return toolpost.RawResult(json.RawMessage(raw)), nil
			}
			u.features.Notified = func(call *toolpost.Call) {
				*heard = append(*heard, who+" "+call.Name+string(call.Params))
			}
		})
	}
	synctest.Wait()
	return heard
}

func plain(string, *toolpost.Call) string { return "" }

// send sends a request to the gateway and returns the result, or the error.
func send(t *testing.T, g *gateway.Gateway, session, method, params string) string {
	t.Helper()
	r, err := features(g).Extend(t.Context(), &toolpost.Call{Session: session, Name: method, Params: json.RawMessage(params)})
	if err != nil {
		return "error: " + err.Error()
	}
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestExtensionsAreDeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x", "c", "x", "d", "x")
		cfg.Servers[2].Extensions = []string{}
		cfg.Servers[3].Extensions = []string{"*/ui"}
		g, f := open(t, cfg)
		extend(f, map[string]string{
			"a": `{"tasks":{"list":{}}, "extensions":{"x/skills":{"n":1.0}}}`,
			"b": `{"tasks":{"cancel":{}},"extensions":{"x/skills":{"n":2,"m":[]}},"experimental":{"e":{}}}`,
			"c": `{"never":{}}`,
			"d": `{"extensions":{"x/ui":{},"x/other":{}}}`,
		}, plain)
		want := `{"tasks":{"list":{},"cancel":{}}, "extensions":{"x/skills":{"n":1.0,"m":[]},"x/ui":{}},"experimental":{"e":{}}}`
		if got := string(features(g).Capabilities); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// Servers that declare much do not make the handshake of clients long.
func TestManyExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x", "c", "x"))
		declared := func(name string) string { return `{"` + name + `":"` + strings.Repeat("n", 9_000) + `"}` }
		extend(f, map[string]string{"a": declared("a"), "b": declared("b"), "c": `{"c":{}}`}, plain)
		got := string(features(g).Capabilities)
		if len(got) > 16<<10 || !strings.Contains(got, `"a"`) || strings.Contains(got, `"b"`) || !strings.Contains(got, `"c"`) {
			t.Errorf("got %d bytes, %.50s", len(got), got)
		}
		if told := strings.Join(findings(g), "\n"); !strings.Contains(told, "server b: its extensions are not declared") {
			t.Errorf("got %s", told)
		}
		if got := send(t, g, "s", "b/do", "{}"); !strings.HasPrefix(got, `{"at":"b"`) {
			t.Errorf("got %s", got)
		}
	})
}

// A method goes to the server that declares it. Where several do, something in
// the params says which is meant.
func TestExtensionsAreRouted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x", "c", "x"))
		heard := extend(f, map[string]string{
			"a": `{"extensions":{"com.example/things":{},"io.example/both":{}}}`,
			"b": `{"experimental":{"org.example.both":{}}}`,
			"c": `{}`,
		}, plain)
		for _, test := range []struct{ method, params, want string }{
			{"things/do", `{ "x":1.0}`, `{"at":"a","method":"things/do","params":{ "x":1.0}}`},
			{"com.example/things/do", `{}`, `{"at":"a","method":"com.example/things/do","params":{}}`},
			{"both/do", `{"name":"b__x" , "n":1}`, `{"at":"b","method":"both/do","params":{"name":"x" , "n":1}}`},
			{"both/do", `{"id":"a__x"}`, `{"at":"a","method":"both/do","params":{"id":"x"}}`},
			{"both/do", `{"name":"c__x"}`, "error: servers a, b offer both/do, and nothing in the params says which is meant; use a name, id or uri from one of their lists, or connect to one of them alone"},
			{"both/do", `{}`, "error: servers a, b offer both/do"},
			{"unheard/of", `{}`, "error: servers a, b offer unheard/of"},
		} {
			if got := send(t, g, "s", test.method, test.params); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s %s: got %s, want %s", test.method, test.params, got, test.want)
			}
		}
		notify := features(g).Notified
		notify(&toolpost.Call{Name: "notifications/things/n", Params: json.RawMessage(`{"n":1}`)})
		notify(&toolpost.Call{Name: "notifications/both/n", Params: json.RawMessage(`{}`)})
		if diff := cmp.Diff([]string{`a notifications/things/n{"n":1}`, "a notifications/both/n{}", "b notifications/both/n{}"}, *heard); diff != "" {
			t.Error(diff)
		}
	})
}

// What a server says outside of calls has the ids and URIs that clients know, and
// the filter of extensions goes for it too.
func TestNotificationsOutsideOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x", "c", "x")
		cfg.Servers[2].Extensions = []string{"*/ui"}
		var heard []string
		g, f := open(t, cfg)
		g.Live().Watch(func(e toolpost.Event) {
			if call := e.Notification; call != nil {
				heard = append(heard, call.Session+": "+call.Name+string(call.Params))
			}
		})
		jobs(t, f, func(string) string { return "1" })
		f.last("c").set(func(u *fake) { u.features.Capabilities = json.RawMessage(`{"extensions":{"x/ui":{},"x/other":{}}}`) })
		create(t, g, "s", "a__job")
		create(t, g, "s", "b__job")
		say := func(name, session, method, params string) {
			f.last(name).Notify(toolpost.Event{Notification: &toolpost.Call{Session: session, Name: method, Params: json.RawMessage(params)}})
		}
		for _, name := range []string{"a", "b", "c"} {
			say(name, "", "notifications/tasks/status", `{"taskId":"1"}`)
			say(name, "t", "notifications/tasks/other", `{}`) // of no task
			say(name, "t", "notifications/other/x", `{"n":1.0}`)
			say(name, "", "notifications/other/y", `{"n":1.0}`)
			say(name, "t", "notifications/ui/z", `{}`)
		}
		want := []string{
			`s: notifications/tasks/status{"taskId":"1"}`, `t: notifications/other/x{"n":1.0}`, ": notifications/ui/z",
			`s: notifications/tasks/status{"taskId":"b__1"}`, `t: notifications/other/x{"n":1.0}`, ": notifications/ui/z",
			": notifications/ui/z",
		}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNobodyExtends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		extend(f, nil, plain)
		_, err := features(g).Extend(t.Context(), &toolpost.Call{Name: "things/do"})
		if !errors.Is(err, toolpost.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// Lists of several servers become one: names get prefixes, URIs keep their bytes
// unless two servers have them, and everything in between stays.
func TestExtensionLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x", "broken", "x"))
		declared := map[string]string{}
		for _, name := range []string{"a", "b", "broken"} {
			declared[name] = `{"extensions":{"io.modelcontextprotocol/skills":{},"x/things":{}}}`
		}
		var read string
		for _, u := range f.started {
			u.set(func(u *fake) {
				u.features = &toolpost.Features{Proxy: toolpost.Proxy{ReadUnlisted: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
					read = u.cfg.Name + " " + call.Name
					return toolpost.RawResult(json.RawMessage(`{"contents":[{"uri":"` + call.Name + `","text":"skill://pdf/SKILL.md"}]}`)), nil
				}}}
			})
		}
		extend(f, declared, func(who string, call *toolpost.Call) string {
			switch {
			case who == "broken" && strings.HasSuffix(call.Name, "/list"):
				return "fails"
			case call.Name == "skills/list" && who == "a":
				return `{ "skills":[{"uri":"skill://pdf/SKILL.md", "frontmatter":{"name":"pdf"},"resources":[{"uri":"skill://pdf/SKILL.md","digest":"sha256:aa"}]}],"ttlMs":5}`
			case call.Name == "skills/list" && strings.Contains(string(call.Params), "cursor"):
				return `{"skills":[{"uri":"skill://b/SKILL.md"}]}`
			case call.Name == "skills/list":
				return `{"skills":[{"uri":"skill://pdf/SKILL.md", "frontmatter":{"name":"pdf"},"resources":[{"uri":"skill://pdf/SKILL.md","digest":"sha256:bb"}]}],"nextCursor":"2"}`
			case call.Name == "x/things/list":
				return `{"n":1.0,"things":[{ "name" : "t","n":1.0},{"id":"` + who + `"},7]}`
			}
			return ""
		})
		want := `{ "skills":[{"uri":"skill://pdf/SKILL.md", "frontmatter":{"name":"pdf"},"resources":[{"uri":"skill://pdf/SKILL.md","digest":"sha256:aa"}]},` +
			`{"uri":"skill://b/pdf/SKILL.md", "frontmatter":{"name":"pdf"},"resources":[{"uri":"skill://b/pdf/SKILL.md","digest":"sha256:bb"}]},{"uri":"skill://b/SKILL.md"}],"ttlMs":0}`
		for range 2 {
			if got := send(t, g, "s", "skills/list", `{}`); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
		for uri, at := range map[string]string{
			"skill://pdf/SKILL.md":   "a skill://pdf/SKILL.md",
			"skill://b/pdf/SKILL.md": "b skill://pdf/SKILL.md",
			"skill://b/SKILL.md":     "b skill://b/SKILL.md",
		} {
			want := `{"at":"` + at[:1] + `","method":"skills/get","params":{"uri":"` + uri + `"}}` // as the client knows it
			if got := send(t, g, "s", "skills/get", `{"uri":"`+uri+`"}`); got != want {
				t.Errorf("%s: got %s, want %s", uri, got, want)
			}
			r, err := features(g).ReadUnlisted(t.Context(), &toolpost.Call{Name: uri})
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := r.MarshalJSON()
			if want := `{"contents":[{"uri":"` + uri + `","text":"skill://pdf/SKILL.md"}]}`; string(raw) != want {
				t.Errorf("read %s, want %s", raw, want)
			}
			if read != at {
				t.Errorf("%s: read %s, want %s", uri, read, at)
			}
		}
		things := `{"n":1.0,"things":[{ "name" : "a__t","n":1.0},{"id":"a__a"},7,{ "name" : "b__t","n":1.0},{"id":"b__b"},7]}`
		if got := send(t, g, "s", "x/things/list", `{}`); got != things {
			t.Errorf("got %s\nwant %s", got, things)
		}
		if got := send(t, g, "s", "x/things/list", `{"cursor":"2"}`); !strings.HasPrefix(got, "error: unknown cursor") {
			t.Errorf("got %s", got)
		}
	})
}

// Two servers that publish the same ui:// address both keep their apps.
func TestConflictingApps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x")
		var updated []string
		g, f := open(t, cfg)
		g.Live().Watch(func(e toolpost.Event) {
			if e.Resource != "" {
				updated = append(updated, e.Resource)
			}
		})
		var watched []string
		for _, u := range f.started {
			u.connect("show")
			u.set(func(u *fake) {
				who := u.cfg.Name
				u.handle(func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
					result := `{"content":[{"type":"resource_link","uri":"ui://view"},{"type":"resource","resource":{"uri":"ui://view","text":"ui://view"}},{"type":"text","text":"ui://view"}],"structuredContent":{"uri":"ui://view"}}`
					if call.Arguments != nil {
						return long(result), nil
					}
					return toolpost.RawResult(json.RawMessage(result)), nil
				})
				u.tools[0].Meta = json.RawMessage(`{"ui":{"resourceUri":"ui://view", "n":1.0},"ui/resourceUri":"ui://view"}`)
				u.features = &toolpost.Features{
					Resources: []*toolpost.Resource{{URI: "ui://view", Definition: json.RawMessage(`{"uri":"ui://view","n":1.0}`), Read: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
						return toolpost.RawResult(json.RawMessage(`{"contents":[{"uri":"` + call.Name + `","text":"` + who + `"}]}`)), nil
					}}},
					Subscribe: func(_ context.Context, uri string, on bool) error {
						watched = append(watched, who+" "+uri)
						return nil
					},
				}
			})
		}
		synctest.Wait()
		var got []string
		for _, r := range features(g).Resources {
			result, err := r.Read(t.Context(), &toolpost.Call{Name: r.URI})
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := result.MarshalJSON()
			got = append(got, r.URI+" "+string(raw))
			if err := features(g).Subscribe(t.Context(), r.URI, true); err != nil {
				t.Error(err)
			}
		}
		tools, err := g.Live().Set().Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			got = append(got, tool.Name+" "+string(tool.Meta))
			for _, arguments := range []json.RawMessage{nil, json.RawMessage("{}")} {
				r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: tool.Name, Arguments: arguments})
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := r.MarshalJSON()
				got = append(got, string(raw))
			}
		}
		result := func(uri string) string {
			return `{"content":[{"type":"resource_link","uri":"` + uri + `"},{"type":"resource","resource":{"uri":"` + uri + `","text":"ui://view"}},{"type":"text","text":"ui://view"}],"structuredContent":{"uri":"ui://view"}}`
		}
		want := []string{
			`ui://b/view {"contents":[{"uri":"ui://b/view","text":"b"}]}`,
			`ui://view {"contents":[{"uri":"ui://view","text":"a"}]}`,
			`a__show {"ui":{"resourceUri":"ui://view", "n":1.0},"ui/resourceUri":"ui://view"}`, result("ui://view"), result("ui://view"),
			`b__show {"ui":{"resourceUri":"ui://b/view", "n":1.0},"ui/resourceUri":"ui://b/view"}`, result("ui://b/view"), result("ui://b/view"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"b ui://view", "a ui://view"}, watched); diff != "" {
			t.Error(diff)
		}
		for _, u := range f.started {
			u.Notify(toolpost.Event{Resource: "ui://view"})
		}
		if diff := cmp.Diff([]string{"ui://view", "ui://b/view"}, updated); diff != "" {
			t.Error(diff)
		}
	})
}

// The resources that a long result names are known without its being loaded, and one
// that two servers have gets its other URI.
func TestLinksOfLongResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		for _, who := range []string{"a", "b"} {
			f.last(who).connect("tool")
			f.last(who).set(func(u *fake) {
				u.features = &toolpost.Features{
					Resources: []*toolpost.Resource{{URI: "x://same"}},
					Proxy: toolpost.Proxy{
						ReadUnlisted: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
							return toolpost.TextResult(who), nil
						},
					},
				}
				u.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
					return long(`{"content":[{"type":"resource_link","uri":"x://link"},{"type":"resource","resource":{"text":"","uri":"x://` + who + `"}},{"type":"resource_link","uri":"x://same"}]}`), nil
				})
			})
		}
		synctest.Wait()
		r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "b__tool"})
		if err != nil {
			t.Fatal(err)
		}
		o := hidden.EncodedOf(r).Long
		if edits := o.Edits(); len(edits) != 1 || string(edits[0].By) != `"x://b/same"` {
			t.Errorf("the edits are %v", edits)
		}
		o.Close()
		if _, err := o.Load(); err == nil {
			t.Error("the result was loaded")
		}
		for _, uri := range []string{"x://link", "x://b"} {
			read, err := features(g).ReadUnlisted(t.Context(), &toolpost.Call{Name: uri})
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := read.FirstText(); text != "b" {
				t.Errorf("%s is read from %s", uri, text)
			}
		}
	})
}

// long returns a result that is not in memory.
func long(result string) *toolpost.Result {
	message := []byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)
	spool, scanner := longjson.NewSpool("", new(longjson.Buffers)), new(longjson.Scanner)
	_ = spool.Add(message, int64(len(message)))
	_, _ = scanner.Write(message)
	return hidden.NewResult(hidden.Encoded{Long: longjson.NewObject(spool, scanner), Scan: &wire.Answer{}}).(*toolpost.Result)
}

// A list with more URIs than anybody has takes bounded work: those after the
// first ones keep their names.
func TestListOfManyURIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		uri := func(i int) string { return fmt.Sprintf("skill://s/%d", i) }
		const last = 20_000
		extend(f, map[string]string{"b": `{"extensions":{"io.modelcontextprotocol/skills":{}}}`}, func(string, *toolpost.Call) string {
			files := make([]string, last+1)
			for i := range files {
				files[i] = `{"uri":"` + uri(i) + `"}`
			}
			return `{"skills":[{"uri":"skill://s","resources":[` + strings.Join(files, ",") + `]}]}`
		})
		f.last("a").connect()
		f.last("a").set(func(u *fake) {
			u.features = &toolpost.Features{Resources: []*toolpost.Resource{resource(uri(0), "a", false), resource(uri(last), "a", false)}}
		})
		f.last("b").connect()
		synctest.Wait()
		got := send(t, g, "s", "skills/list", `{}`)
		if !strings.Contains(got, `"skill://b/s/0"`) || strings.Contains(got, fmt.Sprintf(`"skill://b/s/%d"`, last)) {
			t.Errorf("got %.200s … %s", got, got[max(0, len(got)-100):])
		}
	})
}
