package openai

import (
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// An answerFormat is the schema of a structured answer as a model receives it.
type answerFormat struct {
	tool    *dialect.Tool // its arguments are the answer
	wrapped bool          // the answer is a member of an object, because it is none itself
}

// newAnswerFormat adapts a schema to a dialect, by way of a tool with these
// arguments.
func newAnswerFormat(s *schema.Schema, d *dialect.Dialect) (*answerFormat, error) {
	if d == nil {
		var err error
		if d, err = dialect.Find(dialectID); err != nil {
			return nil, err
		}
	}
	f := &answerFormat{wrapped: !s.IsObject()}
	parse := func(s *schema.Schema) (*schema.Schema, error) { return schema.Parse(s.Raw()) }
	if f.wrapped {
		parse = provider.WrapSchema
	}
	input, err := parse(s) // another one: a cache must not hold s
	if err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: provider.AnswerName, Description: "The answer.", Input: input}}
	adapted := d.Adapt([]*toolpost.Tool{tool}, nil)
	if len(adapted.Tools) == 0 {
		return nil, fmt.Errorf("the schema of the answer does not fit the dialect %s: %s", d.ID, adapted.Withheld[0].Why)
	}
	f.tool = adapted.Tools[0]
	return f, nil
}

// schema returns the schema for the request.
func (f *answerFormat) schema() json.RawMessage { return f.tool.InputSchema() }

// decode returns an answer in the form of its own schema. An answer that does
// not fit remains as it is.
func (f *answerFormat) decode(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	decoded, err := f.tool.Decode(json.RawMessage(text))
	if err != nil {
		return text
	}
	if !f.wrapped {
		return string(decoded)
	}
	if answer := provider.UnwrapAnswer(decoded); answer != nil {
		return string(answer)
	}
	return text
}

// decodeAnswer puts the answer of a structured output in the form of its own
// schema. The raw form of the part remains.
func decodeAnswer(format *answerFormat, r *model.Response) {
	if format == nil || r.Stop != model.StopEnd {
		return
	}
	for i := range r.Message.Parts {
		if p := &r.Message.Parts[i]; p.Type == model.TypeText {
			p.Text = format.decode(p.Text)
		}
	}
}
