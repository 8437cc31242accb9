package telemetry

import (
	"context"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

// outcomeOf returns how a request to a server ended, and the code of its JSON-RPC
// error.
func outcomeOf(ctx context.Context, result *toolpost.Result, err error) (observe.Outcome, int64) {
	unavailable, isUnavailable := errors.AsType[*toolpost.UnavailableError](err)
	protocol, isProtocol := errors.AsType[*toolpost.ProtocolError](err)
	switch {
	case err == nil && (result == nil || !result.IsError()):
		return observe.OK, 0
	case err == nil:
		return observe.ToolError, 0
	case isUnavailable && unavailable.Timeout:
		return observe.Timeout, 0
	case isUnavailable:
		return observe.Unavailable, 0
	case isProtocol:
		return observe.ProtocolError, protocol.Code
	case ctx.Err() != nil:
		return observe.Canceled, 0
	}
	return observe.ToolError, 0
}
