package offer_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/offer"
)

// TestGeminiOrder tells the order of properties in schemas only: not of
// values, nor for a property that is named like a keyword.
func TestGeminiOrder(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"properties":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"y":{"type":"string"},"x":{"type":"string"}}},{"type":"string"}]}},
		"given":{"type":"object","properties":{"d":{"type":"integer"},"c":{"type":"string"}},"propertyOrdering":["c","d"],
			"default":{"properties":{"z":1,"w":1}}}}}`
	o, err := gemini.Tools(context.Background(), toolpost.Tools{parsed(t, "tool", json.RawMessage(schema))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := must(json.Marshal(o.Tools[0].FunctionDeclarations[0].ParametersJsonSchema))
	equal(t, "schema", got, `{"type":"object","propertyOrdering":["properties","list","given"],"properties":{
		"properties":{"type":"object","propertyOrdering":["b","a"],"properties":{"b":{"type":"string"},"a":{"type":"string"}}},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","propertyOrdering":["y","x"],"properties":{"y":{"type":"string"},"x":{"type":"string"}}},{"type":"string"}]}},
		"given":{"type":"object","properties":{"d":{"type":"integer"},"c":{"type":"string"}},"propertyOrdering":["c","d"],
			"default":{"properties":{"z":1,"w":1}}}}}`)
}

// TestGeminiNumber withholds a tool with a number that is not a float64, as numbers are
// in Google's API: the whole request would be refused.
func TestGeminiNumber(t *testing.T) {
	for _, id := range []string{"gemini", "gemini-schema"} {
		tools := toolpost.Tools{
			parsed(t, "huge", json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","default":1e400}},"required":["a"]}`)),
			parsed(t, "fine", json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","default":1e4}},"required":["a"]}`)),
		}
		o, err := gemini.Tools(context.Background(), tools, &offer.Options{Dialect: find(t, id)})
		if err != nil {
			t.Fatal(err)
		}
		if f := o.Tools[0].FunctionDeclarations; len(f) != 1 || f[0].Name != "fine" || o.Set.Lookup("huge") != nil {
			t.Errorf("%s: offered %v", id, f)
		}
		if w := o.Adapted.Withheld; len(w) != 1 || w[0].Name != "huge" || w[0].Rule != id+"/sdk-type" {
			t.Errorf("%s: withheld %v", id, w)
		}
	}
}

// TestGeminiLargeInteger: a tool whose listed integers Google would read as others is
// withheld. Bounds may be rounded: the tool checks its arguments.
func TestGeminiLargeInteger(t *testing.T) {
	tools := toolpost.Tools{
		parsed(t, "listed", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740993]}}}`)),
		parsed(t, "const", json.RawMessage(`{"type":"object","properties":{"a":{"const":12345678901234567890}}}`)),
		parsed(t, "fine", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740992],"maximum":9223372036854775807}}}`)),
	}
	o, err := gemini.Tools(context.Background(), tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := o.Tools[0].FunctionDeclarations; len(f) != 1 || f[0].Name != "fine" {
		t.Errorf("offered %v", f)
	} else {
		equal(t, "schema", must(json.Marshal(f[0].ParametersJsonSchema)), `{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740992],"maximum":9223372036854775807}}}`)
	}
	if w := o.Adapted.Withheld; len(w) != 2 || !strings.Contains(w[0].Why, "the listed value 9007199254740993 would be another number for Google") {
		t.Errorf("withheld %v", w)
	}
}
