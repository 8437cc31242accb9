package anthropic

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// An outputFormat is the form of a structured answer.
type outputFormat struct {
	schema   json.RawMessage // in the provider's dialect; nil if the provider cannot enforce it
	original *schema.Schema
	lowered  *dialect.Lowered // converts answers back
	wrapped  bool             // the answer is a member of an object, because it is not an object itself
}

// outputFormat returns the form of the answer, nil for text. The API restricts
// the schemas that it enforces. The model reads any other schema as an
// instruction.
func (b *builder) outputFormat() *outputFormat {
	if b.r.Output == nil {
		return nil
	}
	f := &outputFormat{original: b.r.Output, wrapped: !b.r.Output.IsObject()}
	strict, err := dialect.Find(strictDialect)
	s := f.original
	if f.wrapped && err == nil {
		s, err = provider.WrapSchema(s)
	}
	if err != nil {
		b.losses.Add(-1, -1, "the model reads the schema of the answer as an instruction: %v", err)
		return f
	}
	lowered := strict.Lower(s)
	if len(lowered.Schema) == 0 || !lowered.FitsStrict() || b.losses.AddSchema(lowered) != "" {
		b.losses.Add(-1, -1, "the provider cannot enforce the schema of the answer; the model reads it as an instruction")
		return f
	}
	f.schema, f.lowered = lowered.Schema, lowered
	return f
}

// instructions returns what the system prompt says about the answer.
func (f *outputFormat) instructions() string {
	if f == nil || f.schema != nil {
		return ""
	}
	return provider.OutputInstruction(f.original)
}

// outputConfig returns the output_config of a request, nil if it has none.
func outputConfig(effort string, f *outputFormat) json.RawMessage {
	if effort == "" && (f == nil || f.schema == nil) {
		return nil
	}
	var config provider.Object
	if effort != "" {
		config.AddText("effort", effort)
	}
	if f != nil && f.schema != nil {
		var format provider.Object
		format.AddText("type", "json_schema")
		format.Add("schema", f.schema)
		config.Add("format", format.JSON())
	}
	return config.JSON()
}

// decode converts the texts of an answer to the shape of the original schema.
// Texts that are not JSON remain as they are.
func (f *outputFormat) decode(m *model.Message) {
	if f == nil || f.lowered == nil || f.lowered.Identity() && !f.wrapped {
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
		decoded, _ := f.lowered.Decode(json.RawMessage(p.Text))
		if f.wrapped {
			if decoded = provider.UnwrapAnswer(decoded); decoded == nil {
				continue
			}
		}
		p.Text = string(decoded)
	}
}
