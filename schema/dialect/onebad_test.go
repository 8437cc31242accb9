package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// badSchemas are in no draft what their authors meant, and some are not schemas.
const badSchemas = `
5
"string"
[{"type":"string"}]
null
true
{"type":"any"}
{"type":5}
{"type":["string",5]}
{"type":[]}
{"type":"file"}
{"type":"STRING"}
{"type":["str","None"]}
{"$ref":"#/$defs/nope"}
{"$ref":5}
{"$ref":"http://localhost/x"}
{"$ref":"#/properties/bad"}
{"$ref":"#"}
{"allOf":[{"$ref":"#/properties/bad"}]}
{"type":"string","pattern":"("}
{"type":"string","pattern":5}
{"type":"string","pattern":"(?P<a>x)"}
{"enum":"a"}
{"enum":[1,1,"a",null,{}]}
{"type":"object","properties":5}
{"type":"object","properties":{"x":5,"y":{"type":"string"}},"required":["x","y"]}
{"type":"object","required":"x"}
{"type":"array","items":"string"}
{"type":"array","items":[5]}
{"type":"array","prefixItems":[5,{"type":"string"}]}
{"anyOf":{}}
{"anyOf":[5,{"type":"string"}]}
{"oneOf":[null,{"type":"string"}]}
{"type":"integer","minimum":"1"}
{"type":"string","maxLength":-1}
{"type":"number","multipleOf":0}
{"type":"object","additionalProperties":"string"}
{"type":"string","description":5}
{"type":"string","title":{},"examples":5,"format":5,"nullable":"yes"}
{"not":5}
{"$defs":[],"type":"string"}
{"type":"object","patternProperties":{"(":{}}}
{"type":"object","dependentRequired":{"a":"b"}}
{"type":"string","x-mcp-header":5}
{"type":"integer","maximum":1e400}`

// TestOneBadMember: a schema in which one place is wrong keeps all others, each
// reader accepts it, and it can be called.
func TestOneBadMember(t *testing.T) {
	t.Parallel()
	places := map[string]string{
		"property": `{"type":"object","properties":{"good":{"type":"string"},"bad":%s},"required":["good"]}`,
		"required": `{"type":"object","properties":{"bad":%s,"good":{"type":"string"}},"required":["bad","good"]}`,
		"nested":   `{"type":"object","properties":{"o":{"type":"object","properties":{"good":{"type":"string"},"bad":%s},"required":["good"]}}}`,
		"items":    `{"type":"object","properties":{"good":{"type":"string"},"l":{"type":"array","items":%s}}}`,
		"anyOf":    `{"type":"object","properties":{"good":{"type":"string"},"u":{"anyOf":[{"type":"integer"},%s]}}}`,
		"allOf":    `{"type":"object","properties":{"good":{"type":"string"},"u":{"allOf":[{"description":"u"},%s]}}}`,
		"pattern":  `{"type":"object","properties":{"good":{"type":"string"}},"patternProperties":{"^x":%s}}`,
		"others":   `{"type":"object","properties":{"good":{"type":"string"}},"additionalProperties":%s}`,
		"defs":     `{"type":"object","properties":{"good":{"$ref":"#/$defs/good"},"bad":{"$ref":"#/$defs/bad"}},"$defs":{"good":{"type":"string"},"bad":%s}}`,
	}
	for _, id := range strings.Fields("mcp anthropic anthropic-strict openai openai-strict gemini gemini-schema kimi xai vscode draft-07 llama.cpp kiro zed") {
		d, err := dialect.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		for place, form := range places {
			for _, bad := range strings.Split(strings.TrimSpace(badSchemas), "\n") {
				oneBad(t, d, place, fmt.Sprintf(form, bad))
			}
		}
	}
}

func oneBad(t *testing.T, d *dialect.Dialect, place, raw string) {
	t.Helper()
	a := d.Adapt([]*toolpost.Tool{{Definition: toolpost.Definition{Name: "t", Description: "d", Input: schema.MustParse(raw)}}}, nil)
	if len(a.Tools) == 0 {
		t.Errorf("%s: %s is withheld: %+v", d.ID, raw, a.Withheld)
		return
	}
	tool := a.Tools[0]
	out := string(tool.Input.Raw())
	if !strings.Contains(out, `"good":{"`) {
		t.Errorf("%s: %s becomes %s", d.ID, raw, out)
	}
	for _, v := range accept.Check(d.ID, []accept.Tool{{Server: "s", Name: "t", Description: "d", Input: tool.Input.Raw(), Strict: tool.Strict}}) {
		t.Errorf("%s: %s becomes %s: %v", d.ID, raw, out, v)
	}
	if place != "property" && place != "items" && place != "defs" || strings.Contains(out, `"request"`) {
		return
	}
	if _, err := tool.Decode(json.RawMessage(`{"good":"x"}`)); err != nil {
		t.Errorf("%s: %s as %s cannot be called: %v", d.ID, raw, out, err)
	}
}

// TestOneBadMemberStays: what mcp, which changes the least, makes of some of these.
func TestOneBadMemberStays(t *testing.T) {
	d, err := dialect.Find("mcp")
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"},"type":"object","b":null},"required":["a"]}`: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":"string"},"required":["a","b"]}`:         `{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a","b"]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a",1]}`:                    `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"},"b":5}}`:  `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"STRING"},"b":{"type":["Int","None"]}}}`:               `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}}}`,
		`{"type":"object","properties":{"a":{"allOf":[{"type":"string"},5]}}}`:                             `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},"number"]}}}`:                      `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","description":5,"title":"A"}}}`:               `{"type":"object","properties":{"a":{"type":"string","title":"A"}}}`,
	} {
		tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "t", Description: "d", Input: schema.MustParse(raw)}}
		if got := string(d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0].Input.Raw()); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", raw, got, want)
		}
	}
}
