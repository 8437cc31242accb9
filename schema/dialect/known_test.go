package dialect_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/schema/dialect"
)

func book(t *testing.T, overlays map[string]string) *dialect.Book {
	t.Helper()
	b, err := dialect.NewBook(raw(overlays))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func raw(overlays map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for id, text := range overlays {
		all[id] = []byte(text)
	}
	return all
}

func TestChoose(t *testing.T) {
	b := book(t, nil)
	for _, c := range []struct{ name, version, agent, want string }{
		{"claude-code", "2.1.329", "claude-code/2.1.329 (sdk-cli)", "claude-code"},
		{"claude-code", "2.2.0", "", "claude-code"},
		{"claude-code", "3", "", "claude-code"},
		{"Claude-Code", "2.1.329-beta.1", "", "claude-code"},
		{"claude-code", "2.1.328", "", "claude-code-2.1.197"},
		{"claude-code", "2.1.99", "", "claude-code-2.1.197"},
		{"claude-code", "", "", "claude-code-2.1.197"},
		{"claude-code", "unknown", "", "claude-code-2.1.197"},
		{"", "", "claude-code/2.1.329 (sdk-cli)", "claude-code"},
		{"Claude-Code", "", "claude-code/2.1.329 (sdk-cli)", "claude-code"},
		{"claude-code", "", "claude-code/2.1.328", "claude-code-2.1.197"},
		{"claude-code", "2.1.197", "claude-code/2.1.329", "claude-code-2.1.197"}, // clientInfo counts
		{"claude-code", "", "node/22.1.0", "claude-code-2.1.197"},
		{"", "", "claude-code", "claude-code-2.1.197"},
		{"", "2.1.329", "claude-code/1", "claude-code"},
		{"", "", "/2.1.329", "mcp"},
		{"", "", "node/22.1.0", "mcp"},
		{"my-claude-code", "2.1.329", "", "mcp"},
		{"claude-ai", "0.1.0", "", "claude-desktop"},
		{"Anthropic/ClaudeAI", "1.0.0", "", "claude-ai"},
		{"", "", "Claude-User", "claude-ai"},
		{"gemini-cli-mcp-client", "0.61.0", "node", "gemini-cli"},
		{"codex-mcp-client", "0.169.0", "codex-mcp-client/0.169.0", "codex"},
		{"Codex", "", "", "codex"},
		{"opencode", "1.18.33", "opencode/1.18.33", "opencode"},
		{"github-copilot-developer", "1.0.102", "", "copilot-cli"},
		{"Visual Studio Code", "1.138.0", "", "vscode"},
		{"Visual Studio Code - Insiders", "1.139.0-insider", "", "vscode"},
		{"Visual-Studio-Code", "", "", "vscode"},
		{"cursor-vscode", "1.0.0", "", "cursor"},
		{"windsurf-client", "1.0.0", "", "windsurf"},
		{"antigravity-client", "1.15", "", "windsurf"},
		{"Kiro CLI", "2.19.1", "", "kiro"},
		{"Kiro", "1.0.309", "", "kiro"},
		{"Q DEV CLI", "1.0.0", "", "kiro"},
		{"Zed", "1.14.0", "", "zed"},
		{"Zed Preview", "", "", "zed"},
		{"Cline", "3.86.0", "", "cline"},
		{"@cline/core", "0.0.0", "", "cline"},
		{"recline", "1", "", "mcp"},
		{"qwen-cli-mcp-client-files", "0.0.1", "", "qwen-code"},
		{"qwen-code", "", "", "qwen-code"},
		{"lmstudio-mcp-bridge", "", "", "llama.cpp"},
		{"ollama", "", "", "ollama"},
		{"somebody", "1", "else/1", "mcp"},
		{"", "", "", "mcp"},
		{"claude-code\nx", "2.1.329", "", "mcp"},
	} {
		if got := b.Choose(c.name, c.version, c.agent).ID; got != c.want {
			t.Errorf("Choose(%q, %q, %q) = %s, want %s", c.name, c.version, c.agent, got, c.want)
		}
	}
}

func TestChooseFromOverlays(t *testing.T) {
	b := book(t, map[string]string{
		"ours":      `{"extends": "mcp", "clients": [{"userAgent": "ours/.*"}, {"name": "bot", "since": "2", "before": "3"}, {"name": "bot.*"}]}`,
		"bots":      `{"extends": "mcp", "clients": [{"name": "bot"}]}`,
		"claude-ai": `{"clients": [{"name": "claude-ai"}]}`,
	})
	for _, c := range []struct{ name, version, agent, want string }{
		{"claude-code", "2.1.329", "ours/1", "ours"}, // an overlay comes before what is built in
		{"claude-ai", "", "", "claude-ai"},
		{"Anthropic/ClaudeAI", "", "", "mcp"}, // the list was replaced
		{"bot", "2.0", "", "ours"},
		{"bot", "3.0", "", "ours"}, // both ask for a name: the longer expression
		{"bot", "", "", "ours"},
		{"claude-code", "2.1.329", "", "claude-code"},
	} {
		if got := b.Choose(c.name, c.version, c.agent).ID; got != c.want {
			t.Errorf("Choose(%q, %q, %q) = %s, want %s", c.name, c.version, c.agent, got, c.want)
		}
	}
}

func TestOverlay(t *testing.T) {
	b := book(t, map[string]string{
		"openai": `{"title": "Ours", "text": {"max": null}, "name": {"max": 40}, "input": {"keywords": ["type"]},
			"sources": [{"rules": ["name-length"], "effect": "advice", "date": "2026-11-21", "how": "observed", "source": "us"}]}`,
		"small": `{"extends": "ours", "list": {"tools": 3}}`,
		"ours":  `{"extends": "openai-strict"}`,
	})
	changed, err := b.Find("openai")
	if err != nil {
		t.Fatal(err)
	}
	if changed.Title != "Ours" || changed.Form().Text.Max != 0 || changed.Form().Name.Max != 40 || changed.Form().Name.Pattern == "" ||
		len(changed.Form().Input.Keywords) != 1 || !changed.Form().Input.Root.Object {
		t.Errorf("openai: %+v", changed)
	}
	if s := changed.Form().Sources; len(s) < 2 || s[0].Source != "us" {
		t.Errorf("sources: %+v", s)
	}
	small, err := b.Find("small")
	if err != nil {
		t.Fatal(err)
	}
	if small.ID != "small" || small.Form().List.Tools != 3 || small.Form().Name.Max != 40 || !small.HasStrict() || small.Title == "" {
		t.Errorf("small: %+v", small)
	}
	if of, err := b.Find("ours"); err != nil || of.Form().Extends != "openai-strict" || small.Form().Extends != "ours" {
		t.Errorf("small extends %q, which is %+v, %v", small.Form().Extends, of, err)
	}
	for _, d := range b.All() {
		plain, err := dialect.Find(d.ID)
		if d.ID == "small" || d.ID == "ours" {
			if err == nil {
				t.Errorf("%s is built in", plain.ID)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		root := d // what it is based on in the end, or openai
		for root.ID != "openai" && root.Form().Extends != "" {
			if root, err = b.Find(root.Form().Extends); err != nil {
				t.Fatal(err)
			}
		}
		if same := reflect.DeepEqual(d.Form(), plain.Form()); same != (root.ID != "openai") {
			t.Errorf("%s is as it was: %v", d.ID, same)
		}
	}
	if plain, _ := dialect.Find("openai"); plain.Title == "Ours" {
		t.Error("the built-in dialect changed")
	}
}

func TestOverlayErrors(t *testing.T) {
	for _, c := range []struct {
		id, text string
		want     []string // in the error
	}{
		{"x", `{}`, []string{`dialect "x"`, `add "extends"`, "anthropic, ", "xai"}},
		{"x", `5`, []string{`dialect "x"`, "JSON object"}},
		{"x", ``, []string{`dialect "x"`, "JSON object"}},
		{"x", `{"extends": "mcp"`, []string{`dialect "x"`}},
		{"x", `{"extends": "mpc"}`, []string{`dialect "x"`, `unknown dialect "mpc"`, "the dialects are anthropic, "}},
		{"x", `{"extends": "x"}`, []string{`dialect "x"`, "x → x"}},
		{"mcp", `{"extends": "draft-07"}`, nil},
		{"anthropic", `{"extends": "bedrock"}`, []string{`dialect "anthropic"`, "anthropic → bedrock → anthropic-strict → anthropic"}},
		{"X Y", `{"extends": "mcp"}`, []string{`dialect "X Y"`, "id"}},
		{"../x", `{"extends": "mcp"}`, []string{`dialect "../x"`, "id"}},
		{"mcp", `{"title": ""}`, []string{`dialect "mcp"`, "title"}},
		{"mcp", `{"titel": "x"}`, []string{`dialect "mcp"`, "titel is unknown", "title, extends"}},
		{"mcp", `{"input": {"unoin": {}}}`, []string{`dialect "mcp"`, "input.unoin is unknown", "union"}},
		{"mcp", `{"input": {"union": {"ONEOF": true}}}`, []string{"input.union.ONEOF"}},
		{"mcp", `{"input": 5}`, []string{"input is a number; it must be an object"}},
		{"mcp", `{"name": {"max": "5"}}`, []string{"name.max is a string; it must be a whole number"}},
		{"mcp", `{"name": {"max": -1}}`, []string{"name.max is -1"}},
		{"mcp", `{"list": {"tools": 1.5}}`, []string{"list.tools is 1.5; it must be a whole number"}},
		{"mcp", `{"name": {"pattern": "("}}`, []string{"name.pattern"}},
		{"mcp", `{"name": {"fold": "[a"}}`, []string{"name.fold"}},
		{"mcp", `{"name": {"fold": "[a-z]|"}}`, []string{"name.fold", "one character class"}},
		{"mcp", `{"name": {"fold": "]"}}`, []string{"name.fold", "one character class"}},
		{"mcp", `{"name": {"fold": "[a][b]"}}`, []string{"name.fold", "one character class"}},
		{"mcp", `{"name": {"fold": "[^][:digit:]\\]\\pL_-]"}}`, nil},
		{"mcp", `{"name": {"max": 1e30}}`, []string{"name.max is 1e30; it must be a whole number"}},
		{"mcp", `{"input": {"booleans": "yes"}}`, []string{"input.booleans is a string; it must be true or false"}},
		{"mcp", `{"clients": {}}`, []string{"clients is an object; it must be an array"}},
		{"mcp", `{"title": ["x"]}`, []string{"title is an array; it must be a string"}},
		{"mcp", `{"text": {"max": 1, "max": 2}}`, []string{"text.max is a duplicate"}},
		{"x", `{"extends": "mcp", "extends": "openai"}`, []string{"extends is a duplicate"}},
		{"x", `{"extends": null}`, []string{`add "extends"`}},
		{"x", `{"extends": 5}`, []string{"extends is a number; it must be a string"}},
		{"mcp", `{"input": {"object": {"name": "("}}}`, []string{"input.object.name"}},
		{"mcp", `{"input": {"null": "gone"}}`, []string{"input.null", `"gone"`, "keyword, none"}},
		{"mcp", `{"output": {"rules": {"pattern": "pcre"}}}`, []string{"output.rules.pattern"}},
		{"mcp", `{"clients": [{"name": "("}]}`, []string{"clients"}},
		{"mcp", `{"clients": [{"since": "1"}]}`, []string{"clients", "name or a userAgent"}},
		{"mcp", `{"clients": [{"name": "x", "since": "new"}]}`, []string{"clients[0]", `"new"`}},
		{"mcp", `{"sources": 5}`, []string{"sources"}},
		{"mcp", `{"sources": [{"rule": ["x"]}]}`, []string{"sources[0].rule"}},
		{"mcp", `{"sources": [{"rules": ["nothing"], "effect": "advice", "date": "2026-11-21", "how": "read", "source": "x"}]}`, []string{"sources[0]", `"nothing"`, "no-union"}},
		{"mcp", `{"sources": [{"rules": ["name"], "effect": "harm", "date": "2026-11-21", "how": "read", "source": "x"}]}`, []string{`"harm"`}},
		{"mcp", `{"sources": [{"rules": ["name"], "effect": "advice", "date": "21.11.2026", "how": "read", "source": "x"}]}`, []string{`"21.11.2026"`}},
		{"mcp", `{"sources": [{"rules": ["name"], "effect": "advice", "date": "2026-11-21", "how": "dreamt", "source": "x"}]}`, []string{`"dreamt"`}},
		{"mcp", `{"sources": [{"rules": ["name"], "effect": "advice", "date": "2026-11-21", "how": "read", "source": ""}]}`, []string{"source is missing"}},
	} {
		_, err := dialect.NewBook(raw(map[string]string{c.id: c.text}))
		if c.want == nil {
			if err != nil {
				t.Errorf("%s %s: %v", c.id, c.text, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s %s: no error", c.id, c.text)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s %s: %q lacks %q", c.id, c.text, err, w)
			}
		}
	}
}

// Each overlay is told what is wrong with it, and which part of it.
func TestAllOverlayErrors(t *testing.T) {
	_, err := dialect.NewBook(raw(map[string]string{
		"a":       `{"extends": "b"}`,
		"b":       `{"extends": "c"}`,
		"c":       `{"extends": "a"}`,
		"after":   `{"extends": "a"}`,
		"bad":     `{"extends": "mcp", "clients": [{"name": "x"}, {"name": 5}]}`,
		"on-bad":  `{"extends": "bad"}`,
		"deeper":  `{"extends": "on-bad", "name": {"max": "x"}}`,
		"Not An":  `{"extends": "mcp"}`,
		"on-it":   `{"extends": "Not An"}`,
		"missing": `{"extends": "nowhere"}`,
		"good":    `{"extends": "mcp"}`,
		"xai":     `{"input": {"pattern": "pcre"}}`,
		"dated":   `{"extends": "mcp", "sources": [{"date": 5}]}`,
	}))
	var got []string
	for _, e := range overlayErrors(t, err) {
		text, _, _ := strings.Cut(e.Err.Error(), ":")
		if strings.Contains(e.Err.Error(), "→") {
			text = e.Err.Error()
		}
		got = append(got, e.ID+" "+e.Pointer+" "+text)
	}
	want := []string{
		"Not An  the id must match ^[a-z0-9][a-z0-9._-]*$",
		"a /extends extends refers back to itself: a → b → c → a",
		`after /extends extends is "a", which is not valid either`,
		"b /extends extends refers back to itself: b → c → a → b",
		"bad /clients/1/name clients[1].name is a number; it must be a string",
		"c /extends extends refers back to itself: c → a → b → c",
		"dated /sources/0/date sources[0].date is a number; it must be a string",
		`deeper /extends extends is "on-bad", which is not valid either`,
		"missing /extends extends is not valid",
		`on-bad /extends extends is "bad", which is not valid either`,
		`on-it /extends extends is "Not An", which is not valid either`,
		`xai /input/pattern input.pattern is "pcre"; leave it out, or use one of`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != len(want) || !strings.HasPrefix(lines[1], `dialect "a": extends refers`) {
		t.Errorf("as text: %v", err)
	}
}

func overlayErrors(t *testing.T, err error) (all []*dialect.OverlayError) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	for _, err := range joined.Unwrap() {
		e, ok := errors.AsType[*dialect.OverlayError](err)
		if !ok {
			t.Fatalf("an error is %v", err)
		}
		all = append(all, e)
	}
	return all
}

// What an overlay does to a built-in dialect that extends another one.
func TestOverlayErrorsOfBuiltInDialects(t *testing.T) {
	_, err := dialect.NewBook(raw(map[string]string{"mcp": `{"name": {"max": "x"}}`}))
	if errs := overlayErrors(t, err); len(errs) != 1 || errs[0].ID != "mcp" {
		t.Errorf("got %v", err)
	}
}

// A book is made once, whatever the order: a chain costs what its length is.
func TestLongChain(t *testing.T) {
	const length = 300
	chain := map[string]string{}
	for i := range length {
		under := "mcp"
		if i > 0 {
			under = fmt.Sprintf("c%d", length-i)
		}
		chain[fmt.Sprintf("c%d", length-i-1)] = `{"extends": "` + under + `", "name": {"max": ` + strconv.Itoa(i+1) + `}}`
	}
	builtIn, _ := dialect.Find("openai") // before the book: each reads a dialect when it needs it first
	b := book(t, chain)
	for _, i := range []int{0, length / 2, length - 1} {
		d, err := b.Find(fmt.Sprintf("c%d", i))
		if err != nil || d.Form().Name.Max != length-i || d.Form().Name.Pattern == "" {
			t.Errorf("c%d: %+v, %v", i, d, err)
		}
	}
	same, err := b.Find("openai")
	if err != nil || same != builtIn {
		t.Errorf("a dialect that no overlay changes was read again: %v", err)
	}
}

func TestFindTellsWhatThereIs(t *testing.T) {
	_, err := dialect.Find("claude")
	if err == nil || !strings.Contains(err.Error(), "claude-code, ") {
		t.Errorf("%v", err)
	}
	if _, err := dialect.Find(""); err == nil {
		t.Error("no error for no id")
	}
	if _, err := dialect.Find(strings.Repeat("x", 1e6)); err == nil || len(err.Error()) > 1000 {
		t.Error("a huge id is told in full")
	}
}

func FuzzOverlay(f *testing.F) {
	f.Add("mcp", `{"title":"x","input":{"union":{"oneOf":null}},"sources":[]}`)
	f.Add("x", `{"extends":"mcp","clients":[{"name":"a","since":"1"}]}`)
	f.Add("x", `{"extends":"x"}`)
	f.Add("openai", `{"name":{"max":1e3},"input":{"formats":{"string":null}}}`)
	f.Fuzz(func(t *testing.T, id, text string) {
		b, err := dialect.NewBook(map[string][]byte{id: []byte(text)})
		if err != nil {
			if b != nil {
				t.Fatal("a book and an error")
			}
			return
		}
		d, err := b.Find(id)
		if err != nil || d.ID != id || d.Title == "" || d.Form().Name.Max < 0 {
			t.Fatalf("%+v, %v", d, err)
		}
		for _, c := range d.Clients {
			if b.Choose(c.Name, c.Since, c.UserAgent) == nil {
				t.Fatal("no dialect is chosen")
			}
		}
	})
}
