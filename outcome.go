package toolpost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost/schema"
)

// An Outcome classifies the result of a call and determines what should happen
// next.
type Outcome int

// The outcomes of calls. An error that names none is Failed.
const (
	OK     Outcome = iota // the call succeeded
	Failed                // the call failed, and other arguments would not help
	Retry                 // the model can correct the arguments and call again
	Denied                // the call is not allowed
	Done                  // the run is complete; this is not a failure
)

// Errorf returns an error with which a handler determines what should happen next, as in
// Retry.Errorf("no project %q", name): a *[ToolError]. The text is written for the model;
// that of Done is the result of the run.
func (o Outcome) Errorf(format string, args ...any) error {
	return &ToolError{Outcome: o, Text: fmt.Sprintf(format, args...)}
}

// Resultf returns a result with the outcome and a text for the model: what a call returns
// whose handler returns the error of Errorf. It is for code that returns results of its own,
// such as a layer.
func (o Outcome) Resultf(format string, args ...any) *Result {
	r := newResult(body{Content: []Part{{Type: "text", Text: fmt.Sprintf(format, args...)}}, IsError: o != OK && o != Done})
	r.outcome = o
	return r
}

// A ToolError is the failure of a tool, with what should happen next. Handlers return one of
// [Outcome.Errorf], whose Tool is empty. [Set.CallText] returns one with the name of the tool
// that it called. A handler that returns such an error has the outcome [Failed], because its
// own caller cannot correct the inner call.
type ToolError struct {
	Tool    string
	Outcome Outcome
	Text    string
}

func (e *ToolError) Error() string {
	if e.Tool == "" {
		return e.Text
	}
	return e.Tool + ": " + e.Text
}

// statedOutcome returns the outcome that a handler determined with its error, and reports
// whether it did.
func statedOutcome(err error) (Outcome, bool) {
	e, ok := errors.AsType[*ToolError](err)
	switch {
	case !ok || e.Tool != "":
		return Failed, false
	case e.Outcome == OK: // an error is not a success
		return Failed, true
	}
	return e.Outcome, true
}

// An UnavailableError reports that the server behind a tool did not answer a call,
// unlike a tool that answers with a failure. Its outcome is [Failed].
type UnavailableError struct {
	Text       string        // for the model
	Timeout    bool          // it took too long; otherwise it cannot be reached, or broke off
	RetryAfter time.Duration // for which the server wants no more calls; 0 if it did not say
	Login      bool          // the user must log in to the server first; the text has the command
}

func (e *UnavailableError) Error() string { return e.Text }

// Unwrap returns the outcome.
func (e *UnavailableError) Unwrap() error { return &ToolError{Outcome: Failed, Text: e.Text} }

// ErrNotFound reports that no tool, prompt or resource has the requested name.
var ErrNotFound = errors.New("not found")

// A ProtocolError is a failure of the exchange, not of the tool. The caller
// receives it as a JSON-RPC error (https://www.jsonrpc.org/specification,
// §5.1).
type ProtocolError struct {
	Code    int64
	Message string
	Data    []byte // JSON, nil if none
}

func (e *ProtocolError) Error() string { return e.Message }

// codeInternal is JSON-RPC's code for a failure of the server.
const codeInternal = -32603

// ReturnErrors returns t with a handler whose errors are failures of the
// exchange: they are logged and returned to the caller as a *[ProtocolError],
// not shown as a result. An error of [Outcome.Errorf] is not affected. Map(ts, (*Tool).ReturnErrors)
// applies it to all tools of a toolset.
func (t *Tool) ReturnErrors() *Tool {
	c, next := *t, t.Handler
	c.Handler = func(ctx context.Context, call *Call) (*Result, error) {
		r, err := next(ctx, call)
		if err == nil || ctx.Err() != nil || isForModel(err) {
			return r, err
		}
		log(ctx, "tool failed", "tool", t.Name, "err", err)
		return nil, &ProtocolError{Code: codeInternal, Message: err.Error()}
	}
	return &c
}

// isForModel reports whether an error is an instruction for the model.
func isForModel(err error) bool {
	var (
		protocol *ProtocolError
		args     *ArgumentsError
		invalid  *schema.ValidationError
	)
	_, stated := statedOutcome(err)
	return stated || errors.As(err, &protocol) || errors.As(err, &args) || errors.As(err, &invalid)
}
