package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestLintEffects checks that only what refuses a request counts, whatever else readers do.
func TestLintEffects(t *testing.T) {
	input := schema.MustParse(`{"type":"object","properties":{"a":{"type":["string","null"]}}}`)
	for _, effect := range []dialect.Effect{
		"loses all tools of the session", "loses all tools of the server", refused, "the tool is dropped", "calls of the tool fail", "advice",
	} {
		book, err := dialect.NewBook(map[string][]byte{"x": fmt.Appendf(nil, `{"extends":"mcp","input":{"union":{"noList":true}},
			"sources":[{"rules":["type-list"],"effect":%q,"date":"2026-11-21","how":"observed","source":"a test"}]}`, effect)})
		if err != nil {
			t.Fatal(err)
		}
		d, err := book.Find("x")
		if err != nil {
			t.Fatal(err)
		}
		if err := lint(d, "a", input); (err != nil) != (effect == refused) {
			t.Errorf("%s: got %v", effect, err)
		}
	}
}

// TestStrictLimits checks each limit of the strict tools of a request at its edge.
func TestStrictLimits(t *testing.T) {
	tools := func(n int, input string) json.RawMessage {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"name":"t%d","strict":true,"input_schema":%s}`, i, input))
		}
		return json.RawMessage("[" + strings.Join(list, ",") + "]")
	}
	object := func(n int, property, required string) string {
		var properties []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, property))
		}
		return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + required + `],"additionalProperties":false}`
	}
	const union = `{"anyOf":[{"type":"string"},{"type":"integer"}]}`
	for _, test := range []struct {
		name string
		list func(n int) json.RawMessage
		most int
	}{
		{"tools", func(n int) json.RawMessage { return tools(n, object(0, "", "")) }, 20},
		{"optional properties", func(n int) json.RawMessage { return tools(1, object(n, `{"type":"string"}`, "")) }, 24},
		{"unions", func(n int) json.RawMessage {
			return tools(1, object(1, `{"anyOf":[`+strings.TrimSuffix(strings.Repeat(union+",", n-1), ",")+`]}`, `"p0"`))
		}, 16},
	} {
		if err := checkTools(test.list(test.most)); err != nil {
			t.Errorf("%d %s: %v", test.most, test.name, err)
		}
		if err := checkTools(test.list(test.most + 1)); err == nil || !strings.Contains(err.Error(), "the strict tools are") {
			t.Errorf("%d %s: got %v", test.most+1, test.name, err)
		}
	}
}
