package accept_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

// A refusal is a schema that breaks one rule. Where there is no schema, the
// tool is changed.
type refusal struct {
	rule   string
	schema string
	change func(*accept.Tool)
}

func named(name string) func(*accept.Tool) { return func(t *accept.Tool) { t.Name = name } }

func described(text string) func(*accept.Tool) {
	return func(t *accept.Tool) { t.Description = text }
}

func answering(schema string) func(*accept.Tool) {
	return func(t *accept.Tool) { t.Output = json.RawMessage(schema) }
}

func with(schema string) string { return `{"type":"object","properties":{"x":` + schema + `}}` }

func strict(schema string) string {
	return `{"type":"object","properties":{"x":` + schema + `},"required":["x"],"additionalProperties":false}`
}

func upper(schema string) string { return `{"type":"OBJECT","properties":{"x":` + schema + `}}` }

// accepted has good schemas for every target.
func accepted() map[string][]string {
	const (
		simple = `{"type":"object","properties":{"a":{"type":"string","description":"Path of it"}},"required":["a"]}`
		array  = `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"e":{"type":"string","enum":["a","b"]}}}`
		empty  = `{"type":"object","properties":{}}`
	)
	// Property names that look like keywords are none.
	weird := `{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":{"required":{"type":"array","items":{"type":"string"}}},"required":["required"]},` +
		`"required":{"type":"boolean"},"enum":{"type":"integer"},"anyOf":{"type":"string"},"items":{"type":"string"}},"required":["type","required"]}`
	closed := `{"type":"object","properties":{"type":{"type":"string","format":"uuid"},"required":{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]},` +
		`"n":{"type":["integer","null"]},"l":{"type":"array","items":{"$ref":"#/$defs/D"}}},"required":["type","required","n","l"],"additionalProperties":false,` +
		`"$defs":{"D":{"type":"object","properties":{"k":{"const":"x"}},"required":["k"],"additionalProperties":false}}}`
	all := map[string][]string{}
	for _, target := range accept.Targets() {
		all[target] = []string{simple, array, empty, weird}
	}
	all["gemini-schema"] = []string{
		upper(`{"type":"STRING","enum":["a","b"],"format":"enum"}`),
		upper(`{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER","format":"int64","minimum":0}],"nullable":true},"minItems":"1"}`),
		upper(`{"type":"OBJECT","properties":{"type":{"type":"STRING"},"required":{"type":"NUMBER","nullable":true}},"required":["type"],"propertyOrdering":["type","required"]}`),
		upper(`{"type":"INTEGER","format":"enum","enum":["1","2"]}`),
	}
	all["openai-strict"] = []string{
		closed, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
		strict(`{"anyOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"],"additionalProperties":false},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"],"additionalProperties":false},{"$ref":"#"}]}`),
	}
	all["anthropic-strict"] = []string{closed, strict(`{"type":"string","pattern":"^[a-z]{1,20}$","default":"a"}`)}
	all["bedrock"] = []string{closed, strict(`{"type":"string","minLength":1,"pattern":"^(?=a)b$"}`)}
	all["gemini"] = append(all["gemini"],
		`{"type":"object","properties":{"n":{"$ref":"#/$defs/N","description":"d"}},"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"},"v":{"type":"integer"}},"required":["v"],"additionalProperties":false}}}`,
		with(`{"anyOf":[{"type":"array","prefixItems":[{"type":"number"}]},{"type":["string","null"]}]}`))
	all["mcp"] = append(all["mcp"], `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"type":"array","items":[{"type":"string"}]}}}`,
		with(`{"type":"string","x-mcp-header":"Region"}`), `{"type":"object","properties":{"next":{"$ref":"#"}},"anyOf":[{"required":["next"]},{}]}`)
	all["draft-07"] = append(all["draft-07"], `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"string"}],"additionalItems":false},"d":{"$ref":"#/definitions/D"}},"definitions":{"D":{"type":"string"}}}`)
	all["vscode"] = append(all["vscode"], with(`{"type":"array","items":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/D"}]}},"y":{"type":"string"}}, "$defs":{"D":{"type":"integer"}`))
	all["llama.cpp"] = append(all["llama.cpp"], with(`{"type":"string","pattern":"^[0-9]+$"}`))
	all["kiro"] = append(all["kiro"], with(`{"type":"array","prefixItems":[{"type":"string"}]}`), with(`{"anyOf":[{"type":"string"},{"type":"null"}]}`))
	all["zed"] = append(all["zed"], with(`{"type":"object","additionalProperties":{"type":"string"}}`))
	all["kimi"] = []string{simple, array, empty, with(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)} // weird has names of keywords
	return all
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for target, schemas := range accepted() {
		for _, schema := range schemas {
			tool := accept.Tool{Server: "srv", Name: "tool-a", Description: "Does it.", Input: json.RawMessage(schema), Strict: true}
			for _, v := range accept.Check(target, []accept.Tool{tool}) {
				t.Errorf("%s refuses %s: %s", target, schema, v)
			}
		}
	}
	for _, target := range []string{"gemini", "gemini-schema"} {
		if v := accept.Check(target, []accept.Tool{{Name: "none"}}); v != nil {
			t.Errorf("%s refuses a tool without parameters: %v", target, v)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for target, all := range refusals() {
		good := accepted()[target][0]
		for _, r := range all {
			schema := r.schema
			if schema == "" {
				schema = good
			}
			tool := accept.Tool{Server: "srv", Name: "tool-a", Description: "Does it.", Input: json.RawMessage(schema), Strict: true}
			if r.change != nil {
				r.change(&tool)
			}
			found := accept.Check(target, []accept.Tool{tool})
			if !slices.ContainsFunc(found, func(v accept.Violation) bool { return v.Rule == r.rule }) {
				t.Errorf("%s: %s does not refuse %s: %v", target, r.rule, schema, found)
			}
		}
	}
}

// TestEveryTargetRefuses keeps a new target from having no refusals.
func TestEveryTargetRefuses(t *testing.T) {
	t.Parallel()
	all := refusals()
	for _, target := range accept.Targets() {
		if len(all[target]) == 0 {
			t.Errorf("%s refuses nothing", target)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	many := func(n int) []accept.Tool {
		var tools []accept.Tool
		for i := range n {
			tools = append(tools, accept.Tool{Name: fmt.Sprint("t", i), Description: "d", Input: json.RawMessage(with(`{"type":"string"}`))})
		}
		return tools
	}
	pair := func(a, b string) []accept.Tool {
		tools := many(2)
		tools[0].Name, tools[1].Name = a, b
		return tools
	}
	strictly := func(n int, schema string) []accept.Tool {
		tools := many(n)
		for i := range tools {
			tools[i].Strict, tools[i].Input = true, json.RawMessage(schema)
		}
		return tools
	}
	uppered := func(n int) []accept.Tool {
		tools := many(n)
		for i := range tools {
			tools[i].Input = json.RawMessage(upper(`{"type":"STRING"}`))
		}
		return tools
	}
	optional := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":[],"additionalProperties":false}`
	for _, c := range []struct {
		target, rule string
		good, bad    []accept.Tool
	}{
		{"openai", "O0/count", many(128), many(129)},
		{"vscode", "V1/count", many(128), many(129)},
		{"cursor", "cursor/count", many(80), many(81)},
		{"windsurf", "windsurf/count", many(100), many(101)},
		{"xai", "xai/count", many(200), many(201)},
		{"gemini", "G2/count", many(512), many(513)},
		{"gemini-schema", "G1/count", uppered(512), uppered(513)},
		{"cline", "cline/collision", pair("a-b", "a_b"), pair("a.b", "a_b")},
		{"qwen-code", "qwen-code/collision", pair("a-b", "a_b"), pair("a.b", "a_b")},
		{"mcp", "names", pair("a.b", "a_b"), pair("a", "a")},
		{"claude-code", "claude-code/collision", pair("a-b", "a_b"), pair("a.b", "a_b")},
		{"codex", "codex/collision", pair("a", "b"), pair("a-b", "a_b")},
		{"copilot-cli", "copilot-cli/collision", pair("a_b", "a-b"), pair("a.b", "a-b")},
		{"opencode", "opencode/collision", pair("a-b", "a_b"), pair("a.b", "a_b")},
		{"gemini-cli", "gemini-cli/collision", pair("a.b", "a_b"), pair("a/b", "a_b")},
		{"anthropic-strict", "A2/totals", strictly(20, strict(`{"type":"string"}`)), strictly(21, strict(`{"type":"string"}`))},
		{"anthropic-strict", "A2/totals", strictly(12, optional), strictly(13, optional)},
		{"anthropic-strict", "A2/totals", strictly(16, strict(`{"type":["string","null"]}`)), strictly(17, strict(`{"anyOf":[{"type":"string"},{"type":"null"}]}`))},
		{"bedrock", "A2/totals", strictly(20, strict(`{"type":"string"}`)), strictly(21, strict(`{"type":"string"}`))},
	} {
		if found := accept.Check(c.target, c.good); found != nil {
			t.Errorf("%s: %s: refuses %v", c.target, c.rule, found)
		}
		found := accept.Check(c.target, c.bad)
		if !slices.ContainsFunc(found, func(v accept.Violation) bool { return v.Rule == c.rule && v.Tool == "" }) {
			t.Errorf("%s: %s does not refuse: %v", c.target, c.rule, found)
		}
	}
	if found := accept.Check("nobody", nil); len(found) != 1 || found[0].Rule != "target" {
		t.Errorf("unknown target: %v", found)
	}
}

// TestPoison holds the table of client-limits.md against the odd tools: what
// made each client lose all tools, or one, is refused for it.
func TestPoison(t *testing.T) {
	t.Parallel()
	all := map[string]accept.Sample{}
	for _, s := range accept.Torture() {
		all[s.Name()] = s
	}
	killsAll := strings.Fields("root_empty root_no_type root_only_schema root_anyof_no_type root_oneof_no_type root_allof_no_type root_type_list root_array root_required_null root_properties_null")
	dropped := strings.Fields("tuple_draft07 prop_exclusive_true prop_required_false prop_required_true prop_type_any")
	keys := []string{}
	for name, s := range all {
		if strings.HasPrefix(s.Why, "key: ") && strings.HasPrefix(name, "key_") {
			keys = append(keys, name)
		}
	}
	if len(keys) < 9 {
		t.Errorf("only %d tools with odd keys", len(keys))
	}
	outputs := strings.Fields("output_array output_anyof output_no_type")
	for target, names := range map[string][]string{
		"claude-code": slices.Concat(killsAll, dropped, keys, outputs, strings.Fields("prop_true root_anyof root_oneof root_allof desc_long")),
		"gemini-cli":  slices.Concat(killsAll, dropped, outputs, strings.Fields("prop_true")),
		"opencode":    slices.Concat(killsAll, dropped, strings.Fields("prop_true array_items_true root_oneof ref_siblings enum_numbers")),
		"codex":       slices.Concat(dropped, strings.Fields("prop_true array_no_items tuple root_anyof")),
		"copilot-cli": slices.Concat(dropped, strings.Fields("root_required_null")),
		"anthropic":   slices.Concat(killsAll, dropped, keys, strings.Fields("root_anyof root_oneof root_allof")),
		"openai":      slices.Concat(killsAll, strings.Fields("root_no_properties array_no_items root_anyof prop_true")),
	} {
		for _, name := range names {
			s, ok := all[name]
			if !ok {
				t.Fatalf("no tool %q", name)
			}
			if accept.Check(target, []accept.Tool{tool(t, s)}) == nil {
				t.Errorf("%s accepts %s", target, name)
			}
		}
	}
}

func tool(t *testing.T, s accept.Sample) accept.Tool {
	t.Helper()
	var raw struct {
		Name, Description         string
		InputSchema, OutputSchema json.RawMessage
	}
	if err := json.Unmarshal(s.Raw, &raw); err != nil {
		t.Fatal(err)
	}
	return accept.Tool{Server: "srv", Name: raw.Name, Description: raw.Description, Input: raw.InputSchema, Output: raw.OutputSchema}
}
