package toolpost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost/internal/codec"
)

// A Caller sends messages to whoever made a call. Methods and params are those
// of MCP; both are raw JSON, so that nothing is lost. A Caller is safe for
// concurrent use.
type Caller interface {
	// Notify sends a notification that belongs to the call:
	// notifications/progress or notifications/message.
	Notify(ctx context.Context, method string, params json.RawMessage) error

	// Request sends a request to the caller and waits for the response:
	// elicitation/create, sampling/createMessage, roots/list or a method of an
	// extension. Callers that cannot answer, or do not know the method, return
	// an error that wraps [ErrNoCaller]; those that have left, so that
	// nothing of the call reaches them any more, [io.ErrClosedPipe].
	Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// ErrNoCaller reports that the caller cannot answer requests during a call.
var ErrNoCaller = errors.New("the caller cannot answer requests during a call")

// CallerSupports reports whether the caller declared a capability of an MCP client,
// such as "elicitation" or its part "elicitation.url". Callers that do not report
// their capabilities support none. They do so with the method
// Supports(capability string) bool.
func (c *Call) CallerSupports(capability string) bool {
	if c == nil {
		return false
	}
	s, ok := c.Caller.(interface{ Supports(capability string) bool })
	return ok && s.Supports(capability)
}

// CallerSetLogLevel reports whether the caller asked for log messages of a level, so
// that it surely waits for them. Callers say so with the method SetsLogLevel() bool.
func (c *Call) CallerSetLogLevel() bool {
	if c == nil {
		return false
	}
	s, ok := c.Caller.(interface{ SetsLogLevel() bool })
	return ok && s.SetsLogLevel()
}

// Progress reports to the caller that done of total is finished; total is 0 if
// it is unknown. Callers that did not request progress are not notified.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	p := map[string]any{"progress": done}
	if total > 0 {
		p["total"] = total
	}
	if message != "" {
		p["message"] = message
	}
	return c.notify(ctx, "notifications/progress", p)
}

// Log sends one log message to the caller. Level is one of MCP's: debug,
// info, notice, warning, error, critical, alert, emergency.
func (c *Call) Log(ctx context.Context, level, logger string, data any) error {
	return c.notify(ctx, "notifications/message", map[string]any{"level": level, "logger": logger, "data": data})
}

func (c *Call) notify(ctx context.Context, method string, params any) error {
	if c == nil || c.Caller == nil {
		return nil
	}
	raw, err := codec.Encode(params)
	if err != nil {
		return fmt.Errorf("notify caller: %w", err)
	}
	return c.Caller.Notify(ctx, method, raw)
}

// Ask sends a request to the caller and decodes its answer into result as encoding/json
// does; result may be nil. The method is elicitation/create, sampling/createMessage or
// roots/list, and params and result have the members that MCP names for it: the answer to
// an elicitation has an action, which is accept, decline or cancel, and the content that the
// user has filled in.
func (c *Call) Ask(ctx context.Context, method string, params, result any) error {
	if c == nil || c.Caller == nil {
		return fmt.Errorf("%s: %w", method, ErrNoCaller)
	}
	raw, err := codec.Encode(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer, err := c.Caller.Request(ctx, method, raw)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("%s: the answer of the caller: %w", method, err)
	}
	return nil
}
