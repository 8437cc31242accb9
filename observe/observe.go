// Package observe describes the requests of clients to whatever watches them:
// metrics, traces, an audit log, a live view.
//
//	client ─▶ mcpserver: Begin, Observer ─▶ layers ─▶ gateway: SetTarget ─▶ server
//	                         └◀── Response ◀───────────────── Note ◀──┘
//
// The server of the clients makes one [Request] for each request and passes it to
// an [Observer]. It is in the context of the request, so that the gateway adds
// which server it went to, and a layer that refuses it adds why.
package observe

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
)

// An Observer is called when a request of a client begins. It may return another
// context for the request, and a function that is called when it has ended, nil if
// there is none. Both run on the goroutine of the request: they must be quick, must
// not panic, and must not change what they are given.
type Observer func(ctx context.Context, r *Request) (context.Context, func(*Response))

// A Client describes a client, as far as known. Name, Version, UserAgent and View are its own
// claims.
type Client struct {
	Name, Version string // in clientInfo
	UserAgent     string // the HTTP header
	View          string // what the address asks for, such as PROFILE/DIALECT: /mcp/VIEW or /sse/VIEW. See also Profile of [Request]
	Session       string // the Session of its calls; empty if it has none
	Address       string // the host that it is connected from; empty over stdio
	Identity      string // the user that its request was authenticated as; empty if none
}

// A Request is one request of a client that is being served. The raw JSON is that
// of the client, and valid until the request ends. All methods may be called concurrently.
type Request struct {
	Method    string          // such as tools/call
	Name      string          // of the tool or prompt as the client knows it, or a URI; empty if it has none. Of a call through a tool search, see Called
	ID        json.RawMessage // of the JSON-RPC request
	Params    json.RawMessage
	Arguments json.RawMessage // of a call of a tool or get of a prompt; nil if there are none
	Client    Client
	Profile   string // that the client is served, however it was chosen; empty if that is everything
	Session   string // identifies the requests that belong together: those of a session, or of a client without one
	InSession bool   // the request is part of a session (versions up to 2025-11-25)
	Protocol  string // the version of MCP
	Transport string // stdio, http or sse; command for calls of the toolpost command itself
	Start     time.Time

	notes
}

// notes are what is found out about a request on its way, on any goroutine.
type notes struct {
	target  atomic.Pointer[Target]
	outcome atomic.Pointer[Outcome]
	result  atomic.Pointer[toolpost.Result]
	called  atomic.Pointer[string]

	approval atomic.Pointer[ruling]
}

// A Target is where the gateway sends a request.
type Target struct {
	Server    string // as in the configuration
	Transport string // stdio, http or sse; empty for what runs in this process
	Method    string // tools/call, prompts/get, resources/read, completion/complete, or one of an extension
	Name      string // of the tool or prompt on the server; empty for others

	Definition *toolpost.Definition // of the tool under that name; nil for others
}

// An Outcome is how a request ended.
type Outcome string

// The outcomes.
const (
	OK            Outcome = "ok"
	ToolError     Outcome = "tool_error"     // the tool reports a failure
	Denied        Outcome = "denied"         // a policy or the user refused the call
	Invalid       Outcome = "invalid"        // the arguments do not match the tool's schema
	InputRequired Outcome = "input_required" // the client is asked for input, and calls again
	ProtocolError Outcome = "protocol_error" // a JSON-RPC error, see Response.Code
	Canceled      Outcome = "canceled"       // by the client, or because the client has left
	Timeout       Outcome = "timeout"        // the server did not answer in time
	Unavailable   Outcome = "unavailable"    // the server could not be reached, or the connection broke
	CircuitOpen   Outcome = "circuit_open"   // the gateway does not ask a server that fails
	Limited       Outcome = "limited"        // a rate or concurrency limit of the gateway
)

// A Response is how a request ended.
type Response struct {
	Outcome  Outcome
	Code     int64            // of the JSON-RPC error; 0 if there is none
	Err      error            // nil unless the client gets a JSON-RPC error; its text may be foreign
	Result   *toolpost.Result // of a call of a tool; nil otherwise
	Bytes    int64            // of the JSON of the result
	Duration time.Duration
}

// Begin returns a context that [From] finds a new Request in. The caller fills in
// the request before the context is used.
func Begin(ctx context.Context) (context.Context, *Request) {
	c := &requestContext{Context: ctx}
	return c, &c.request
}

// A requestContext is a context and its request in one allocation.
type requestContext struct {
	context.Context
	request Request
}

type key struct{}

func (c *requestContext) Value(k any) any {
	if k == (key{}) {
		return &c.request
	}
	return c.Context.Value(k)
}

// From returns the request that ctx belongs to, nil if nothing observes it.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(key{}).(*Request)
	return r
}

// Target returns where the request was sent last, nil if it was answered without
// a server. The methods of a nil Request do nothing.
func (r *Request) Target() *Target {
	if r == nil {
		return nil
	}
	return r.target.Load()
}

// SetTarget records where the request is sent. T must not change any more.
func (r *Request) SetTarget(t *Target) {
	if r != nil {
		r.target.Store(t)
	}
}

// Called returns the name of the tool that the request is about: [Request.Name], unless
// that is a tool that calls another one.
func (r *Request) Called() string {
	if called := r.called.Load(); called != nil {
		return *called
	}
	return r.Name
}

// SetCalled records that the tool of the request calls another one, by the name that
// clients know it by.
func (r *Request) SetCalled(name string) {
	if r != nil {
		r.called.Store(&name)
	}
}

// Note records an outcome that the result does not show, such as [Timeout]. An
// empty one takes it back.
func (r *Request) Note(o Outcome) {
	switch {
	case r == nil:
	case o == "":
		r.outcome.Store(nil)
	default:
		r.outcome.Store(&o)
	}
}

// Noted returns the outcome of the last Note, empty if there is none.
func (r *Request) Noted() Outcome {
	if r == nil || r.outcome.Load() == nil {
		return ""
	}
	return *r.outcome.Load()
}

// OutcomeOf returns how the request ended: from its error, its result, and what was noted
// on its way.
func (r *Request) OutcomeOf(ctx context.Context, err error) Outcome {
	result, noted := r.Result(), r.Noted()
	switch {
	case noted == InputRequired:
		return InputRequired
	case err == nil && (result == nil || !result.IsError()):
		return OK
	case err != nil && (errors.Is(err, context.Canceled) || ctx.Err() != nil):
		return Canceled
	case noted != "":
		return noted
	case err != nil:
		return ProtocolError
	case result.Outcome() == toolpost.Denied:
		return Denied
	case result.Outcome() == toolpost.Retry:
		return Invalid
	}
	return ToolError
}

// SetResult records the result of a call of a tool.
func (r *Request) SetResult(result *toolpost.Result) {
	if r != nil {
		r.result.Store(result)
	}
}

// Result returns the result of a call of a tool, nil if there is none yet.
func (r *Request) Result() *toolpost.Result {
	if r == nil {
		return nil
	}
	return r.result.Load()
}

// Adopt takes over what was found out about an earlier request, which r goes on with.
func (r *Request) Adopt(earlier *Request) {
	if r == nil || earlier == nil || r == earlier {
		return
	}
	r.target.Store(earlier.target.Load())
	r.called.Store(earlier.called.Load())
	if earlier.Noted() != InputRequired { // which that request was, and this one is not
		r.outcome.Store(earlier.outcome.Load())
	}
	r.result.Store(earlier.result.Load())
	r.approval.Store(earlier.approval.Load())
}

// All returns an observer that calls each of the observers that are not nil: the
// first one is the outermost. It is nil if there is none.
func All(observers ...Observer) Observer {
	var all []Observer
	for _, o := range observers {
		if o != nil {
			all = append(all, o)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return func(ctx context.Context, r *Request) (context.Context, func(*Response)) {
		ends := make([]func(*Response), len(all))
		for i, o := range all {
			ctx, ends[i] = o(ctx, r)
		}
		return ctx, func(response *Response) {
			for i := len(ends) - 1; i >= 0; i-- {
				if ends[i] != nil {
					ends[i](response)
				}
			}
		}
	}
}
