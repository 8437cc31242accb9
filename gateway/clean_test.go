package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// listed returns a tool as its server lists it.
func listed(t *testing.T, definition string) *toolpost.Tool {
	t.Helper()
	var d struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
		Annotations               toolpost.Annotations
		Meta                      json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(definition), &d); err != nil {
		t.Fatal(err)
	}
	tool := tool(d.Name, "it")
	tool.Title, tool.Description, tool.Raw = d.Title, d.Description, json.RawMessage(definition)
	tool.Annotations, tool.Meta = d.Annotations, d.Meta
	tool.Input = schema.MustParse(string(d.InputSchema))
	if d.OutputSchema != nil {
		tool.Output = schema.MustParse(string(d.OutputSchema))
	}
	return tool
}

const hiddenTool = `{"name":"a\u200bdd", "title":"A\u202ed", "description":"Adds.\u001b[2J` + "\U000e0041\U000e0042" + `",
 "inputSchema":{"type":"object","description":"x\u2066","properties":{"description":{"type":"string","title":"t\u0007"},"default":{"description":"d\u200b","default":"keep\u200b"},
  "k\u200by":{"enum":["v\u200b"],"const":{"description":"v\u200b"}}},"anyOf":[{"description":"o\u200b"}]},
 "outputSchema":{"type":"object","description":"y\u0000"},
 "annotations":{"title":"T\u200b","other":"\u200b"}, "_meta":{"description":"m\u200b"}}`

const visibleTool = `{"name":"add", "title":"Ad", "description":"Adds.[2J",
 "inputSchema":{"type":"object","description":"x","properties":{"description":{"type":"string","title":"t"},"default":{"description":"d","default":"keep\u200b"},
  "k\u200by":{"enum":["v\u200b"],"const":{"description":"v\u200b"}}},"anyOf":[{"description":"o"}]},
 "outputSchema":{"type":"object","description":"y"},
 "annotations":{"title":"T","other":"\u200b"}, "_meta":{"description":"m\u200b"}}`

// cleanTool has characters that are rare, escaped or not seen, and belong there.
const cleanTool = `{ "description" : "\u0041dds.\r\n\u00e9 \/ \"q\" می` + "\u200c" + `خواهم 👨` + "\u200d" + `👩` + "\u200d" + `👧 課題", "name":"clean", "inputSchema":{"type" :"object","title":"\u0041"},"x":1e2}`

func TestHiddenCharactersAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "x")
		cfg.Servers[0].Prefix = new("")
		g, f := open(t, cfg)
		f.started[0].connect()
		f.started[0].set(func(u *fake) {
			u.tools = []*toolpost.Tool{listed(t, hiddenTool), listed(t, cleanTool), tool("\u200b", "it")}
			u.features = &toolpost.Features{
				Instructions: "Obey.\U000e0041",
				Prompts:      []*toolpost.Prompt{{Name: "p\u200b", Definition: json.RawMessage(`{"name":"p\u200b","description":"d\u200b","arguments":[{"name":"n\u200b","description":"\u200ba"}]}`), Get: echo("s")}},
				Resources:    []*toolpost.Resource{{URI: "test://r", Definition: json.RawMessage(`{"uri":"test://r","name":"n\u200b","title":"t\u200b"}`), Read: echo("s")}},
			}
		})
		synctest.Wait()
		if diff := cmp.Diff([]string{"add", "clean"}, names(g)); diff != "" {
			t.Fatal(diff)
		}
		tools, err := g.Live().Set().Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{visibleTool, cleanTool} {
			raw, err := tools[i].MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if got := string(raw); compact(t, got) != compact(t, want) {
				t.Errorf("%s", cmp.Diff(compact(t, want), compact(t, got)))
			}
		}
		if got := string(tools[1].Raw); got != cleanTool {
			t.Errorf("clean bytes changed: %s", got)
		}
		r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "add", Arguments: json.RawMessage(`{}`)})
		if text, _ := r.FirstText(); err != nil || text != "it a\u200bdd" {
			t.Errorf("the server is called by %q (%v)", text, err)
		}
		shown := features(g)
		p, res := shown.Prompts[0], shown.Resources[0]
		if shown.Instructions != "Obey." || p.Name != "p" || string(p.Definition) != `{"name":"p\u200b","description":"d","arguments":[{"name":"n\u200b","description":"a"}]}` ||
			string(res.Definition) != `{"uri":"test://r","name":"n","title":"t"}` {
			t.Errorf("%q, %q %s, %s", shown.Instructions, p.Name, p.Definition, res.Definition)
		}
		got := strings.Join(findings(g), "\n")
		for _, want := range []string{
			`add| server s: hidden characters or unsafe icons are removed from the definition of its tool "a\u200bdd"`,
			`| server s: its tool "\u200b" is left out, because its name consists of hidden characters`,
			`| server s: hidden characters or unsafe icons are removed from its prompt "p"`,
			`| server s: hidden characters or unsafe icons are removed from its resource "test://r"`,
			`| server s: hidden characters are removed from its instructions`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		if strings.Contains(got, "clean") {
			t.Errorf("a clean tool is reported: %s", got)
		}
	})
}

// TestUnsafeAddresses checks that clients get no address that runs a script: of
// icons and resources.
func TestUnsafeAddresses(t *testing.T) {
	const icons = `"icons":[{"src":"javascript:alert(1)"},{"src":"https://example.org/a.png","sizes":["1x1"]},{"src":"file:///x"},{"src":"data:text/html,x"},` +
		`{"src":"DATA:image/png;base64,AA=="},{"src":"javascript:alert(1)","SRC":"https://example.org/"},{"src":"https://example.org/","src":"javascript:alert(1)"},{"src":"http://example.org/"},{}]`
	const kept = `"icons":[{"src":"https://example.org/a.png","sizes":["1x1"]},{"src":"DATA:image/png;base64,AA=="}]`
	const safe = `{"name":"safe","icons":[ {"src":"https://example.org/?a&b"} ],"inputSchema":{"type":"object","properties":{"icons":{"default":[{"src":"x:"}]}}}}`
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("s", "x")
		cfg.Servers[0].Prefix = new("")
		g, f := open(t, cfg)
		f.started[0].connect()
		f.started[0].set(func(u *fake) {
			u.tools = []*toolpost.Tool{listed(t, `{"name":"a","inputSchema":{"type":"object"},`+icons+`}`), listed(t, safe)}
			u.features = &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p", Definition: json.RawMessage(`{"name":"p",` + icons + `}`), Get: echo("s")}}}
			for _, uri := range []string{"test://r", "JavaScript:alert(1)", " javascript:alert(1)", "vbscript:x", "test://a\u202e", "\x1b[2J:x"} {
				u.features.Resources = append(u.features.Resources, &toolpost.Resource{URI: uri, Definition: json.RawMessage(`{"name":"r",` + icons + `}`), Read: echo("s")})
			}
		})
		synctest.Wait()
		tools, err := g.Live().Set().Tools(t.Context())
		if err != nil || len(tools) != 2 {
			t.Fatal(tools, err)
		}
		raw, err := tools[0].MarshalJSON()
		if err != nil || !strings.HasSuffix(string(raw), kept+"}") {
			t.Errorf("tool: %s, %v", raw, err)
		}
		if got := string(tools[1].Raw); got != safe {
			t.Errorf("safe bytes changed: %s", got)
		}
		shown := features(g)
		if got := string(shown.Prompts[0].Definition); got != `{"name":"p",`+kept+`}` {
			t.Errorf("prompt: %s", got)
		}
		if r := shown.Resources; len(r) != 1 || string(r[0].Definition) != `{"name":"r",`+kept+`}` {
			t.Errorf("%d resources, the first with %s", len(r), r[0].Definition)
		}
		got := strings.Join(findings(g), "\n")
		if strings.Contains(got, "safe\"") || !strings.Contains(got, `"JavaScript:alert(1)" is left out`) {
			t.Errorf("findings:\n%s", got)
		}
	})
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
