package accept_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/dev/accept"
)

func repeated(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ",")
}

func nested(n int, inner string) string {
	return strings.Repeat(`{"type":"array","items":`, n) + inner + strings.Repeat("}", n)
}

func nothing(t *accept.Tool) { t.Input = nil }

func undescribed(t *accept.Tool) { t.Description = "" }

// refusals is what each target must not accept, rule by rule.
func refusals() map[string][]refusal {
	long := func(n int) func(*accept.Tool) { return named(strings.Repeat("n", n)) }
	text := `{"type":"string"}`
	root := func(more string) string { return `{"type":"object","properties":{"a":{"type":"string"}},` + more + `}` }
	anthropic := []refusal{
		{"A1/metaschema", with(`{"type":"array","items":[{"type":"string"}]}`), nil},
		{"A1/metaschema", with(`{"type":"integer","minimum":1,"exclusiveMinimum":true}`), nil},
		{"A1/metaschema", with(`{"type":"string","required":true}`), nil},
		{"A1/metaschema", with(`{"type":"any"}`), nil},
		{"A1/metaschema", `{"type":"object","required":null}`, nil},
		{"A1/metaschema", with(`{"type":"number","maximum":1e99999}`), nil},
		{"A1/root", `{}`, nil}, {"A1/root", `{"type":["object","null"]}`, nil}, {"A1/root", "", nothing},
		{"A1/root", root(`"anyOf":[{}]`), nil}, {"A1/root", root(`"oneOf":[{}]`), nil}, {"A1/root", root(`"allOf":[{}]`), nil},
		{"A1/key", `{"type":"object","properties":{"a b":{}}}`, nil},
		{"A1/key", `{"type":"object","properties":{"":{}}}`, nil},
		{"A1/key", `{"type":"object","properties":{"` + strings.Repeat("k", 65) + `":{}}}`, nil},
		{"A1/ref", with(`{"$ref":"https://example.com/x"}`), nil},
		{"A1/ref", with(`{"$ref":"#/$defs/Gone"}`), nil},
		{"A1/name", "", long(129)}, {"A1/name", "", named("a.b")},
		{"json", `{"type":`, nil},
		{"depth", with(nested(300, text)), nil},
	}
	constrained := func(set string) []refusal {
		return []refusal{
			{set + "/keys", strict(`{"type":"integer","minimum":1}`), nil},
			{set + "/keys", strict(`{"type":"array","items":{"type":"string"},"maxItems":3}`), nil},
			{set + "/keys", strict(`{"oneOf":[{"type":"string"}]}`), nil},
			{set + "/closed", `{"type":"object","properties":{}}`, nil},
			{set + "/closed", strict(`{"type":"object","additionalProperties":{"type":"string"}}`), nil},
			{set + "/format", strict(`{"type":"string","format":"byte"}`), nil},
			{set + "/recursion", `{"type":"object","properties":{"n":{"$ref":"#"}},"additionalProperties":false}`, nil},
			{set + "/allOf", `{"type":"object","properties":{"n":{"allOf":[{"$ref":"#/$defs/D"}]}},"additionalProperties":false,"$defs":{"D":{"type":"string"}}}`, nil},
			{set + "/minItems", strict(`{"type":"array","items":{"type":"string"},"minItems":2}`), nil},
			{set + "/enum", strict(`{"enum":[{"a":1}]}`), nil}, {set + "/enum", strict(`{"const":[1]}`), nil},
		}
	}
	openaiAPI := func(set string) []refusal {
		return []refusal{
			{set + "/root", `{}`, nil}, {set + "/properties", `{"type":"object"}`, nil},
			{set + "/root", root(`"anyOf":[{}]`), nil}, {set + "/root", root(`"enum":[{}]`), nil}, {set + "/root", root(`"not":{}`), nil},
			{set + "/items", with(`{"type":"array"}`), nil}, {set + "/items", with(`{"type":["array","null"]}`), nil}, {set + "/items", with(`{"type":"array","prefixItems":[{}]}`), nil},
			{set + "/node", with(`true`), nil}, {set + "/node", with(`{"type":"array","items":true}`), nil},
			{set + "/metaschema", with(`{"type":"string","minLength":"1"}`), nil},
			{set + "/ref", with(`{"$ref":"#/$defs/Gone"}`), nil},
		}
	}
	poison := func(set string) []refusal {
		return []refusal{
			{set + "/root", `{"properties":{}}`, nil}, {set + "/property", with(`true`), nil}, {set + "/property", with(`false`), nil},
			{set + "/required", `{"type":"object","required":null}`, nil}, {set + "/properties", `{"type":"object","properties":null}`, nil},
		}
	}
	gemini := []refusal{
		{"G2/root", `{"properties":{}}`, nil},
		{"G2/metaschema", with(`{"type":"any"}`), nil},
		{"G2/keys", root(`"$schema":"https://json-schema.org/draft/2020-12/schema"`), nil},
		{"G2/keys", with(`{"const":"x"}`), nil}, {"G2/keys", with(`{"type":"integer","exclusiveMinimum":0}`), nil}, {"G2/keys", with(`{"allOf":[{}]}`), nil}, {"G2/keys", with(`{"not":{}}`), nil},
		{"G2/node", with(`true`), nil}, {"G2/node", with(`{"type":"array","items":false}`), nil},
		{"G2/ref", with(`{"$ref":"#/$defs/Gone"}`), nil}, {"G2/ref", with(`{"$ref":"#/properties/x"}`), nil}, {"G2/ref", with(`{"$ref":"http://example.com"}`), nil},
		{"G2/ref-siblings", `{"type":"object","properties":{"x":{"$ref":"#/$defs/D","title":"t"}},"$defs":{"D":{"type":"string"}}}`, nil},
		{"G2/items", with(`{"type":"array"}`), nil}, {"G2/required", root(`"required":["zz"]`), nil},
		{"G2/enum", with(`{"enum":["a",null]}`), nil}, {"G2/enum", with(`{"enum":[true]}`), nil},
		{"G2/recursion", `{"type":"object","properties":{"x":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/D"},{"type":"null"}]}},"required":["n"]}}}`, nil},
		{"G2/recursion", `{"type":"object","properties":{"x":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"array","items":{"$ref":"#/$defs/D"}}}}`, nil},
	}
	llama := []refusal{
		{"llama/pattern", with(`{"type":"string","pattern":"[0-9]+"}`), nil}, {"llama/pattern", with(`{"type":"string","pattern":"^(?=a)a$"}`), nil}, {"llama/pattern", with(`{"type":"string","pattern":"^\\d$"}`), nil}, {"llama/pattern", with(`{"type":"string","pattern":"^a\\$"}`), nil},
		{"llama/tuple", with(`{"type":"array","prefixItems":[{}]}`), nil}, {"llama/union", root(`"anyOf":[{}]`), nil},
		{"llama/ref", `{"type":"object","properties":{"x":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/B"}},"B":{"type":"string"}}}`, nil},
		{"M1/root", `{}`, nil},
	}
	all := map[string][]refusal{
		"anthropic":        anthropic,
		"anthropic-strict": append(append(constrained("A2"), anthropic...), refusal{"A2/pattern", strict(`{"type":"string","pattern":"^(?!a)b$"}`), nil}, refusal{"A2/pattern", strict(`{"type":"string","pattern":"\\bfoo"}`), nil}, refusal{"A2/pattern", strict(`{"type":"string","pattern":"^(a)\\1$"}`), nil}, refusal{"A2/pattern", strict(`{"type":"string","pattern":"^a{1,1000}$"}`), nil}, refusal{"A2/keys", strict(`{"type":"string","minLength":1}`), nil}),
		"bedrock":          append(append(constrained("B1"), anthropic...), refusal{"B1/name", "", long(65)}, refusal{"B1/description", "", undescribed}),
		"claude-code": append(append(poison("claude-code"), anthropic...), refusal{"claude-code/output", "", answering(`{"type":"array"}`)}, refusal{"claude-code/output", "", answering(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`)},
			refusal{"claude-code/description", "", described(strings.Repeat("é", 4097))}, refusal{"claude-code/description", "", described("a\u200bb")}, refusal{"claude-code/name", "", long(120)}),
		"openai": append(openaiAPI("O0"), refusal{"O0/name", "", long(65)}, refusal{"O0/name", "", named("a.b")}, refusal{"O0/description", "", described(strings.Repeat("d", 1025))}),
		"codex":  append(openaiAPI("codex"), refusal{"codex/tuple", with(`{"type":"array","items":{"type":"string"},"prefixItems":[{}]}`), nil}, refusal{"codex/name", "", long(120)}, refusal{"M1/name", "", named("a b")}),
		"gemini": append(gemini, refusal{"G1/name", "", named("1a")}, refusal{"G1/name", "", named("a.b")}, refusal{"G1/name", "", long(65)}),
		"ollama": llama, "llama.cpp": llama,
		"gemini-cli": append(append(poison("gemini-cli"), gemini...), refusal{"gemini-cli/root", "", nothing}, refusal{"gemini-cli/output", "", answering(`{}`)}, refusal{"gemini-cli/name", "", long(60)},
			refusal{"gemini-cli/property", `{"type":"object","properties":{"wait_for_previous":{"type":"boolean"}}}`, nil}, refusal{"gemini-cli/server", "", func(t *accept.Tool) { t.Server = "a_b" }}),
		"copilot-cli": append(poison("copilot-cli"), refusal{"copilot-cli/name", "", long(61)}),
		"opencode": append(poison("opencode"), refusal{"opencode/ref", `{"type":"object","properties":{"x":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"string"}}}`, nil}, refusal{"opencode/root", root(`"oneOf":[{}]`), nil},
			refusal{"opencode/node", with(`{"type":"array","items":true}`), nil}, refusal{"opencode/enum", with(`{"type":"integer","enum":[1,2]}`), nil}),
		"cursor":   {{"cursor/name", "", long(58)}, {"cursor/output", "", answering(with(`{"type":"array","prefixItems":[{}]}`))}, {"M1/root", `{}`, nil}},
		"windsurf": {{"M1/root", `{}`, nil}, {"M1/metaschema", with(`{"type":"any"}`), nil}},
		"vscode": {{"V1/$schema", root(`"$schema":"https://json-schema.org/draft/2020-12/schema"`), nil}, {"V1/items", with(`{"type":"array"}`), nil}, {"V1/items", with(`{"type":"array","items":{}}`), nil},
			{"V1/items", with(`{"type":"array","items":true}`), nil}, {"V1/items", with(`{"type":"array","items":{"anyOf":[{"type":"string"},{}]}}`), nil}},
		"mistral": {{"mistral/name", "", named("a.b")}, {"mistral/root", `{}`, nil}, {"mistral/keys", root(`"$schema":"http://json-schema.org/draft-07/schema#"`), nil}, {"mistral/keys", root(`"$id":"x"`), nil},
			{"mistral/metaschema", with(`{"exclusiveMinimum":true}`), nil}, {"mistral/ref", with(`{"$ref":"#/x"}`), nil}},
		"kimi": {{"kimi/name", "", named("1a")}, {"kimi/root", `{"properties":{}}`, nil}, {"kimi/root", root(`"allOf":[{}]`), nil}, {"kimi/metaschema", with(`{"type":"any"}`), nil}, {"kimi/ref", with(`{"$ref":"#/x"}`), nil},
			{"kimi/ref-siblings", `{"type":"object","properties":{"x":{"$ref":"#/$defs/D","description":"d"}},"$defs":{"D":{"type":"string"}}}`, nil}, {"kimi/required", root(`"required":["zz"]`), nil},
			{"kimi/type", with(`{}`), nil}, {"kimi/type", with(`{"enum":["a"]}`), nil}, {"kimi/type", with(`{"type":"string","anyOf":[{"type":"string"}]}`), nil}, {"kimi/type", with(`true`), nil},
			{"kimi/items", with(`{"type":"array","items":[{"type":"string"}]}`), nil}, {"kimi/key", `{"type":"object","properties":{"1st":{"type":"string"}}}`, nil},
			{"kimi/type", with(`{"anyOf":[{"type":"string"}],"default":"a"}`), nil}, {"kimi/enum", with(`{"type":"string","enum":["a",1]}`), nil}, {"kimi/key", `{"type":"object","properties":{"required":{"type":"string"}}}`, nil},
			{"kimi/key", root(`"$defs":{"a/b":{"type":"string"}}`), nil}, {"kimi/key", root(`"$defs":{"D":{"type":"object","properties":{"a/b":{"type":"string"}}}}`), nil}},
		"xai": {{"xai/name", "", long(65)}, {"xai/root", `{}`, nil}, {"xai/metaschema", with(`{"type":"any"}`), nil}, {"xai/ref", with(`{"$ref":"#/x"}`), nil},
			{"xai/keys", with(`{"type":"array","contains":{},"maxContains":2}`), nil}, {"xai/required", root(`"required":["zz"]`), nil}, {"xai/cycle", `{"type":"object","properties":{"n":{"$ref":"#"}}}`, nil},
			{"xai/property", with(`true`), nil}, {"xai/enum", with(`{"enum":[]}`), nil}, {"xai/open", with(`{"type":"object"}`), nil},
			{"xai/pattern", with(`{"type":"string","pattern":"a"}`), nil}, {"xai/pattern", with(`{"type":"string","pattern":"^\\p{L}$"}`), nil}, {"xai/pattern", with(`{"type":"string","pattern":"^(?i)a$"}`), nil}},
		"draft-07": {{"draft-07/name", "", named("a b")}, {"draft-07/root", `{}`, nil}, {"draft-07/metaschema", with(`{"exclusiveMinimum":true}`), nil}, {"draft-07/ref", with(`{"$ref":"#/definitions/x"}`), nil},
			{"draft-07/keys", root(`"$schema":"http://json-schema.org/draft-07/schema#"`), nil}, {"draft-07/keys", with(`{"prefixItems":[{}]}`), nil}, {"draft-07/keys", root(`"$defs":{}`), nil},
			{"draft-07/ref-siblings", root(`"$ref":"#/definitions/D","definitions":{"D":{}}`), nil}},
	}
	for _, set := range strings.Fields("zed cline qwen-code") {
		all[set] = append(openaiAPI(set), refusal{set + "/root", root(`"allOf":[{}]`), nil}, refusal{set + "/key", `{"type":"object","properties":{"a b":{}}}`, nil}, refusal{set + "/name", "", long(65)},
			refusal{set + "/map", with(`{"type":"object","additionalProperties":{}}`), nil}, refusal{set + "/output", "", answering(`{}`)})
	}
	all["zed"] = append(all["zed"], refusal{"zed/keys", with(`{"const":"a"}`), nil}, refusal{"zed/keys", with(`{"type":"integer","exclusiveMinimum":1}`), nil}, refusal{"zed/enum", with(`{"enum":["a",1]}`), nil})
	all["cline"] = append(all["cline"], refusal{"cline/required", root(`"required":["zz"]`), nil}, refusal{"cline/keys", root(`"$schema":"https://json-schema.org/draft/2020-12/schema"`), nil}, refusal{"cline/name", "", long(60)})
	all["qwen-code"] = append(all["qwen-code"], refusal{"qwen-code/keys", root(`"$id":"x"`), nil}, refusal{"qwen-code/name", "", long(55)})
	all["kiro"] = append(anthropic, refusal{"kiro/name", "", long(65)}, refusal{"kiro/description", "", undescribed}, refusal{"kiro/keys", with(`{"const":"a"}`), nil}, refusal{"kiro/keys", root(`"$defs":{}`), nil},
		refusal{"kiro/items", with(`{"type":"array"}`), nil}, refusal{"kiro/node", with(`true`), nil}, refusal{"kiro/output", "", answering(`{}`)})
	all["claude-ai"] = append(anthropic, refusal{"claude-ai/name", "", long(65)}, refusal{"claude-ai/keys", root(`"$schema":"https://json-schema.org/draft/2020-12/schema"`), nil}, refusal{"claude-ai/output", "", answering(`{"type":"object"}`)})
	all["gemini-schema"] = geminiSchemaRefusals()
	all["openai-strict"] = openaiStrictRefusals()
	all["claude-desktop"] = claudeDesktopRefusals()
	all["mcp"] = mcpRefusals()
	return all
}

func geminiSchemaRefusals() []refusal {
	var all []refusal
	for rule, schemas := range map[string][]string{
		"G1/root":     {`{"type":"OBJECT"}`, `{"type":"OBJECT","properties":{}}`, `{"type":"STRING"}`, `{}`},
		"G1/keys":     {upper(`{"type":"STRING","const":"a"}`), upper(`{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"additionalProperties":false}`), upper(`{"$ref":"#/$defs/D"}`), upper(`{"oneOf":[{"type":"STRING"}]}`), upper(`{"type":"INTEGER","exclusiveMinimum":0}`)},
		"G1/node":     {upper(`true`), upper(`{"type":"ARRAY","items":false}`)},
		"G1/type":     {upper(`{}`), upper(`{"type":["STRING","NULL"]}`), upper(`{"type":"ANY"}`), upper(`{"type":"STRING","anyOf":[{"type":"STRING"}]}`), upper(`{"type":"TYPE_UNSPECIFIED"}`)},
		"G1/anyOf":    {upper(`{"anyOf":[]}`), upper(`{"anyOf":[{"type":"STRING"}],"pattern":"a"}`)},
		"G1/object":   {upper(`{"type":"STRING","properties":{"a":{"type":"STRING"}}}`), upper(`{"type":"STRING","required":[]}`), upper(`{"type":"OBJECT"}`)},
		"G1/required": {`{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["b"]}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a","a"]}`},
		"G1/key":      {`{"type":"OBJECT","properties":{"a-b":{"type":"STRING"}}}`, `{"type":"OBJECT","properties":{"1a":{"type":"STRING"}}}`},
		"G1/items":    {upper(`{"type":"ARRAY"}`), upper(`{"type":"STRING","items":{"type":"STRING"}}`)},
		"G1/enum":     {upper(`{"type":"INTEGER","enum":["1"]}`), upper(`{"type":"STRING","enum":[]}`), upper(`{"type":"STRING","enum":[""]}`), upper(`{"type":"STRING","enum":["a","a"]}`), upper(`{"type":"INTEGER","format":"enum","enum":[1]}`), upper(`{"type":"INTEGER","format":"enum","enum":["x"]}`)},
		"G1/format":   {upper(`{"type":"STRING","format":"uuid"}`), upper(`{"type":"INTEGER","format":"double"}`), upper(`{"type":"BOOLEAN","format":"enum"}`)},
		"G1/depth":    {upper(strings.Repeat(`{"type":"ARRAY","items":`, 33) + `{"type":"STRING"}` + strings.Repeat("}", 33))},
		"G1/decode":   {upper(`{"type":"STRING","minLength":{}}`), upper(`{"type":"STRING","enum":[1]}`), upper(`{"type":"STRING","nullable":"yes"}`)},
		"G1/propertyOrdering": {
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"propertyOrdering":["b"]}`,
		},
	} {
		for _, s := range schemas {
			all = append(all, refusal{rule, s, nil})
		}
	}
	return append(all, refusal{"G1/name", "", named("1a")}, refusal{"G1/name", "", named(strings.Repeat("n", 65))})
}

func openaiStrictRefusals() []refusal {
	object := func(key, value string) string {
		return `{"type":"object","properties":{"` + key + `":` + value + `},"required":["` + key + `"],"additionalProperties":false}`
	}
	levels := `{"type":"string"}`
	for range 9 {
		levels = object("a", levels)
	}
	var all []refusal
	for rule, schemas := range map[string][]string{
		"O1/root":         {`{}`, `{"type":"object","properties":{},"required":[],"additionalProperties":false,"anyOf":[{"type":"object"}]}`},
		"O1/metaschema":   {strict(`{"type":"any"}`)},
		"O1/keys":         {strict(`{"oneOf":[{"type":"string"}]}`), strict(`{"type":"string","minLength":1}`), strict(`{"type":"string","default":"a"}`), strict(`{"allOf":[{"type":"string"}]}`), strict(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`)},
		"O1/node":         {strict(`true`)},
		"O1/closed":       {`{"type":"object","properties":{},"required":[]}`, strict(`{"type":["object","null"],"properties":{},"required":[]}`)},
		"O1/items":        {strict(`{"type":"array"}`)},
		"O1/ref":          {strict(`{"$ref":"#/$defs/Gone"}`), strict(`{"$ref":"#/properties/x"}`)},
		"O1/ref-siblings": {strict(`{"$ref":"#","description":"d"}`)},
		"O1/format":       {strict(`{"type":"string","format":"uri"}`)},
		"O1/pattern":      {strict(`{"type":"string","pattern":"^(?=a)"}`), strict(`{"type":"string","pattern":"(a)\\1"}`)},
		"O1/type":         {strict(`{}`), strict(`{"description":"anything"}`)},
		"O1/properties":   {strict(`{"type":"object","additionalProperties":false}`)},
		"O1/required":     {`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`, `{"type":"object","properties":{},"required":["a"],"additionalProperties":false}`},
		"O1/anyOf": {
			strict(`{"anyOf":[` + object("k", `{"type":"string"}`) + `,` + object("k", `{"type":"integer"}`) + `]}`),
			strict(`{"anyOf":[` + object("k", `{"const":"a"}`) + `,` + object("k", `{"type":"string"}`) + `]}`),
			strict(`{"anyOf":[` + object("k", `{"enum":["a"]}`) + `,` + object("k", `{"const":"a"}`) + `]}`),
			strict(`{"anyOf":[{"$ref":"#"},` + object("x", `{"type":"integer"}`) + `]}`),
		},
		"O1/limits": {
			object("a", levels+`,"b":`+object("c", levels)),
			strict(`{"enum":[` + repeated(1001, `"%d"`) + `]}`),
			strict(`{"type":"string","enum":[` + repeated(251, `"`+strings.Repeat("v", 60)+`%d"`) + `]}`),
			strict(`{"const":"` + strings.Repeat("c", 120_001) + `"}`),
			`{"type":"object","properties":{` + repeated(5001, `"p%d":{"type":"null"}`) + `},"required":[` + repeated(5001, `"p%d"`) + `],"additionalProperties":false}`,
		},
	} {
		for _, s := range schemas {
			all = append(all, refusal{rule, s, nil})
		}
	}
	return append(all, refusal{"O1/name", "", named("a.b")}, refusal{"O0/description", with(`{"type":"string"}`), func(t *accept.Tool) {
		t.Strict, t.Description = false, strings.Repeat("d", 2000)
	}})
}

func claudeDesktopRefusals() []refusal {
	var all []refusal
	for rule, schemas := range map[string][]string{
		"C1/root":        {`{"properties":{}}`},
		"C1/metaschema":  {with(`{"type":"any"}`)},
		"C1/key":         {`{"type":"object","properties":{"a b":{"type":"string"}}}`},
		"C1/keys":        {with(`{"anyOf":[{"type":"string"}]}`), with(`{"oneOf":[{"type":"string"}]}`), with(`{"allOf":[{"type":"string"}]}`), with(`{"$ref":"#"}`), with(`{"type":"string","not":{"type":"string"}}`)},
		"C1/node":        {with(`true`), with(`{"type":"array","items":true}`)},
		"C1/items":       {with(`{"type":"array"}`)},
		"C1/type":        {with(`{"type":["number","string"]}`), with(`{"type":"null"}`), with(`{}`), with(`{"enum":["a"]}`), with(`{"type":"string","enum":["a",null]}`), with(`{"type":"string","const":null}`)},
		"C1/description": {with(`{"type":"string","description":"a (b)"}`), with(`{"type":"string","description":"time_entries"}`), with(`{"type":"string","description":"1\n2\n3\n4\n5"}`)},
	} {
		for _, s := range schemas {
			all = append(all, refusal{rule, s, nil})
		}
	}
	return append(all, refusal{"C1/name", "", named("a.b")}, refusal{"C1/description", "", described("Lists users (all)")}, refusal{"C1/description", "", described("1\n2\n3\n4\n5")},
		refusal{"C1/output", "", answering(`{"anyOf":[{"type":"object"}]}`)}, refusal{"C1/output", "", answering(`{"type":"object","oneOf":[{}]}`)})
}

func mcpRefusals() []refusal {
	var all []refusal
	for rule, schemas := range map[string][]string{
		"M1/root":       {`{}`, `{"type":["object"]}`, `{"type":"array"}`, `true`, `null`},
		"M1/metaschema": {with(`{"type":"any"}`), with(`{"type":"array","items":[{}]}`), `{"$schema":"https://example.com/x","type":"object"}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":null}`},
		"M1/ref":        {with(`{"$ref":"https://example.com/x"}`), with(`{"$ref":"other.json"}`), with(`{"$ref":"#gone"}`), with(`{"$ref":7}`)},
		"M1/cycle":      {`{"type":"object","$ref":"#"}`, `{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}}}`},
		"M1/bounds":     {with(nested(65, `{}`)), `{"type":"object","properties":{` + repeated(10_001, `"p%d":{}`) + `}}`, with(`{"description":"` + strings.Repeat("d", 1<<20) + `"}`)},
		"M1/x-mcp-header": {with(`{"type":"string","x-mcp-header":"a b"}`), with(`{"type":"string","x-mcp-header":""}`), with(`{"type":"string","x-mcp-header":7}`), with(`{"type":"object","x-mcp-header":"A"}`),
			with(`{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`), `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`},
	} {
		for _, s := range schemas {
			all = append(all, refusal{rule, s, nil})
		}
	}
	for _, b := range accept.Hostile() {
		if strings.HasPrefix(b.Name, "2^25 paths") {
			all = append(all, refusal{"M1/bounds", string(b.Schema), nil})
		}
	}
	return append(all, refusal{"M1/name", "", named("a b")}, refusal{"M1/name", "", named("")}, refusal{"M1/name", "", named(strings.Repeat("n", 129))},
		refusal{"M1/root", "", nothing}, refusal{"json", "", func(t *accept.Tool) { t.Input = json.RawMessage(`{}{}`) }})
}
