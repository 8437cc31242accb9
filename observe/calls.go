package observe

import (
	"context"
	"errors"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// command is the transport of calls that a command of Toolpost makes itself.
const command = "command"

// Calls returns a middleware by which the observer observes calls of tools that did not come
// over MCP, of a command for example. As with all middleware, calls that validation or approval
// refuses do not reach it; the Observe of package mcpserver sees these too. A nil observer
// observes nothing.
func (observer Observer) Calls(by Client) toolpost.Middleware {
	return func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			ctx, seen := Begin(ctx)
			seen.Method, seen.Name, seen.Arguments, seen.Start = "tools/call", call.Name, call.Arguments, time.Now()
			seen.Transport, seen.Client, seen.Session = command, by, call.Session
			end := func(*Response) {}
			if observer != nil {
				if observed, ends := observer(ctx, seen); ends != nil {
					ctx, end = observed, ends
				}
			}
			result, err := next(ctx, call)
			seen.SetResult(result)
			response := &Response{Result: result, Bytes: sizeOf(result), Duration: time.Since(seen.Start), Outcome: seen.OutcomeOf(ctx, err), Err: err}
			if protocol, ok := errors.AsType[*toolpost.ProtocolError](err); ok {
				response.Code = protocol.Code
			}
			end(response)
			return result, err
		}
	}
}

// sizeOf returns the size of the JSON of a result, which may be too large for memory.
func sizeOf(result *toolpost.Result) int64 {
	if result == nil {
		return 0
	}
	if long := hidden.EncodedOf(result).Long; long != nil {
		return long.Size()
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		return 0
	}
	return int64(len(raw))
}
