package toolpost

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/schema"
)

// Call runs the called tool. It finds the tool, opens a scope, validates the
// arguments, fills in their defaults, asks for approval and runs the handler.
// If the tool itself fails, the result has IsError set. An error means that the
// exchange failed: [ErrNotFound], a [ProtocolError], or the context's error.
func (s *Set) Call(ctx context.Context, call *Call) (*Result, error) {
	t := s.byName[call.Name]
	if t == nil {
		return nil, fmt.Errorf("tool %q: %w", call.Name, ErrNotFound)
	}
	run := runInScope
	if t.Policy.Timeout > 0 {
		run = runWithin
	}
	r, err := run(hidden.WithoutKeep(ctx), t, call)
	if err != nil {
		return failure(ctx, t, err)
	}
	return r, nil
}

// CallText encodes the arguments as JSON, calls the tool, and returns the first
// text of its result. If the tool fails, the error is a *[ToolError].
func (s *Set) CallText(ctx context.Context, name string, args any) (string, error) {
	raw := []byte("{}")
	if args != nil {
		var err error
		if raw, err = codec.Encode(args); err != nil {
			return "", fmt.Errorf("encode arguments of %s: %w", name, err)
		}
	}
	r, err := s.Call(ctx, &Call{Name: name, Arguments: raw})
	if err != nil {
		return "", err
	}
	text, _ := r.FirstText()
	if r.IsError() {
		return "", &ToolError{Tool: name, Outcome: r.Outcome(), Text: text}
	}
	return text, nil
}

// An ArgumentsError reports arguments that do not match a tool's input schema.
// Its text is written for the model that made the call.
type ArgumentsError struct {
	Tool string
	Err  error
}

func (e *ArgumentsError) Error() string {
	return fmt.Sprintf("invalid arguments for %s:\n%v\nFix them and call %s again.", e.Tool, e.Err, e.Tool)
}

func (e *ArgumentsError) Unwrap() error { return e.Err }

// validArguments are arguments with their defaults, and the schema that they match.
type validArguments struct {
	schema    *schema.Schema
	arguments json.RawMessage
}

// validateArguments validates the arguments of a call and fills in their defaults.
func validateArguments(input *schema.Schema, call *Call) (validArguments, error) {
	raw, err := input.ValidateInput(arguments(call))
	if err != nil {
		return validArguments{}, &ArgumentsError{call.Name, err}
	}
	return validArguments{input, input.ApplyDefaults(raw)}, nil
}

// cover reports whether raw consists of the very bytes that were validated against
// this schema.
func (a validArguments) cover(input *schema.Schema, raw json.RawMessage) bool {
	return a.schema == input && len(raw) > 0 && len(raw) == len(a.arguments) && &raw[0] == &a.arguments[0]
}

// Run runs a call of t inside a call of another tool that wraps t. It works
// like [Set.Call], but has no timeout of its own and returns errors unchanged.
// Layers whose tools take other arguments than t use it.
func (t *Tool) Run(ctx context.Context, call *Call) (*Result, error) { return runInScope(ctx, t, call) }

// admit prepares, checks and approves the call of c; it returns the call to run.
func admit(c *callContext, t *Tool, call *Call) (*Call, error) {
	if t.Policy.Prepare != nil {
		prepared := *call
		prepared.Arguments = t.Policy.Prepare(call.Arguments)
		call, c.call = &prepared, &prepared
	}
	if !t.Policy.SkipValidation {
		valid, err := validateArguments(t.Input, call)
		if err != nil {
			return nil, err
		}
		filled := *call
		filled.Arguments = valid.arguments
		call, c.call, c.valid = &filled, &filled, valid
	}
	if t.Policy.Approve == nil {
		return call, nil
	}
	err := t.Policy.Approve(&c.scope, call)
	if _, stated := statedOutcome(err); err == nil || stated || c.Err() != nil {
		return call, err
	}
	return nil, Denied.Errorf("%s was not approved: %v", t.Name, err)
}

func arguments(call *Call) json.RawMessage {
	if len(bytes.TrimSpace(call.Arguments)) == 0 {
		return json.RawMessage("{}")
	}
	return call.Arguments
}

// runWithin runs a call within the timeout of its tool. A handler that ignores its
// context is left behind; its scope ends when it does.
func runWithin(ctx context.Context, t *Tool, call *Call) (*Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Policy.Timeout,
		Failed.Errorf("%s did not finish within %v", t.Name, t.Policy.Timeout))
	defer cancel()
	r, err := runUntilDone(ctx, func() (*Result, error) { return runInScope(ctx, t, call) })
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, err
}

// runUntilDone runs f, which may ignore ctx, and stops waiting for it when ctx ends.
func runUntilDone(ctx context.Context, f func() (*Result, error)) (*Result, error) {
	type answer struct {
		r   *Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := f()
		done <- answer{r, err}
	}()
	select {
	case a := <-done:
		return a.r, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A callContext is the context of one call, around which its scope is.
type callContext struct {
	context.Context
	scope dep.Scope
	call  *Call
	valid validArguments // what was validated for the call
}

type (
	callKey        struct{}
	callContextKey struct{}
)

// Value finds the call.
func (c *callContext) Value(key any) any {
	switch key.(type) {
	case callKey:
		return c.call
	case callContextKey:
		return c
	}
	return c.Context.Value(key)
}

// runInScope admits a call and runs the handler in a scope of its own.
func runInScope(ctx context.Context, t *Tool, call *Call) (r *Result, err error) {
	c := &callContext{Context: ctx, call: call}
	scope := c.scope.Open(c, dep.PerCall)
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, panicError(scope, t.Name, p)
		}
		if e := scope.Close(); e != nil {
			log(ctx, "dependency not closed", "tool", t.Name, "err", e)
		}
	}()
	if call, err = admit(c, t, call); err != nil {
		return nil, err
	}
	r, err = t.Handler(scope, call)
	if r == nil && err == nil {
		r = NewResult()
	}
	return r, err
}

// CallFrom returns the call that ctx belongs to. It never returns nil: outside
// of a call it returns an empty Call without a Caller.
func CallFrom(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{}
}

// panicError returns the error of a panic. The id connects the error that the model
// sees with the stack in the log; the model never sees the panic's text.
func panicError(ctx context.Context, tool string, p any) error {
	id := rand.Text()[:8]
	log(ctx, "panic in tool", "tool", tool, "id", id, "panic", p, "stack", string(debug.Stack()))
	return Failed.Errorf("internal error in %s (id %s); this is a defect of the tool, do not retry", tool, id)
}

func log(ctx context.Context, msg string, args ...any) {
	if l, err := dep.Logger.Get(ctx); err == nil {
		l.ErrorContext(ctx, msg, args...)
	}
}

// failure turns an error into what the caller sees.
func failure(ctx context.Context, t *Tool, err error) (*Result, error) {
	var (
		protocol *ProtocolError
		args     *ArgumentsError
		invalid  *schema.ValidationError
	)
	if errors.As(err, &protocol) {
		return nil, err
	}
	if outcome, stated := statedOutcome(err); stated {
		return outcome.Resultf("%v", err), nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &args):
		return Retry.Resultf("%v", &ArgumentsError{t.Name, args.Err}), nil // the name that the caller knows
	case errors.As(err, &invalid):
		return Retry.Resultf("%v", err), nil
	}
	return Failed.Resultf("%v", err), nil
}
