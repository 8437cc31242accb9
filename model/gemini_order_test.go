package model_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// TestGeminiOrder tells the order of properties in schemas only: not of
// values, nor for a property that is named like a keyword.
func TestGeminiOrder(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"properties":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","properties":{"y":{"type":"string"},"x":{"type":"string"}}},{"type":"string"}]}},
		"given":{"type":"object","properties":{"d":{"type":"integer","maximum":9007199254740993},"c":{"type":"string"}},"propertyOrdering":["c","d"],
			"default":{"properties":{"z":1,"w":1e400}}}}}`
	offer, err := model.GeminiTools(context.Background(), toolpost.Tools{parsed(t, "tool", json.RawMessage(schema))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := must(json.Marshal(offer.Tools[0].FunctionDeclarations[0].ParametersJsonSchema))
	equal(t, "schema", got, `{"type":"object","propertyOrdering":["properties","list","given"],"properties":{
		"properties":{"type":"object","propertyOrdering":["b","a"],"properties":{"b":{"type":"string"},"a":{"type":"string"}}},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","propertyOrdering":["y","x"],"properties":{"y":{"type":"string"},"x":{"type":"string"}}},{"type":"string"}]}},
		"given":{"type":"object","properties":{"d":{"type":"integer","maximum":9007199254740993},"c":{"type":"string"}},"propertyOrdering":["c","d"],
			"default":{"properties":{"z":1,"w":1e400}}}}}`)
}
