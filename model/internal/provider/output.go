package provider

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// AnswerName is the name of a structured answer, and of the member that contains
// one that is not an object itself.
const AnswerName = "answer"

// OutputInstruction returns what the prompt says about a structured answer whose
// schema the provider cannot enforce.
func OutputInstruction(s *schema.Schema) string {
	return "\n\nYour final answer is JSON of this schema, without any other text:\n" + string(s.Raw())
}

// WrapSchema returns the schema of an object whose only member is a value of a
// schema. Definitions stay where references find them.
func WrapSchema(s *schema.Schema) (*schema.Schema, error) {
	var outer, inner, properties Object
	outer.AddText("type", "object")
	for name, value := range wire.Members(s.Raw()) {
		switch name {
		case "$defs", "definitions", "$schema":
			outer.Add(name, value)
		default:
			inner.Add(name, value)
		}
	}
	properties.Add(AnswerName, inner.JSON())
	outer.Add("properties", properties.JSON())
	outer.Add("required", Array([]json.RawMessage{wire.Quote(AnswerName)}))
	outer.Add("additionalProperties", json.RawMessage("false"))
	return schema.Parse(outer.JSON())
}

// UnwrapAnswer returns the value in a wrapped answer, nil if it has none.
func UnwrapAnswer(answer json.RawMessage) json.RawMessage { return wire.Get(answer, AnswerName) }
