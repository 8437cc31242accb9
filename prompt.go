package toolpost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// A PromptMessage is one message of a prompt (MCP 2026-07-28, PromptMessage).
type PromptMessage struct {
	Role    string // user or assistant; user if empty
	Content Part   // a part without a type is a text
}

// NewPrompt returns a prompt whose messages a typed function returns: a string for
// one message of the user, parts for several, or messages of both sides.
//
// In is a struct whose fields are texts, such as strings. They are the prompt's
// arguments, described by the tags of [schema.ForInputType]. Arguments are
// validated, and their defaults filled in, before get runs; wrong ones are a
// *[ProtocolError]. [CallFrom] returns the call.
//
// NewPrompt panics if name is empty, or if In has another field than texts. Like
// [regexp.MustCompile], it is for definitions that are fixed at compile time.
func NewPrompt[In any, Out string | []Part | []PromptMessage](name string, get func(context.Context, In) (Out, error), opts *FeatureOptions) *Prompt {
	if opts == nil {
		opts = new(FeatureOptions)
	}
	description := opts.Description
	input, err := inputSchema(reflect.TypeFor[In](), nil)
	var definition json.RawMessage
	if err == nil {
		definition, err = promptDefinition(name, opts.Title, description, input)
	}
	if err != nil {
		panic(fmt.Sprintf("toolpost.NewPrompt(%q): %v", name, err))
	}
	return &Prompt{
		Name:       name,
		Definition: definition,
		Complete:   opts.complete(),
		Get: func(ctx context.Context, call *Call) (*Result, error) {
			var in In
			if err := decodePromptArguments(input, call, &in); err != nil {
				return nil, &ProtocolError{Code: codeInvalidParams, Message: err.Error()}
			}
			out, err := get(withCall(ctx, call), in)
			if err != nil {
				return nil, err
			}
			return promptResult(description, promptMessages(out))
		},
	}
}

// codeInvalidParams is JSON-RPC's code for params that are not valid.
const codeInvalidParams = -32602

// withCall returns a context for which [CallFrom] returns call.
func withCall(ctx context.Context, call *Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// promptDefinition returns the MCP Prompt object with the properties of input as arguments.
func promptDefinition(name, title, description string, input *schema.Schema) (json.RawMessage, error) {
	if name == "" {
		return nil, errors.New("the name is empty; give the prompt a name")
	}
	type argument struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	}
	var (
		arguments []argument
		required  = map[string]bool{}
		err       error
	)
	for element := range wire.Elements(wire.Get(input.Raw(), "required")) {
		required[wire.Unquote(element)] = true
	}
	for property, s := range wire.Members(wire.Get(input.Raw(), "properties")) {
		if kind := wire.Get(s, "type"); string(kind) != `"string"` {
			err = errors.Join(err, fmt.Errorf("the argument %q is not a text (its type is %s); clients send the arguments of prompts as texts", property, kind))
		}
		arguments = append(arguments, argument{property, wire.Unquote(wire.Get(s, memberDescription)), required[property]})
	}
	if err != nil {
		return nil, err
	}
	return codec.Encode(struct {
		Name        string     `json:"name"`
		Title       string     `json:"title,omitempty"`
		Description string     `json:"description,omitempty"`
		Arguments   []argument `json:"arguments,omitempty"`
	}{name, title, description, arguments})
}

// decodePromptArguments validates the arguments of a call and reads them into in.
func decodePromptArguments(input *schema.Schema, call *Call, in any) error {
	raw := arguments(call)
	err := input.Validate(raw)
	if err == nil {
		err = codec.Decode(input.ApplyDefaults(raw), in)
	}
	if err != nil {
		return fmt.Errorf("invalid arguments for the prompt %s:\n%w", call.Name, err)
	}
	return nil
}

// promptMessages returns the messages that the function of a prompt returned.
func promptMessages(out any) (messages []PromptMessage) {
	switch out := out.(type) {
	case string:
		return []PromptMessage{{Content: Part{Type: "text", Text: out}}}
	case []Part:
		for _, p := range out {
			messages = append(messages, PromptMessage{Content: p})
		}
	case []PromptMessage:
		return out
	}
	return messages
}

// promptResult returns the result of prompts/get with these messages.
func promptResult(description string, messages []PromptMessage) (*Result, error) {
	type message struct {
		Role    string `json:"role"`
		Content Part   `json:"content"`
	}
	encoded := []message{}
	for i, m := range messages {
		role, content := m.Role, m.Content
		switch role {
		case "":
			role = "user"
		case "user", "assistant":
		default:
			return nil, fmt.Errorf("message %d of the prompt has the role %q; use user or assistant", i+1, role)
		}
		if content.Type == "" && content.Raw == nil {
			content.Type = "text"
		}
		encoded = append(encoded, message{role, content})
	}
	raw, err := codec.Encode(struct {
		Description string    `json:"description,omitempty"`
		Messages    []message `json:"messages"`
	}{description, encoded})
	if err != nil {
		return nil, fmt.Errorf("encode the messages of the prompt: %w", err)
	}
	return RawResult(raw), nil
}
