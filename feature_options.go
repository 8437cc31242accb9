package toolpost

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
)

// FeatureOptions are the optional parts of [NewPrompt] and [NewResource].
type FeatureOptions struct {
	Title       string
	Description string
	MIMEType    string // of a resource's contents that do not name their own; prompts have none

	// Complete returns the values that an argument of a prompt, or a variable of a resource
	// template, may have: those that match what the user has typed so far. Others has the
	// arguments that already have a value. Nil completes nothing.
	Complete func(ctx context.Context, argument, typed string, others map[string]string) ([]string, error)
}

// maxCompletions is how many values a completion may have (MCP 2026-07-28, Completion).
const maxCompletions = 100

// complete returns the handler of completion/complete, nil if nothing completes.
func (o *FeatureOptions) complete() Handler {
	if o.Complete == nil {
		return nil
	}
	f := o.Complete // not the options, which the caller may change
	return func(ctx context.Context, call *Call) (*Result, error) {
		argument, given := wire.Get(call.Arguments, "argument"), wire.Get(wire.Get(call.Arguments, "context"), "arguments")
		others := map[string]string{}
		for name, value := range wire.Members(given) {
			others[name] = wire.Unquote(value)
		}
		values, err := f(withCall(ctx, call), wire.Unquote(wire.Get(argument, "name")), wire.Unquote(wire.Get(argument, "value")), others)
		if err != nil {
			return nil, err
		}
		return completionResult(values)
	}
}

// completionResult returns the result of completion/complete with the first of these values.
func completionResult(values []string) (*Result, error) {
	type completion struct {
		Values  []string `json:"values"`
		Total   int      `json:"total"`
		HasMore bool     `json:"hasMore"`
	}
	shown := values[:min(len(values), maxCompletions)]
	raw, err := codec.Encode(struct {
		Completion completion `json:"completion"`
	}{completion{shown, len(values), len(values) > len(shown)}})
	if err != nil {
		return nil, fmt.Errorf("encode completion: %w", err)
	}
	return RawResult(raw), nil
}
