package anthropic

import (
	"encoding/json"

	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/lower"
)

// An outputFormat is the form of a structured answer.
type outputFormat struct {
	schema   json.RawMessage // in the provider's dialect; nil if the provider cannot enforce it
	original *schema.Schema
	codec    *lower.Codec // converts answers back
	wrapped  bool         // the answer is a member of an object, because it is not an object itself
}

// answerName is the name of the member that contains a wrapped answer.
const answerName = "answer"

// outputFormat returns the form of the answer, nil for text. The API restricts
// the schemas that it enforces. The model reads any other schema as an
// instruction.
func (b *builder) outputFormat() *outputFormat {
	if b.r.Output == nil {
		return nil
	}
	f := &outputFormat{original: b.r.Output, wrapped: !b.r.Output.IsObject()}
	strict, err := dialect.Find("anthropic-strict")
	s := f.original
	if f.wrapped && err == nil {
		s, err = schema.Parse(wrapSchema(s.Raw()))
	}
	if err != nil {
		b.lose(-1, -1, "the model reads the schema of the answer as an instruction: %v", err)
		return f
	}
	lowered := lower.Schema(s, &strict.Input)
	counts := lower.CountsOf(lowered.Schema)
	rejected := len(lowered.Schema) == 0 || counts.Optional > strict.Strict.Optional || counts.Unions > strict.Strict.Unions
	for _, l := range lowered.Losses {
		switch l.Kind {
		case lower.Noop, lower.Encoded:
		case lower.Rejected:
			rejected = true
		default:
			b.lose(-1, -1, "schema of the answer, %s, %s: %s", l.Pointer, l.Keyword, l.Detail)
		}
	}
	if rejected {
		b.lose(-1, -1, "the provider cannot enforce the schema of the answer; the model reads it as an instruction")
		return f
	}
	f.schema, f.codec = lowered.Schema, lowered.Codec
	return f
}

// instructions returns what the system prompt says about the answer.
func (f *outputFormat) instructions() string {
	if f == nil || f.schema != nil {
		return ""
	}
	return "\n\nYour final answer is JSON of this schema, without any other text:\n" + string(f.original.Raw())
}

// outputConfig returns the output_config of a request, nil if it has none.
func outputConfig(effort string, f *outputFormat) json.RawMessage {
	var config object
	if effort != "" {
		config.add("effort", quote(effort))
	}
	if f != nil && f.schema != nil {
		var format object
		format.add("type", json.RawMessage(`"json_schema"`))
		format.add("schema", f.schema)
		config.add("format", format.close())
	}
	if config.b.Len() == 0 {
		return nil
	}
	return config.close()
}

// wrapSchema returns the schema of an object that contains a value of a schema.
// Definitions stay where references find them.
func wrapSchema(raw json.RawMessage) json.RawMessage {
	var outer, inner, properties object
	outer.add("type", json.RawMessage(`"object"`))
	for _, m := range jsontree.Read(raw).Members() {
		switch m.Name {
		case "$defs", "definitions", "$schema":
			outer.add(m.Name, m.Raw)
		default:
			inner.add(m.Name, m.Raw)
		}
	}
	properties.add(answerName, inner.close())
	outer.add("properties", properties.close())
	outer.add("required", json.RawMessage(`["`+answerName+`"]`))
	return outer.close()
}

// decode converts the texts of an answer to the shape of the original schema.
// Texts that are not JSON remain as they are.
func (f *outputFormat) decode(m *model.Message) {
	if f == nil || f.codec == nil || f.codec.Identity() && !f.wrapped {
		return
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != model.TypeText {
			continue
		}
		if _, err := jsontree.Parse([]byte(p.Text), maxLevels); err != nil {
			continue
		}
		decoded, _ := f.codec.Decode(json.RawMessage(p.Text))
		if f.wrapped {
			answer := jsontree.Read(decoded).Get(answerName)
			if answer == nil {
				continue
			}
			decoded = answer.Raw
		}
		p.Text = string(decoded)
	}
}
