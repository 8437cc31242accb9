package claude

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// An Output defines the structure of the answer. The CLI gives the model a tool
// with that schema and makes the model call it.
type Output struct {
	schema  *schema.Schema   // as it was asked for
	sent    json.RawMessage  // as the CLI is told
	wrapped bool             // sent is an object whose member "value" is the schema
	lowered *dialect.Lowered // from what the model writes to the schema, inside the wrapping
	err     error
}

// OutputOf returns the structure of a Go type, by the rules of [schema.ForInput].
// Pointers do not accept null: for an answer that may be null, use [OutputFrom]
// with a schema that allows it.
func OutputOf[T any]() *Output {
	s, err := schema.ForInput[T]()
	if err != nil {
		return &Output{err: fmt.Errorf("infer the output schema: %w", err)}
	}
	return OutputFrom(s)
}

// OutputFrom returns the structure that a schema describes. The API accepts
// only plain objects, so any other schema is wrapped in an object, and its
// values are unwrapped. An Output that cannot be used causes an error when it
// is used.
func OutputFrom(s *schema.Schema) *Output {
	if s == nil {
		return &Output{err: errors.New("the output schema is nil; give one, or leave out Output")}
	}
	code, err := dialect.Find("claude-code")
	if err != nil {
		return &Output{err: err}
	}
	plain, possible := dialect.IsPlainObject(s)
	if !possible {
		return &Output{err: errors.New("no value matches the output schema; change it")}
	}
	o := &Output{schema: s, wrapped: !plain}
	o.lowered = code.Lower(s, &dialect.LowerOptions{Member: o.wrapped})
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

// usable is what is wrong with the output; nil if nothing is.
func (o *Output) usable() error {
	if o.err == nil && o.schema == nil {
		return errors.New("the Output is empty; create it with OutputOf or OutputFrom")
	}
	return o.err
}

// read turns what the model wrote into a value of the schema.
func (o *Output) read(raw json.RawMessage) (json.RawMessage, error) {
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

func (o *Output) validate(value json.RawMessage) (json.RawMessage, error) {
	if err := o.schema.Validator().Validate(value); err != nil {
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
