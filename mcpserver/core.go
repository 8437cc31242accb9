package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolpost/toolpost"
)

// core answers requests, in raw JSON from edge to edge.
type core struct {
	views    *views
	sessions *sessions
	features atomic.Pointer[features]
	lot      *lot
	log      *slog.Logger
	info     json.RawMessage // the server's name and version
	life     context.Context // ends with the server
	ready    *readiness
	maxRead  int64 // see Options

	rootsChanged func(session string) // may be nil

	exchanges    sync.Map // of *exchange, by the key in their headers
	lastExchange atomic.Uint64
}

// serve answers r with the bytes of its result.
func (c *core) serve(ctx context.Context, r *request) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, peerKey{}, &r.peer))
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	switch {
	case r.named() && !isObject(r.params):
		return nil, rpcError(jsonrpc.CodeInvalidParams, "%s needs params", r.method)
	case !r.named():
		return c.protect(ctx, r, func() (json.RawMessage, error) { return c.answer(ctx, r) })
	case r.modern():
		return c.lot.serve(ctx, r, func(ctx context.Context, caller toolpost.Caller) (json.RawMessage, error) {
			return c.protect(ctx, r, func() (json.RawMessage, error) { return c.run(ctx, r, caller) })
		})
	}
	return c.protect(ctx, r, func() (json.RawMessage, error) { return c.rounds(ctx, r) })
}

// protect turns a panic, which is a defect of ours or of a handler that is no
// tool, into an error with an id that the log explains.
func (c *core) protect(ctx context.Context, r *request, f func() (json.RawMessage, error)) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, c.panicked(ctx, p, "method", r.method, "name", r.name)
		}
	}()
	return f()
}

// answer serves the methods that no handler of a tool, prompt or resource is behind.
func (c *core) answer(ctx context.Context, r *request) (json.RawMessage, error) {
	f := c.features.Load()
	switch r.method {
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
	raw := get(r.params, "cursor")
	if raw != nil && raw[0] != '"' && string(raw) != "null" {
		return nil, rpcError(jsonrpc.CodeInvalidParams, "%s: cursor must be a string", r.method)
	}
	body := l.page(text(raw))
	if body == nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, "unknown cursor; list again from the start")
	}
	tail := "}"
	if r.modern() {
		tail = `,"resultType":"complete",` + cacheable + `,"_meta":{` + serverInfo + `:` + string(c.info) + `}}`
	}
	return append(append(make([]byte, 0, len(body)+len(tail)), body...), tail...), nil
}

// run runs the handler that r names.
func (c *core) run(ctx context.Context, r *request, caller toolpost.Caller) (json.RawMessage, error) {
	call := &toolpost.Call{Session: r.whose.session, Client: r.whose.client, Shared: r.whose.shared, Name: r.name, Arguments: r.arguments, Params: r.params, Caller: caller}
	var (
		result *toolpost.Result
		err    error
	)
	switch f := c.features.Load(); r.method {
	case callTool:
		return c.call(ctx, r, call)
	case getPrompt:
		p := f.promptByName[r.name]
		if p == nil {
			return nil, rpcError(jsonrpc.CodeInvalidParams, "unknown prompt %.100q; call prompts/list", r.name)
		}
		result, err = handle(ctx, p.Get, call)
	default:
		read := f.ReadUnlisted
		if p := f.resource(r.name); p != nil {
			read = p.Read
		}
		result, err = handle(ctx, read, call)
	}
	raw, err := c.encode(r, result, err)
	if err == nil && int64(len(raw)) > c.maxRead {
		return nil, rpcError(jsonrpc.CodeInternalError, "%.100q has %d bytes, and the limit is %d; ask for a smaller part of it, or use a tool that reads parts", r.name, len(raw), c.maxRead)
	}
	return raw, err
}

// codeNoResource is the code up to 2025-11-25.
const codeNoResource = -32002

func noResource(r *request) *jsonrpc.Error {
	e := rpcError(codeNoResource, "unknown resource %.200q; call resources/list", r.name)
	if r.modern() {
		e.Code = jsonrpc.CodeInvalidParams
	}
	e.Data = json.RawMessage(`{"uri":` + string(quote(r.name)) + `}`)
	return e
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
		attrs := []slog.Attr{slog.String("tool", r.name), slog.String("client", r.client),
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

// outcomeAttrs tell of a result what is not as usual.
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
	ref := get(r.params, "ref")
	if !isObject(ref) || !isObject(get(r.params, "argument")) {
		return nil, rpcError(jsonrpc.CodeInvalidParams, "completion needs the members ref and argument")
	}
	var h toolpost.Handler
	known := false
	if name := text(get(ref, "name")); name != "" && f.promptByName[name] != nil {
		known, h = true, f.promptByName[name].Complete
	} else if uri := text(get(ref, "uri")); uri != "" {
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
		return nil, rpcError(jsonrpc.CodeInvalidParams, "unknown reference %.200s; list the prompts or resources", ref)
	case h == nil:
		return c.finish(r, json.RawMessage(`{"completion":{"values":[]}}`)), nil
	}
	result, err := handle(ctx, h, &toolpost.Call{Session: r.whose.session, Client: r.whose.client, Shared: r.whose.shared, Name: r.method, Arguments: r.params, Params: r.params})
	return c.encode(r, result, err)
}

// text returns the string that raw holds, "" if it holds none.
func text(raw json.RawMessage) string {
	var s string
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// encode returns the result's exact bytes, with what the client's version
// needs beside them.
func (c *core) encode(r *request, result *toolpost.Result, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, toFault(r, err)
	}
	if result == nil {
		result = toolpost.Parts()
	}
	raw, err := result.MarshalJSON()
	switch {
	case err != nil:
		return nil, rpcError(jsonrpc.CodeInternalError, "encode result of %.100q: %v", r.name, err)
	case !isObject(raw):
		return nil, rpcError(jsonrpc.CodeInternalError, "the result of %.100q is not a JSON object", r.name)
	}
	raw = withoutRef(raw)
	if ref := result.OutputRef(); ref != "" {
		raw = withMeta(raw, outputRef, quote(ref))
	}
	return c.finish(r, raw), nil
}

// outputRef is the member of a result's _meta that has the reference of the
// whole output, if the result is a view of it.
const outputRef = "toolpost/output_ref"

// withoutRef returns the result without a reference that a server has put there:
// it is none of ours. Only with an escape may the name be written otherwise.
func withoutRef(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte("output_ref")) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	return edit(raw, "_meta", func(own json.RawMessage) json.RawMessage {
		return edit(own, outputRef, func(json.RawMessage) json.RawMessage { return nil })
	})
}

// withMeta returns the result with a member of its _meta set.
func withMeta(raw json.RawMessage, name string, value []byte) json.RawMessage {
	own := get(raw, "_meta")
	if !isObject(own) {
		own = json.RawMessage("{}")
	}
	return put(raw, "_meta", put(own, name, value))
}

// finish adapts a result to the client's version.
func (c *core) finish(r *request, raw json.RawMessage) json.RawMessage {
	if !r.modern() {
		if s := get(raw, "structuredContent"); s != nil && s[0] != '{' {
			return drop(raw, "structuredContent")
		}
		return raw
	}
	var kind, cache, about string
	if get(raw, "resultType") == nil {
		kind = `"resultType":"complete"`
	}
	if r.method == readResource && get(raw, "ttlMs") == nil && get(raw, "cacheScope") == nil {
		cache = cacheable
	}
	info := serverInfo + ":" + string(c.info)
	if at, ok := find(raw, "_meta"); !ok {
		about = `"_meta":{` + info + `}`
	} else if own := raw[at.start:at.end]; isObject(own) && !bytes.Contains(own, []byte(serverInfo)) {
		raw = put(raw, "_meta", extend(own, info))
	}
	return extend(raw, kind, cache, about)
}

// Members that results have since 2026-07-28. Lists may change at any time,
// and differ between users of one server.
const (
	cacheable  = `"ttlMs":0,"cacheScope":"private"`
	serverInfo = `"io.modelcontextprotocol/serverInfo"`
)

// toFault turns an error of the exchange into what the client is told.
func toFault(r *request, err error) *jsonrpc.Error {
	var (
		fault    *jsonrpc.Error
		protocol *toolpost.ProtocolError
	)
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &protocol):
		return &jsonrpc.Error{Code: protocol.Code, Message: protocol.Message, Data: protocol.Data}
	case errors.Is(err, toolpost.ErrNotFound) && r.method == callTool:
		return rpcError(jsonrpc.CodeInvalidParams, "unknown tool %.100q; call tools/list", r.name)
	case errors.Is(err, toolpost.ErrNotFound) && r.method == readResource:
		return noResource(r)
	case errors.Is(err, toolpost.ErrNotFound):
		return rpcError(jsonrpc.CodeInvalidParams, "%v", err)
	}
	return rpcError(jsonrpc.CodeInternalError, "%v", err)
}
