package dialect_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

func TestTargetsAreComplete(t *testing.T) {
	var ids []string
	for _, d := range dialect.All() {
		ids = append(ids, d.ID)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("not sorted: %v", ids)
	}
	for _, id := range strings.Fields(`gemini gemini-schema openai openai-strict anthropic anthropic-strict bedrock
		claude-code claude-desktop vscode cursor windsurf gemini-cli codex copilot-cli opencode kiro zed cline qwen-code ollama llama.cpp
		mistral kimi xai mcp draft-07`) {
		d, err := dialect.Find(id)
		if err != nil {
			t.Error(err)
			continue
		}
		if d.ID != id || d.Title == "" || d.About == "" {
			t.Errorf("%s: id %q, title %q, about %q", id, d.ID, d.Title, d.About)
		}
	}
}

// demands tells which rule each member of a dialect is for. A new member
// belongs here.
var demands = map[string]string{
	"input.keywords": "keyword", "input.without": "keyword draft", "input.dialect": "metaschema",
	"input.root.object": "root-object", "input.root.noUnion": "root-union", "input.root.flatten": "root-union",
	"input.root.properties": "root-properties", "input.root.omitEmpty": "root-empty",
	"input.union.none": "no-union", "input.union.noList": "type-list",
	"input.union.siblings": "union-siblings", "input.union.firstKey": "first-key",
	"input.object.closed": "closed", "input.object.allRequired": "all-required", "input.object.declared": "required-declared",
	"input.object.filled": "properties-filled", "input.object.maps": "map", "input.object.noEmptyMaps": "map-any", "input.object.name": "property-name", "input.object.forbidden": "property-name", "input.object.openMaps": "map-open",
	"input.object.nameAll": "property-name", "input.object.nameMax": "property-name", "input.object.reserved": "property-name",
	"input.array.items": "array-items", "input.array.typed": "array-items", "input.array.tuples": "tuple",
	"input.enum.strings": "enum-type", "input.enum.numbers": "enum-type", "input.enum.scalars": "enum-type",
	"input.enum.noEmpty": "enum-empty", "input.enum.filled": "enum-empty", "input.enum.anyCase": "enum-type", "input.enum.noConst": "const",
	"input.ref.inline": "ref", "input.ref.defs": "ref", "input.ref.siblings": "ref-siblings", "input.ref.recursion": "recursion",
	"input.null": "null", "input.untyped": "untyped", "input.typeRequired": "type-required",
	"input.formats": "format", "input.pattern": "pattern", "input.minItems": "min-items",
	"input.limits.depth": "depth", "input.limits.properties": "size", "input.limits.enumValues": "size",
	"input.limits.longEnum": "size", "input.limits.longEnumRunes": "size", "input.limits.runes": "size", "input.limits.bytes": "size",
	"output.drop": "output-schema", "output.object": "output-schema", "output.rules": "output-schema",
	"name.pattern": "name", "name.max": "name-length", "name.prefix": "name-length", "name.fold": "name-collision",
	"text.max": "description-length", "text.schemaMax": "description-length", "text.lines": "description-lines",
	"text.forbid": "description-characters", "text.required": "description-missing",
	"list.tools": "tool-count", "list.tokens": "token-count",
	"strict.tools": "size", "strict.optional": "size", "strict.unions": "size",
	"strict.properties": "size", "strict.enumValues": "size", "strict.runes": "size",
	// These allow something.
	"input.union.oneOf": "", "input.booleans": "",
}

// members calls f with the path of each member that is set.
func members(v reflect.Value, at string, f func(path string)) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		path, field := strings.TrimPrefix(at+"."+name, "."), v.Field(i)
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Struct && !field.IsNil() {
			field = field.Elem()
		}
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Struct && path != "output.rules":
			members(field, path, f)
		default:
			f(path)
		}
	}
}

func TestAllThatIsDemandedHasASource(t *testing.T) {
	unknown, err := dialect.Find("mcp")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dialect.All() {
		told := map[string]bool{}
		who := false
		for _, s := range d.Form().Sources {
			who = who || len(s.Rules) == 0
			for _, r := range s.Rules {
				told[r] = true
			}
		}
		need := func(rules, why string) {
			if rules := strings.Fields(rules); len(rules) > 0 && !slices.ContainsFunc(rules, func(r string) bool { return told[r] }) {
				t.Errorf("%s: no source tells of %v, which %s asks for", d.ID, rules, why)
			}
		}
		for _, part := range []struct {
			at string
			v  any
		}{{"input", d.Form().Input}, {"output", d.Form().Output}, {"name", d.Form().Name}, {"text", d.Form().Text}, {"list", d.Form().List}, {"strict", d.Form().Strict}} {
			v := reflect.Indirect(reflect.ValueOf(part.v))
			if !v.IsValid() {
				continue
			}
			members(v, part.at, func(path string) {
				rules, known := demands[path]
				if !known {
					t.Errorf("%s: for which rule is %s?", d.ID, path)
				}
				need(rules, path)
			})
		}
		if !d.Form().Input.Union.OneOf {
			need("one-of", "input.union.oneOf")
		}
		if !d.Form().Input.Booleans {
			need("boolean-schema", "input.booleans")
		}
		for _, r := range dialect.Rules() {
			// What every reader asks for has its source in mcp.
			if r.Name != "internal" && r.Name != "off" && r.Demanded(d) && (d.ID == "mcp" || !r.Demanded(unknown)) {
				need(r.Name, "the rule "+r.Name)
			}
		}
		if len(d.Clients) > 0 && !who {
			t.Errorf("%s: no source tells who the clients are", d.ID)
		}
	}
}

func TestWhatADialectInherits(t *testing.T) {
	strict, err := dialect.Find("openai-strict")
	if err != nil {
		t.Fatal(err)
	}
	switch in := strict.Form().Input; {
	case !in.Root.NoUnion || in.Root.Flatten:
		t.Errorf("root: %+v", in.Root)
	case in.Ref.Siblings == nil || len(in.Ref.Siblings) > 0:
		t.Errorf("ref.siblings is %v, want an empty list", in.Ref.Siblings)
	case strict.Form().Name.Max != 64 || strict.Form().List.Tools != 128:
		t.Errorf("name %+v, list %+v", strict.Form().Name, strict.Form().List)
	case strict.Form().Strict == nil || strict.Form().Strict.Properties != 5000:
		t.Errorf("strict: %+v", strict.Form().Strict)
	}
	ollama, err := dialect.Find("ollama")
	if err != nil {
		t.Fatal(err)
	}
	if f := ollama.Form().Input.Formats; f == nil || len(f) > 0 {
		t.Errorf("formats of ollama are %v, want none", f)
	}
	for _, c := range ollama.Clients {
		if strings.Contains(c.Name, "llama.cpp") {
			t.Errorf("ollama has the clients of llama.cpp: %+v", ollama.Clients)
		}
	}
	// Claude Code tells more exactly than the API behind it what happens.
	code, err := dialect.Find("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range code.Form().Sources {
		if slices.Contains(s.Rules, "root-union") && s.Effect != dialect.Rewrites {
			t.Errorf("claude-code: root-union: %q", s.Effect)
		}
	}
}

// TestStrictWithoutProperties: a strict schema of OpenAI lists what is required also if
// nothing is.
func TestStrictWithoutProperties(t *testing.T) {
	strict, err := dialect.Find("openai-strict")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":false}},"required":["a"],"additionalProperties":false}`} {
		input, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a := strict.Adapt([]*toolpost.Tool{{Definition: toolpost.Definition{Name: "t", Description: "A tool.", Input: input}}}, nil)
		if len(a.Tools) != 1 || !strings.Contains(string(a.Tools[0].Input.Raw()), `"required":[]`) {
			t.Errorf("%s is written as %+v", text, a)
		}
	}
}

// TestDeclaredDraft: most TypeScript servers declare a draft. It is an error
// only where a refusal was seen.
func TestDeclaredDraft(t *testing.T) {
	for _, r := range dialect.Rules() {
		if r.Name != "draft" {
			continue
		}
		for id, want := range map[string]dialect.Effect{
			"gemini-cli": dialect.LosesSilently, "gemini": dialect.LosesSilently, "gemini-schema": dialect.RefusesCall, "mistral": dialect.RefusesCall,
		} {
			d, err := dialect.Find(id)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.EffectFor(d); got != want {
				t.Errorf("%s: %q, want %q", id, got, want)
			}
		}
	}
}
