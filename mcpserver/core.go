package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/inflight"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// core serves the requests of all transports, in raw JSON from edge to edge.
type core struct {
	views    *views
	sessions *sessionTable
	held     *holders // by messages of clients
	changes  *changes
	watchers *watchers
	parked   *parkedCalls
	log      *slog.Logger
	info     json.RawMessage // the server's name and version
	life     context.Context // ends with the server
	ready    *readiness
	opts     *Options
	ownName  bool             // the server behind the toolset is introduced by its own name
	running  inflight.Counter // requests under way
	owed     inflight.Counter // calls whose HTTP requests have ended: over SSE until they are answered, and parked ones until they end
}

// chooseView sets the view of a request, unless it has one.
func (c *core) chooseView(r *request) (fault *wire.Error) {
	if r.view == nil && r.session != nil {
		r.view = r.session.listener.currentView()
	}
	if r.view == nil && r.found.review == c.changes.reviews.Load() {
		r.view = r.found.view
	}
	if r.view == nil {
		r.view, fault = c.views.of(r.client)
	}
	return fault
}

// dispatch returns the result of a request whose client is known.
func (c *core) dispatch(ctx context.Context, r *request) (payload, error) {
	discovers, listens := r.modern() && r.Method == discoverMethod, r.modern() && r.Method == listenMethod
	switch {
	case discovers:
		c.awaitBegin(ctx, r.owner.Session)
	case listens:
	case !isServed(r.Method) && !extension.Method(r.Method):
		return nil, noMethod(r.Method)
	default:
		c.ready.awaitList(ctx, r.Method, r.owner.Session)
	}
	if fault := c.chooseView(r); fault != nil { // now: it may have become another while the request waited
		return nil, fault
	}
	if listens {
		return c.listen(ctx, r)
	}
	c.running.Add(1)
	defer c.running.Add(-1)
	f := r.view.catalog.Load()
	switch {
	case discovers:
		return inMemory(c.discover(ctx, r)), nil
	case topicOf(r.Method) != topic{}:
		return c.list(r, f.list(r.Method))
	case r.Method == complete:
		return c.complete(ctx, r, f)
	case !isServed(r.Method):
		return c.extend(ctx, r)
	case !wire.IsObject(r.Params):
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s needs params", r.Method)
	case !r.modern():
		return c.runWithInputs(ctx, r)
	case r.can != 0 || r.RequestState != nil: // it may be parked
		return c.parked.serve(ctx, r, func(ctx context.Context, caller toolpost.Caller) (result payload, err error) {
			defer c.rescue(ctx, r.Message, &err)
			return c.run(ctx, r, caller)
		})
	}
	return c.run(ctx, r, r)
}

// rescue turns a panic of this package, or of a handler that is not a tool, into
// an error with an id that the log explains. It must be deferred.
func (c *core) rescue(ctx context.Context, m *wire.Message, err *error) {
	if p := recover(); p != nil {
		*err = c.reportPanic(ctx, p, "method", m.Method, "name", subject(m))
	}
}

// reportPanic logs a panic, and returns the error that the client gets.
func (c *core) reportPanic(ctx context.Context, p any, about ...any) *wire.Error {
	id := rand.Text()[:8]
	c.log.ErrorContext(ctx, "panic", append(about, "id", id, "panic", p, "stack", string(debug.Stack()))...)
	return wire.Errorf(wire.CodeInternal, "internal error (id %s); the server's log has the details", id)
}

func (c *core) list(r *request, l listing) (payload, error) {
	raw := wire.Get(r.Params, "cursor")
	if !absent(raw) && raw[0] != '"' {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: cursor must be a string", r.Method)
	}
	at := wire.Unquote(raw)
	if at == "" && r.session != nil {
		r.session.listener.reads(r.Method, l)
	}
	found := l.page(at)
	if found == nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown cursor; list again from the start")
	}
	items, tail := found.body, "}"
	if r.modern() {
		items, tail = found.stateless, `,"resultType":"complete",`+cacheable+`,"_meta":{`+serverInfo+`:`+string(c.introduction(r.view))+`}}`
	}
	return payload{{data: items, shared: true}, {data: []byte(tail)}}, nil
}

// newCall returns the call that a handler gets for r.
func newCall(r *request, name string, arguments json.RawMessage, caller toolpost.Caller) *toolpost.Call {
	return hidden.WithOwner(&toolpost.Call{Name: name, Arguments: arguments, Params: r.Params, Caller: caller}, r.owner)
}

// run runs the handler that r names.
func (c *core) run(ctx context.Context, r *request, caller toolpost.Caller) (payload, error) {
	name := subject(r.Message)
	call := newCall(r, name, r.Arguments, caller)
	var (
		result *toolpost.Result
		err    error
	)
	switch f := r.view.catalog.Load(); r.Method {
	case callTool:
		return c.call(ctx, r, call)
	case getPrompt:
		p := f.promptByName[name]
		if p == nil {
			return nil, wire.Errorf(wire.CodeInvalidParams, "unknown prompt %.100q; call prompts/list", name)
		}
		result, err = handle(ctx, p.Get, call)
	default:
		read := f.ReadUnlisted
		if p := f.resource(name); p != nil {
			read = p.Read
		}
		result, err = handle(ctx, read, call)
	}
	return c.encodeLimited(r, name, result, err)
}

// encodeLimited encodes a result, and refuses one that is too large to be sent.
func (c *core) encodeLimited(r *request, name string, result *toolpost.Result, err error) (payload, error) {
	encoded, err := c.encode(r, result, err)
	if size := encoded.size(); size > c.opts.Limits.Read {
		encoded.close()
		return nil, wire.Errorf(wire.CodeInternal, "%.100q has %d bytes, and the limit is %d; ask for a smaller part of it, or use a tool that reads parts", name, size, c.opts.Limits.Read)
	}
	return encoded, err
}

func (c *core) call(ctx context.Context, r *request, call *toolpost.Call) (payload, error) {
	start := time.Now()
	within, set := dep.Logger.With(ctx, c.log), r.view.live.Set()
	result, err := set.Call(within, call)
	if errors.Is(err, toolpost.ErrNotFound) && set.Lookup(call.Name) == nil && c.relist(ctx, r.client, r.view, call.Name) { // it may have been added unseen
		set = r.view.live.Set()
		result, err = set.Call(within, call)
	}
	observe.From(ctx).SetResult(result)
	level := slog.LevelInfo
	switch t := set.Lookup(call.Name); {
	case t == nil && errors.Is(err, toolpost.ErrNotFound):
		err = c.missingToolError(r.client, call.Name)
	case t != nil && t.Policy.Polled:
		level = slog.LevelDebug
	}
	encoded, err := c.encode(r, result, err)
	if c.log.Enabled(ctx, level) {
		attrs := []slog.Attr{slog.String("tool", r.Name), slog.String("client", r.client.Name),
			slog.Float64("ms", float64(time.Since(start).Microseconds())/1000), slog.Int64("bytes", encoded.size())}
		switch {
		case err != nil:
			attrs = append(attrs, slog.String("err", clip(err.Error())))
		case result.IsError():
			attrs = append(attrs, slog.Bool("failed", true))
		}
		if err == nil && len(result.Notes()) > 0 {
			attrs = append(attrs, slog.Any("notes", result.Notes()))
		}
		c.log.LogAttrs(ctx, level, "call", attrs...)
	}
	return encoded, err
}

// missingToolError returns why a client has no tool of a name.
func (c *core) missingToolError(client observe.Client, name string) error {
	if c.opts.Views != nil {
		if why := c.opts.Views.Missing(client, name); why != nil {
			return wire.Errorf(wire.CodeInvalidParams, "tool %.100q is not available: %v", name, why)
		}
	}
	return wire.Errorf(wire.CodeInvalidParams, "unknown tool %.100q; call tools/list", name)
}

// extend runs a method of an extension. Only MCP's own methods can ask for
// input since 2026-07-28.
func (c *core) extend(ctx context.Context, r *request) (payload, error) {
	if r.modern() {
		p := *r.peer
		p.can = 0
		r.peer = &p
	}
	result, err := handle(ctx, r.view.catalog.Load().Extend, newCall(r, r.Method, nil, r))
	return c.encodeLimited(r, r.Method, result, err)
}

// notified handles a notification that MCP does not define, of a client that has a
// view.
func (c *core) notified(m *wire.Message, p *peer, owner hidden.Owner) {
	if !extension.Notification(m.Method) {
		return
	}
	s := c.views.viewOf(p.client)
	if s == nil {
		return
	}
	if notified := s.catalog.Load().Notified; notified != nil {
		notified(newCall(&request{Message: m, owner: owner}, m.Method, nil, nil))
	}
}

// maxLogged is how much of a foreign text a log line holds.
const maxLogged = 2000

func clip(text string) string { return cleartext.Clip(text, maxLogged) }

// handle runs a handler of a prompt or resource in a scope of its own.
func handle(ctx context.Context, h toolpost.Handler, call *toolpost.Call) (r *toolpost.Result, err error) {
	if h == nil {
		return nil, fmt.Errorf("%s: %w", call.Name, toolpost.ErrNotFound)
	}
	scope := new(dep.Scope).Open(ctx, dep.PerCall)
	defer func() { err = errors.Join(err, scope.Close()) }()
	return h(scope, call)
}

func (c *core) complete(ctx context.Context, r *request, f *catalog) (payload, error) {
	ref := wire.Get(r.Params, "ref")
	if !wire.IsObject(ref) || !wire.IsObject(wire.Get(r.Params, "argument")) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "completion needs the members ref and argument")
	}
	var h toolpost.Handler
	uri := wire.Unquote(wire.Get(ref, "uri"))
	if p := f.promptByName[wire.Unquote(wire.Get(ref, "name"))]; p != nil {
		h = p.Complete
	} else if p := cmp.Or(f.resourceByURI[uri], f.resource(uri)); p != nil {
		h = p.Complete
	} else {
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown reference %.200s; list the prompts or resources", ref)
	}
	if h == nil {
		return inMemory(c.finish(r, json.RawMessage(`{"completion":{"values":[]}}`), &wire.Answer{}, nil)), nil
	}
	result, err := handle(ctx, h, newCall(r, r.Method, r.Params, nil))
	return c.encode(r, result, err)
}
