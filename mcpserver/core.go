package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// core serves the requests of all transports, in raw JSON from edge to edge.
type core struct {
	views    *views
	table    *table
	changes  *changes
	watchers *watchers
	features atomic.Pointer[features]
	lot      *lot
	log      *slog.Logger
	info     json.RawMessage // the server's name and version
	life     context.Context // ends with the server
	ready    *readiness
	opts     *Options
	running  tally // requests under way
}

// serve returns the result of r.
func (c *core) serve(ctx context.Context, r *request) (json.RawMessage, error) {
	c.running.add()
	defer c.running.done()
	ctx = context.WithValue(ctx, peerKey{}, &r.peer)
	switch {
	case r.Named() && !wire.IsObject(r.Params):
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s needs params", r.Method)
	case !r.Named():
		return c.protect(ctx, r, func() (json.RawMessage, error) { return c.answer(ctx, r) })
	case r.modern() && (r.can.any() || r.RequestState != nil): // it may be parked
		return c.lot.serve(ctx, r, func(ctx context.Context, caller toolpost.Caller) (json.RawMessage, error) {
			return c.protect(ctx, r, func() (json.RawMessage, error) { return c.run(ctx, r, caller) })
		})
	case r.modern():
		return c.protect(ctx, r, func() (json.RawMessage, error) { return c.run(ctx, r, sessionCaller{r}) })
	}
	return c.protect(ctx, r, func() (json.RawMessage, error) { return c.rounds(ctx, r) })
}

// protect turns a panic, which is a defect of ours or of a handler that is not
// a tool, into an error with an id that the log explains.
func (c *core) protect(ctx context.Context, r *request, f func() (json.RawMessage, error)) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, c.panicked(ctx, p, "method", r.Method, "name", subject(&r.Message))
		}
	}()
	return f()
}

// panicked logs a panic, and returns the error that the client gets.
func (c *core) panicked(ctx context.Context, p any, about ...any) *wire.Error {
	id := rand.Text()[:8]
	c.log.ErrorContext(ctx, "panic", append(about, "id", id, "panic", p, "stack", string(debug.Stack()))...)
	return wire.Errorf(wire.CodeInternal, "internal error (id %s); the server's log has the details", id)
}

// answer serves the methods that are not for one tool, prompt or resource.
func (c *core) answer(ctx context.Context, r *request) (json.RawMessage, error) {
	f := c.features.Load()
	switch r.Method {
	case listTools:
		return c.list(r, r.view.tools.Load().listing)
	case listPrompts:
		return c.list(r, f.prompts)
	case listResources:
		return c.list(r, f.resources)
	case listTemplates:
		return c.list(r, f.templates)
	}
	return c.complete(ctx, r, f)
}

func (c *core) list(r *request, l listing) (json.RawMessage, error) {
	raw := wire.Get(r.Params, "cursor")
	if !absent(raw) && raw[0] != '"' {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: cursor must be a string", r.Method)
	}
	body := l.page(wire.Unquote(raw))
	if body == nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown cursor; list again from the start")
	}
	tail := "}"
	if r.modern() {
		tail = `,"resultType":"complete",` + cacheable + `,"_meta":{` + serverInfo + `:` + string(c.info) + `}}`
	}
	return append(append(make([]byte, 0, len(body)+len(tail)), body...), tail...), nil
}

// newCall returns the call that a handler gets for r.
func newCall(r *request, name string, arguments json.RawMessage, caller toolpost.Caller) *toolpost.Call {
	return &toolpost.Call{Session: r.whose.session, Client: r.whose.client, Shared: r.whose.shared, Name: name, Arguments: arguments, Params: r.Params, Caller: caller}
}

// run runs the handler that r names.
func (c *core) run(ctx context.Context, r *request, caller toolpost.Caller) (json.RawMessage, error) {
	name := subject(&r.Message)
	call := newCall(r, name, r.Arguments, caller)
	var (
		result *toolpost.Result
		err    error
	)
	switch f := c.features.Load(); r.Method {
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
	raw, err := c.encode(r, result, err)
	if err == nil && int64(len(raw)) > c.opts.MaxRead {
		return nil, wire.Errorf(wire.CodeInternal, "%.100q has %d bytes, and the limit is %d; ask for a smaller part of it, or use a tool that reads parts", name, len(raw), c.opts.MaxRead)
	}
	return raw, err
}

func (c *core) call(ctx context.Context, r *request, call *toolpost.Call) (json.RawMessage, error) {
	start := time.Now()
	set := r.view.live.Set()
	result, err := set.Call(toolpost.Logger.With(ctx, c.log), call)
	level := slog.LevelInfo
	switch t := set.Lookup(call.Name); {
	case t == nil && errors.Is(err, toolpost.ErrNotFound):
		err = c.ready.whyMissing(call.Name)
	case t != nil && t.Policy.Quiet:
		level = slog.LevelDebug
	}
	raw, err := c.encode(r, result, err)
	if c.log.Enabled(ctx, level) {
		attrs := []slog.Attr{slog.String("tool", r.Name), slog.String("client", r.client),
			slog.Float64("ms", float64(time.Since(start).Microseconds())/1000), slog.Int("bytes", len(raw))}
		if err != nil {
			attrs = append(attrs, slog.String("err", clip(err.Error())))
		} else {
			attrs = append(attrs, outcomeAttrs(result)...)
		}
		c.log.LogAttrs(ctx, level, "call", attrs...)
	}
	return raw, err
}

// maxLogged is how much of a foreign text a log line holds.
const maxLogged = 2000

func clip(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "") + "…"
}

// outcomeAttrs returns what the log says about an unusual result.
func outcomeAttrs(result *toolpost.Result) (attrs []slog.Attr) {
	if result.IsError() {
		attrs = append(attrs, slog.Bool("failed", true))
	}
	if notes := result.Notes(); len(notes) > 0 {
		attrs = append(attrs, slog.Any("notes", notes))
	}
	return attrs
}

// handle runs a handler of a prompt or resource in a scope of its own.
func handle(ctx context.Context, h toolpost.Handler, call *toolpost.Call) (r *toolpost.Result, err error) {
	if h == nil {
		return nil, fmt.Errorf("%s: %w", call.Name, toolpost.ErrNotFound)
	}
	ctx, end := toolpost.OpenScope(ctx, toolpost.PerCall)
	defer func() { err = errors.Join(err, end()) }()
	return h(ctx, call)
}

func (c *core) complete(ctx context.Context, r *request, f *features) (json.RawMessage, error) {
	ref := wire.Get(r.Params, "ref")
	if !wire.IsObject(ref) || !wire.IsObject(wire.Get(r.Params, "argument")) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "completion needs the members ref and argument")
	}
	var h toolpost.Handler
	known := false
	if name := wire.Unquote(wire.Get(ref, "name")); name != "" && f.promptByName[name] != nil {
		known, h = true, f.promptByName[name].Complete
	} else if uri := wire.Unquote(wire.Get(ref, "uri")); uri != "" {
		p := f.resourceByURI[uri]
		if p == nil {
			p = f.resource(uri)
		}
		if known = p != nil; known {
			h = p.Complete
		}
	}
	switch {
	case !known:
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown reference %.200s; list the prompts or resources", ref)
	case h == nil:
		return c.finish(r, json.RawMessage(`{"completion":{"values":[]}}`), nil), nil
	}
	result, err := handle(ctx, h, newCall(r, r.Method, r.Params, nil))
	return c.encode(r, result, err)
}

// A tally counts what is under way. The zero value is ready.
type tally struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0 again; nil if nobody waits
}

func (t *tally) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.zero != nil {
		close(t.zero)
		t.zero = nil
	}
}

// idle returns a channel that is closed once nothing is under way.
func (t *tally) idle() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.zero == nil {
		t.zero = make(chan struct{})
	}
	zero := t.zero
	if t.n == 0 {
		close(zero)
		t.zero = nil
	}
	return zero
}
