package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// A request is what a handler asks of the server.
type request struct {
	what     string // in errors
	method   string
	params   object
	bindings []binding
	asker
	again bool // it may be carried out twice
	keep  keeper
}

// newRequest returns the request that a call asks for.
func newRequest(call *toolpost.Call, what, method string, params object) *request {
	meta, _ := parseObject(params.get("_meta"))
	return &request{
		what: what, method: method, params: params, again: true,
		// A call that came over MCP asks for progress with a token, a call of
		// a Go program by its Caller.
		asker: asker{call.Caller, ownerOf(call), call.Params != nil && meta.get("progressToken") == nil},
	}
}

// mostCalls bounds the calls of one server that are under way.
const mostCalls = 1000

// A keeper is [toolpost.Call.Keep].
type keeper func(ctx context.Context, text io.Reader, of int, failed bool) (view, ref string, err error)

func toolHandler(u *Upstream, name string, bindings []binding, again bool) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		arguments := call.Arguments
		if len(bytes.TrimSpace(arguments)) == 0 {
			arguments = json.RawMessage("{}")
		}
		r := newRequest(call, "tool "+name, "tools/call", received(call.Params))
		r.bindings, r.again, r.keep = bindings, again, call.Keep
		if err := r.set(name, arguments); err != nil {
			return nil, err
		}
		return r.run(ctx, u)
	}
}

func promptHandler(u *Upstream, name string) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r := newRequest(call, "prompt "+name, "prompts/get", received(call.Params))
		if err := r.set(name, call.Arguments); err != nil {
			return nil, err
		}
		return r.run(ctx, u)
	}
}

func readHandler(u *Upstream) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r := newRequest(call, "resource "+call.Name, "resources/read", received(call.Params).set("uri", quote(call.Name)))
		return r.run(ctx, u)
	}
}

// completer asks for the completion of an argument of one prompt or template.
func completer(u *Upstream, kind, key, name string) toolpost.Handler {
	ref := object{{"type", quote(kind)}, {key, quote(name)}}.encode()
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r := newRequest(call, "completion of "+name, "completion/complete", received(call.Arguments).set("ref", ref))
		return r.run(ctx, u)
	}
}

// received returns the params a call came with.
func received(raw json.RawMessage) object {
	params, _ := parseObject(raw)
	return params
}

// modern says whether the call came from a client of 2026-07-28 or later,
// which knows results that ask for input.
func (r *request) modern() bool {
	meta, _ := parseObject(r.params.get("_meta"))
	return meta.text(mcp.MetaKeyProtocolVersion) >= modernVersion
}

// set puts in the name, and arguments if there are any.
func (r *request) set(name string, arguments json.RawMessage) error {
	r.params = r.params.set("name", quote(name))
	if len(bytes.TrimSpace(arguments)) == 0 {
		return nil
	}
	if _, err := parseObject(arguments); err != nil {
		return toolpost.Retry("the arguments of %s are %v; call it again with a JSON object", r.what, err)
	}
	r.params = r.params.set("arguments", arguments)
	return nil
}

// run carries r out. A request that was surely not carried out, or may be
// twice, is tried once more after the connection was lost.
func (r *request) run(ctx context.Context, u *Upstream) (*toolpost.Result, error) {
	defer u.calls.Add(-1)
	if u.calls.Add(1) > mostCalls {
		return nil, toolpost.Failed("server %q has %d calls under way, which is the limit; call again when some of them are done", u.cfg.Name, mostCalls)
	}
	ctx, cancel := r.limit(ctx, u)
	defer cancel()
	before := false // an earlier try may have been carried out
	for last := false; ; last = true {
		s, err := u.await(ctx)
		if err != nil {
			return nil, r.unanswered(ctx, u, err, before)
		}
		result, executed, err := r.once(ctx, s)
		if err == nil {
			return result, nil
		}
		executed = before || executed && !wasRefused(err)
		before = executed
		if !r.ends(ctx, s, err) || last || executed && !r.again {
			return nil, r.unanswered(ctx, u, err, executed)
		}
	}
}

// ends reports whether err concerns the whole session, and ends it then.
func (r *request) ends(ctx context.Context, s *session, err error) bool {
	if ctx.Err() != nil || !breaks(err) {
		return false
	}
	s.end(err)
	return true
}

// once carries r out over s.
func (r *request) once(ctx context.Context, s *session) (result *toolpost.Result, executed bool, err error) {
	s.shareRoots(ctx, r)
	raw, executed, err := s.call(ctx, r)
	if err == nil {
		return toolpost.Raw(raw), true, nil
	}
	if long := (*longResult)(nil); errors.As(err, &long) {
		result, err = long.result(ctx, r.keep)
	}
	return result, executed, err
}

func (r *request) limit(ctx context.Context, u *Upstream) (context.Context, context.CancelFunc) {
	if u.cfg.CallTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, u.cfg.CallTimeout,
		toolpost.Failed("server %q did not answer %s within %v; the call was cancelled", u.cfg.Name, r.what, u.cfg.CallTimeout))
}

// wasRefused reports whether the server did not get the request, or did not
// accept it.
func wasRefused(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		switch status.status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
			return true
		}
	}
	var self *selfError
	return neverSent(err) || errors.Is(err, errSessionMissing) || errors.As(err, &self)
}

// breaks reports whether err concerns the connection, not only one call.
func breaks(err error) bool {
	for _, ofCall := range []any{
		new(*toolpost.ProtocolError), new(*inputError), new(*statusError), new(*contentError), new(*cutError),
	} {
		if errors.As(err, ofCall) {
			return false
		}
	}
	return !errors.Is(err, errTooLong)
}

// unanswered words why there is no result, for the model that made the call.
func (r *request) unanswered(ctx context.Context, u *Upstream, err error, executed bool) error {
	var input *inputError
	var protocol *toolpost.ProtocolError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &input):
		return toolpost.Failed("server %q asked for something during %s: %v", u.cfg.Name, r.what, err)
	case errors.As(err, &protocol):
		return protocol
	}
	text := fmt.Sprintf("%s was not answered: %v", r.what, u.dial.problem(err))
	if executed {
		return toolpost.Failed("%s\nIt may have been carried out: check before you call it again.", text)
	}
	return toolpost.Failed("%s\nIt was not carried out. Toolpost connects again by itself; call again later.", text)
}
