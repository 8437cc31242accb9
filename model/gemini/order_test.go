package gemini_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestOrderProperties lists the order of properties in schemas only: not of
// values, nor for a property that is named like a keyword.
func TestOrderProperties(t *testing.T) {
	const text = `{"type":"object","properties":{
		"properties":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"y":{"type":"string"},"x":{"type":"string"}}},{"type":"string"}]}},
		"given":{"type":"object","properties":{"d":{"type":"integer"},"c":{"type":"string"}},"propertyOrdering":["c","d"],
			"default":{"properties":{"z":1,"w":1}}}}}`
	got, err := gemini.OrderProperties(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{` +
		`"given":{"default":{"properties":{"w":1,"z":1}},"properties":{"c":{"type":"string"},"d":{"type":"integer"}},"propertyOrdering":["c","d"],"type":"object"},` +
		`"list":{"items":{"anyOf":[{"properties":{"x":{"type":"string"},"y":{"type":"string"}},"propertyOrdering":["y","x"],"type":"object"},{"type":"string"}]},"type":"array"},` +
		`"properties":{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"propertyOrdering":["b","a"],"type":"object"}},` +
		`"propertyOrdering":["properties","list","given"],"type":"object"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWithheld: a tool with a number that Google would read as another one, or not at all,
// is withheld; otherwise the whole request would be refused. Bounds may be rounded: the
// tool checks its arguments.
func TestWithheld(t *testing.T) {
	for id, withheld := range map[string]int{"gemini": 2, "gemini-schema": 1} { // there, listed values are texts
		d, err := dialect.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		var tools toolpost.Tools
		for name, text := range map[string]string{
			"huge": `{"type":"object","properties":{"a":{"type":"number","default":1e400}},"required":["a"]}`,
			"long": `{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740993]}}}`,
			"fine": `{"type":"object","properties":{"a":{"type":"integer","default":1e4,"maximum":9223372036854775807}},"required":["a"]}`,
		} {
			tools = append(tools, &toolpost.Tool{Definition: toolpost.Definition{Name: name, Description: "A tool.", Input: schema.MustParse(text)},
				Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, nil }})
		}
		r := hello()
		if r.Tools, err = toolpost.NewSet(t.Context(), tools); err != nil {
			t.Fatal(err)
		}
		w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
		opts := w.options()
		opts.Dialect = d
		m := gemini.New("gemini-3-pro-preview", opts)
		got, err := ask(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(w.bodies[0], `"name":"fine"`) || strings.Contains(w.bodies[0], `"name":"huge"`) || len(got.Losses) != withheld {
			t.Errorf("%s: losses %v\n%s", id, got.Losses, w.bodies[0])
		}
	}
}
