package claude

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// An answerSchema defines the structure of the answer. The CLI gives the model a tool
// with that schema and makes the model call it.
type answerSchema struct {
	schema  *schema.Schema   // as it was asked for
	sent    json.RawMessage  // as the CLI is told
	wrapped bool             // sent is an object whose member "value" is the schema
	lowered *dialect.Lowered // from what the model writes to the schema, inside the wrapping
	err     error            // why it cannot be used; nil if it can
}

// output returns the structure of the answer, nil for text.
func (o *Options) output() *answerSchema {
	if o.Output == nil {
		return nil
	}
	return newAnswerSchema(o.Output)
}

// newAnswerSchema returns the structure that a schema describes. The API accepts only plain
// objects, so any other schema is wrapped in an object, and its values are unwrapped.
func newAnswerSchema(s *schema.Schema) *answerSchema {
	code, err := dialect.Find("claude-code")
	if err != nil {
		return &answerSchema{err: err}
	}
	o := &answerSchema{schema: s}
	o.lowered, o.wrapped = code.LowerMember(s)
	if l := o.lowered.Rejected(); l != nil {
		o.err = fmt.Errorf("the output schema cannot be expressed for the model: %s %s: %s; change it", l.Pointer, l.Keyword, l.Detail)
		return o
	}
	o.sent = o.lowered.Schema
	if o.sent == nil {
		o.sent = json.RawMessage(`{"type":"object"}`)
	}
	if o.wrapped {
		o.sent, o.err = wrapSchema(o.sent)
	}
	return o
}

// wrapSchema returns the schema of an object whose member "value" is of the given
// schema. What it refers to is moved along to the root.
func wrapSchema(inner json.RawMessage) (json.RawMessage, error) {
	outer := map[string]any{"type": "object", "required": []string{"value"}, "additionalProperties": false}
	var members map[string]json.RawMessage
	if json.Unmarshal(inner, &members) == nil { // else it is a boolean
		if defs, ok := members["$defs"]; ok {
			outer["$defs"] = defs
			delete(members, "$defs")
		}
		var err error
		if inner, err = json.Marshal(members); err != nil {
			return nil, fmt.Errorf("wrap the output schema: %w", err)
		}
	}
	outer["properties"] = map[string]any{"value": inner}
	return json.Marshal(outer)
}

// read turns what the model wrote into a value of the schema.
func (o *answerSchema) read(raw json.RawMessage) (json.RawMessage, error) {
	if o.wrapped {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, errors.New("it is not an object")
		}
		value, ok := members["value"]
		if !ok {
			return nil, errors.New(`it has no member "value"`)
		}
		raw = value
	}
	value, _ := o.lowered.Decode(raw)
	return o.validate(value)
}

func (o *answerSchema) validate(value json.RawMessage) (json.RawMessage, error) {
	if err := o.schema.Validate(value); err != nil {
		return nil, err
	}
	return o.schema.ApplyDefaults(value), nil
}

// An OutputError reports a run that succeeded, but without the requested
// structured output.
type OutputError struct {
	Reason    string
	SessionID string
	Result    string // the text that the model wrote instead
	Err       error  // the defect of the output; nil if there is no output
}

func (e *OutputError) Error() string {
	text := "no structured output: " + e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the defect of the output.
func (e *OutputError) Unwrap() error { return e.Err }
