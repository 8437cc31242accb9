package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost/internal/wire"
)

// maxInputRounds bounds how often one call may ask.
const maxInputRounds = 10

// runWithInputs runs a handler for a client with a session. If the handler itself
// returns input_required, it asks the client and runs the handler again with the
// answers, as a client of 2026-07-28 would do.
func (c *core) runWithInputs(ctx context.Context, r *request) (payload, error) {
	caller := sessionCaller{r}
	for range maxInputRounds {
		result, err := c.run(ctx, r, caller)
		if err != nil || !r.asks {
			return result, err
		}
		raw := result.bytes()
		responses, err := fulfil(ctx, caller, wire.Get(raw, "inputRequests"))
		if err != nil {
			return nil, err
		}
		again, m := *r, *r.Message
		m.Params = wire.Set(r.Params, "inputResponses", responses)
		if state := wire.Get(raw, "requestState"); state != nil {
			m.Params = wire.Set(m.Params, "requestState", state)
		} else {
			m.Params = wire.Delete(m.Params, "requestState")
		}
		again.Message = &m
		r = &again
	}
	return nil, wire.Errorf(wire.CodeInternal, "%.100q asked for input more than %d times", subject(r.Message), maxInputRounds)
}

// fulfil asks the client for every input, in the order in which they are named.
func fulfil(ctx context.Context, caller sessionCaller, requests json.RawMessage) (json.RawMessage, error) {
	if !wire.IsObject(requests) {
		return nil, errors.New("read inputRequests: it is not an object")
	}
	answers := json.RawMessage("{}")
	for key, input := range wire.Members(requests) {
		answer, err := caller.Request(ctx, wire.Unquote(wire.Get(input, "method")), wire.Get(input, "params"))
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
		answers = wire.Append(answers, string(wire.Quote(key))+":"+string(answer))
	}
	return answers, nil
}
