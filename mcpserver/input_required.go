package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost/internal/wire"
)

// maxInputRounds bounds how often one call may ask.
const maxInputRounds = 10

// runWithInputs runs a handler for a client with a session. If the handler itself
// returns input_required, it asks the client and runs the handler again with the
// answers, as a client of 2026-07-28 would do.
func (c *core) runWithInputs(ctx context.Context, r *request) (payload, error) {
	caller := r // of all rounds
	for range maxInputRounds {
		result, err := c.run(ctx, r, caller)
		if err != nil || !r.asks {
			return result, err
		}
		next, err := wire.Fulfil(result.bytes(), func(method string, params json.RawMessage) (json.RawMessage, error) {
			return caller.Request(ctx, method, params)
		})
		if err != nil {
			return nil, err
		}
		again, m := *r, *r.Message
		m.Params = wire.SetAll(r.Params, next...)
		again.Message = &m
		r = &again
	}
	return nil, wire.Errorf(wire.CodeInternal, "%.100q asked for input more than %d times", subject(r.Message), maxInputRounds)
}
