package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A request is what we want of the server, for a client or of our own. It does not
// change; each time that it is sent is an [exchange].
type request struct {
	what   string // in errors
	method string
	name   string          // of the tool or prompt, or the uri of the resource
	params json.RawMessage // as they came from a client; nil if there are none
	meta   json.RawMessage // their _meta
	set    []wire.Member   // what is sent otherwise than in params

	arguments json.RawMessage // that are sent, also in set; nil if there are none
	bindings  []wire.Binding
	whole     bool         // inputResponses and requestState are not of the caller's hop
	again     bool         // it may be carried out twice
	listed    func() error // reports why it is not sent to the server that is connected now; nil sends it

	caller   toolpost.Caller // nil if no client listens
	owner    *hidden.Owner   // nil for requests of our own
	silent   bool            // the client wants no progress
	keep     hidden.KeepFunc // nil if nothing stores texts that are too long for memory
	limit    *deadline       // nil for requests of our own
	progress *progress       // what the client got of it; nil if it wants none
}

// newRequest returns the request that a call asks for, with the params that the
// call came with, but for those that are set.
func newRequest(call *toolpost.Call, what, method string, params json.RawMessage, set ...wire.Member) *request {
	meta, owner := wire.Get(params, "_meta"), hidden.OwnerOf(call)
	owner.Shared = owner.Shared || owner.Session == ""
	// A call that came over MCP asks for progress with a token, a call of a Go
	// program by its Caller.
	silent := call.Params != nil && wire.Get(meta, "progressToken") == nil
	r := &request{
		what: what, method: method, params: params, meta: meta, set: set, again: true,
		caller: call.Caller, owner: &owner, silent: silent,
	}
	if !silent && call.Caller != nil {
		r.progress = newProgress()
	}
	return r
}

// maxCalls bounds the calls of one server that are under way.
const maxCalls = 1000

// handler returns what carries out the request that a call asks for.
func (u *Upstream) handler(requestOf func(context.Context, *toolpost.Call) *request) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r := requestOf(ctx, call)
		if r.arguments != nil && (!wire.IsObject(r.arguments) || !wire.Valid(r.arguments)) {
			return nil, toolpost.Retry.Errorf("the arguments of %s are %v; call it again with a JSON object", r.what, errNotObject)
		}
		return r.run(ctx, u)
	}
}

func toolHandler(u *Upstream, d toolpost.Definition, bindings []wire.Binding, again bool) toolpost.Handler {
	name, what := d.Name, "tool "+d.Name
	listed := func() error { return u.checkListed(name, d.Raw) }
	return u.handler(func(ctx context.Context, call *toolpost.Call) *request {
		arguments := call.Arguments
		if len(bytes.TrimSpace(arguments)) == 0 {
			arguments = json.RawMessage("{}")
		}
		r := newRequest(call, what, "tools/call", call.Params).setName(name, arguments)
		r.bindings, r.again, r.keep, r.listed = bindings, again, hidden.Keep(ctx), listed
		return r
	})
}

func promptHandler(u *Upstream, name string) toolpost.Handler {
	return u.handler(func(_ context.Context, call *toolpost.Call) *request {
		return newRequest(call, "prompt "+name, "prompts/get", call.Params).setName(name, call.Arguments)
	})
}

func readHandler(u *Upstream) toolpost.Handler {
	return u.handler(func(_ context.Context, call *toolpost.Call) *request {
		r := newRequest(call, "resource "+call.Name, "resources/read", call.Params, wire.Member{Name: "uri", Value: wire.Quote(call.Name)})
		r.name = call.Name
		return r
	})
}

// completer asks for the completion of an argument of one prompt or template. It
// is nil if the server completes nothing.
func (r *lister) completer(kind, key, name string) toolpost.Handler {
	if !r.can("completions") {
		return nil
	}
	ref := wire.SetAll(nil, wire.Member{Name: "type", Value: wire.Quote(kind)}, wire.Member{Name: key, Value: wire.Quote(name)})
	return r.u.handler(func(_ context.Context, call *toolpost.Call) *request {
		return newRequest(call, "completion of "+name, "completion/complete", call.Arguments, wire.Member{Name: "ref", Value: ref})
	})
}

// extendHandler sends a request that is not MCP's own. It is never
// retried, because the server may have carried it out.
func extendHandler(u *Upstream) toolpost.Handler {
	return u.handler(func(_ context.Context, call *toolpost.Call) *request {
		r := newRequest(call, "method "+call.Name, call.Name, call.Params)
		r.again, r.whole = false, true
		if extension.IsOfTasks(call.Name) {
			r.name = wire.Unquote(wire.Get(call.Params, "taskId"))
		}
		return r
	})
}

// notifier sends notifications that are not MCP's own, in order. They are lost
// while the server is away, or if it takes them too slowly.
func notifier(u *Upstream) func(*toolpost.Call) {
	return func(call *toolpost.Call) {
		v, _ := u.view()
		if s := v.session; s != nil {
			x := &exchange{request: &request{method: call.Name, params: call.Params, meta: wire.Get(call.Params, "_meta")}, through: s.modern()}
			params := wire.SetAll(x.params, wire.Member{Name: "_meta", Value: x.encodeMeta(nil, nil)})
			s.sending.add(s.notify, delivery{method: x.method, params: params, room: s.said.Of(hidden.OwnerOf(call))})
		}
	}
}

// setName sets the name and the arguments. Those of the client's params do not stay if
// there are none: they may be null.
func (r *request) setName(name string, arguments json.RawMessage) *request {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = nil
	}
	r.name, r.arguments, r.set = name, arguments, []wire.Member{{Name: "name", Value: wire.Quote(name)}, {Name: "arguments", Value: arguments}}
	return r
}

// client returns the client, the zero value if there is none.
func (r *request) client() hidden.Owner {
	if r.owner == nil {
		return hidden.Owner{}
	}
	return *r.owner
}

// run carries r out. A request that was surely not carried out, or may be
// twice, is tried once more after the connection was lost.
func (r *request) run(ctx context.Context, u *Upstream) (*toolpost.Result, error) {
	defer u.calls.Add(-1)
	if u.calls.Add(1) > maxCalls {
		return nil, toolpost.Failed.Errorf("server %q has %d calls under way, which is the limit; call again when some of them are done", u.cfg.Name, maxCalls)
	}
	ctx, r.limit = newDeadline(ctx, u.cfg.CallTimeout, u.cfg.Name, r.what)
	defer r.limit.stop()
	var t tries
	for {
		s, err := u.await(ctx)
		if err != nil {
			return nil, r.unansweredError(ctx, u, err, t.executed)
		}
		if r.listed != nil {
			if err := r.listed(); err != nil {
				return nil, err
			}
		}
		result, executed, err := s.call(ctx, r)
		if err == nil {
			return result, nil
		}
		if t.executed = t.executed || executed && !wasRefused(err); ctx.Err() != nil || !t.again(s, err, r.again) {
			return nil, r.unansweredError(ctx, u, err, t.executed)
		}
	}
}

// tries is what happened to a request so far.
type tries struct {
	executed bool // it may have been carried out
	lost     bool // together with the session
	cut      bool // because its connection broke
}

// again reports whether a request that failed may be tried once more. An error
// that concerns the whole session ends it.
func (t *tries) again(s *session, err error, repeatable bool) bool {
	lost, cut := s.failsBy(err), isA[*cutError](err)
	fresh := lost && !t.lost || cut && !t.cut
	t.lost, t.cut = t.lost || lost, t.cut || cut
	return fresh && (repeatable || !t.executed)
}

// wasRefused reports whether the server did not get the request, or did not
// accept it.
func wasRefused(err error) bool {
	if cut, ok := errors.AsType[*cutError](err); ok { // unless it is unsent, whatever refused the rest of its answer does not count
		return cut.unsent
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		switch status.status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
			return true
		}
	}
	return isA[*LoginError](err) || isA[*hidden.CredentialsError](err) || isDial(err) || errors.Is(err, errForeign) || errors.Is(err, errSessionMissing) || errors.Is(err, errSelf)
}

// isDial reports whether there was no connection to send a request on.
func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// breaks reports whether err concerns the connection, not only one call.
func breaks(err error) bool {
	if login, ok := errors.AsType[*LoginError](err); ok {
		return !login.More
	}
	return !isA[*toolpost.ProtocolError](err) && !isA[*inputError](err) && !isA[*statusError](err) &&
		!isA[*contentError](err) && !isA[*cutError](err) && !errors.Is(err, errTooLong)
}

// failsBy reports whether err concerns the whole session, and ends it then.
func (s *session) failsBy(err error) bool {
	broken := breaks(err)
	if broken {
		s.fail(err)
	}
	return broken
}

// unansweredError describes why there is no result, for the model that made the
// call.
func (r *request) unansweredError(ctx context.Context, u *Upstream, err error, executed bool) error {
	switch protocol, isProtocol := errors.AsType[*toolpost.ProtocolError](err); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isA[*inputError](err):
		return toolpost.Failed.Errorf("server %q asked for something during %s: %v", u.cfg.Name, r.what, err)
	case isProtocol:
		return protocol
	}
	e := &toolpost.UnavailableError{Text: fmt.Sprintf("%s was not answered: %v", r.what, u.dial.problem(err)), Login: isA[*LoginError](err)}
	if status, answered := errors.AsType[*statusError](err); answered {
		e.RetryAfter = status.retryAfter
	}
	switch {
	case executed:
		e.Text += "\nIt may have been carried out: check before you call it again."
	case e.RetryAfter > 0:
		e.Text += fmt.Sprintf("\nIt was not carried out. The server wants no calls for %v; call again then.", e.RetryAfter)
	case e.Login:
		e.Text += "\nIt was not carried out. Ask the user to log in with this command, then call again."
	default:
		e.Text += "\nIt was not carried out. Toolpost connects again by itself; call again later."
	}
	return e
}
