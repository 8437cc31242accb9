//lint:file-ignore SA1019 older versions of the protocol have logging, sampling and roots

package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The MCP library is the engine for what surrounds calls: handshake, sessions,
// subscriptions, cancellation. Its typed parameters and results would lose
// unknown members and large integers, so calls pass by it in raw JSON:
//
//   - a request's message travels in RequestExtra.Header (see carry), and the
//     library itself is given parameters without arguments;
//   - results are values that marshal to their exact bytes;
//   - notifications and requests to the client are put in place of typed ones
//     by a sending middleware (see outgoing);
//   - answers of the client travel in the data of a JSON-RPC error (see answerCode).

// newEngine returns the library's server, with everything it may ever
// announce: what it does announce is decided per session, in announce.
func newEngine(c *core, w *watchers, impl *mcp.Implementation) *mcp.Server {
	s := mcp.NewServer(impl, &mcp.ServerOptions{
		Logger: engineLogger(c.log),
		Capabilities: &mcp.ServerCapabilities{
			Completions: &mcp.CompletionCapabilities{},
			Logging:     &mcp.LoggingCapabilities{},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
		},
		SubscribeHandler:   w.subscribe,
		UnsubscribeHandler: w.unsubscribe,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.CacheScope = "private"
		},
	})
	s.AddReceivingMiddleware(c.receive)
	s.AddSendingMiddleware(c.send)
	return s
}

// engineLogger passes the library's log on only to those who debug: clients
// can fill it at will.
func engineLogger(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return log
	}
	return slog.New(slog.DiscardHandler)
}

// receive answers the methods that are ours, and adjusts what others say.
func (c *core) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer c.recovered(ctx, method, &err)
		if !ours(method) {
			return c.engine(ctx, method, req, next)
		}
		raw, err := c.request(ctx, method, req)
		if err != nil {
			return nil, err
		}
		return &rawResult{raw: raw}, nil
	}
}

// recovered turns a panic into an error. The MCP library recovers none, so
// that a single one would end the process. It must be deferred.
func (c *core) recovered(ctx context.Context, method string, err *error) {
	if p := recover(); p != nil {
		*err = c.panicked(ctx, p, "method", method)
	}
}

// panicked logs a panic, and returns the error that the client gets.
func (c *core) panicked(ctx context.Context, p any, about ...any) *jsonrpc.Error {
	id := rand.Text()[:8]
	c.log.ErrorContext(ctx, "panic", append(about, "id", id, "panic", p, "stack", string(debug.Stack()))...)
	return rpcError(jsonrpc.CodeInternalError, "internal error (id %s); the server's log has the details", id)
}

// request answers a request that came through the MCP library.
func (c *core) request(ctx context.Context, method string, req mcp.Request) (json.RawMessage, error) {
	engine, ok := req.GetSession().(*mcp.ServerSession)
	s := c.sessions.of(engine)
	x, here := c.exchangeOf(req)
	switch {
	case !ok || s == nil:
		return nil, rpcError(jsonrpc.CodeInternalError, "%s came by no session", method)
	case !here:
		return nil, rpcError(jsonrpc.CodeInternalError, "%s: the client has left", method)
	}
	r := &request{message: uncarry(req), link: &sessionLink{ctx, engine, s}, whose: identity{session: whose(engine)}}
	r.method = method
	m, fault := readMeta(r.meta)
	if fault != nil {
		return nil, fault
	}
	r.token = m.Progress
	if r.peer = m.peer(); !r.modern() {
		r.peer = sessionPeer(engine)
	}
	client := clientOf(&r.peer, headerOf(req))
	if r.view, fault = c.views.of(client); fault != nil {
		return nil, fault
	}
	ctx, end := s.during(ctx, x)
	defer end()
	c.ready.awaitList(ctx, method, r.whose)
	if method == listTools && get(r.params, "cursor") == nil {
		s.note(client, r.view.tools.Load(), true)
	}
	raw, err := c.protect(ctx, r, func() (json.RawMessage, error) { return c.serve(ctx, r) })
	if err != nil {
		return nil, toFault(r, err)
	}
	return raw, nil
}

// whose is what the calls of a session have as their Session.
func whose(s *mcp.ServerSession) string { return sessionName(s.ID()) }

func sessionName(id string) string { return "session " + id }

// headerOf returns the headers that a request came with.
func headerOf(req mcp.Request) http.Header {
	if extra := req.GetExtra(); extra != nil {
		return extra.Header
	}
	return nil
}

// engine serves the other methods.
func (c *core) engine(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	if err := checkEngine(method, req); err != nil {
		return nil, err
	}
	f := c.features.Load()
	if p, ok := req.GetParams().(*mcp.SubscriptionsListenParams); ok && p != nil && p.Notifications != nil {
		c.attend(req)
		if f.Subscribe == nil {
			p.Notifications.ResourceSubscriptions = nil
		}
	}
	if method == "initialize" || method == "server/discover" {
		c.ready.await(ctx, "begin "+req.GetSession().ID(), initializeTime)
		f = c.features.Load()
	}
	res, err := next(ctx, method, req)
	var fault *jsonrpc.Error
	switch {
	case errors.As(err, &fault):
		return nil, err
	case err != nil: // the library would give it the code 0
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "%v", err)
	}
	c.after(req, res, f)
	return res, nil
}

// after adjusts what the library answers, and notes what it means.
func (c *core) after(req mcp.Request, res mcp.Result, f *features) {
	switch res := res.(type) {
	case *mcp.InitializeResult:
		c.attend(req)
		res.Instructions = f.Instructions
		f.announce(res.Capabilities)
	case *mcp.DiscoverResult:
		res.Instructions = f.Instructions
		f.announce(res.Capabilities)
	}
	engine, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	switch p := req.GetParams().(type) {
	case *mcp.SetLoggingLevelParams:
		c.sessions.of(engine).setLevel(string(p.Level))
	case *mcp.RootsListChangedParams:
		if c.rootsChanged != nil {
			c.rootsChanged(whose(engine))
		}
	}
}

// metaUnknown is the member of a ping's _meta that names the unknown method
// of the call whose place it takes.
const metaUnknown = "toolpost/unknown"

func checkEngine(method string, req mcp.Request) error {
	switch p := req.GetParams().(type) {
	case *mcp.PingParams:
		if p != nil && p.Meta[metaUnknown] != nil {
			return opaque{noMethod(fmt.Sprint(p.Meta[metaUnknown]))}
		}
	case *mcp.SetLoggingLevelParams:
		if p == nil || levelIndex(string(p.Level)) < 0 {
			return rpcError(jsonrpc.CodeInvalidParams, "%s: the level must be one of: %s", method, levels)
		}
	}
	return nil
}

// opaque keeps the MCP library from putting its own text, which names the
// method that it saw, in place of an error with the code of unknown methods.
type opaque struct{ fault *jsonrpc.Error }

// Error implements error.
func (o opaque) Error() string { return o.fault.Message }

// As serves [errors.As]; [errors.Is] finds nothing.
func (o opaque) As(target any) bool {
	p, ok := target.(**jsonrpc.Error)
	if ok {
		*p = o.fault
	}
	return ok
}

func noMethod(name string) *jsonrpc.Error {
	return rpcError(jsonrpc.CodeMethodNotFound, "there is no method %.100q", name)
}

// announce removes the capabilities that the server does not have. A server
// that is still connecting may have any of them.
func (f *features) announce(c *mcp.ServerCapabilities) {
	if f.Incomplete {
		return
	}
	if !f.set {
		c.Prompts, c.Resources = nil, nil
	} else if f.Subscribe == nil {
		c.Resources = &mcp.ResourceCapabilities{ListChanged: true}
	}
	if !f.completes() {
		c.Completions = nil
	}
}

// A rawResult is a result in its exact bytes.
type rawResult struct {
	mcp.ResultBase
	raw json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (r *rawResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// rawParams are parameters in their exact bytes.
type rawParams struct {
	mcp.ParamsBase
	raw json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

// An outgoing message takes the place of the typed one that the library
// thinks it sends.
type outgoing struct {
	method string
	params json.RawMessage
}

type outgoingKey struct{}

func (c *core) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer c.recovered(ctx, method, &err)
		engine, isServer := req.GetSession().(*mcp.ServerSession)
		out, ok := ctx.Value(outgoingKey{}).(*outgoing)
		switch {
		case isServer && isNotice(method):
			c.sendNotice(engine, method, req, next)
			return nil, nil
		case !ok || !isServer:
			return next(ctx, method, req)
		}
		_, err = next(ctx, out.method, &mcp.ServerRequest[*rawParams]{Session: engine, Params: &rawParams{raw: out.params}})
		if err == nil && method == pingMethod {
			err = fmt.Errorf("%s: the answer did not come as one", out.method)
		}
		return nil, err
	}
}

// sendNotice sends a notification that the MCP library would send to all
// sessions one after the other.
func (c *core) sendNotice(engine *mcp.ServerSession, method string, req mcp.Request, next mcp.MethodHandler) {
	s := c.sessions.of(engine)
	if s == nil {
		return // it has not begun, or has ended
	}
	s.notify(noticeKey(method, req), func(ctx context.Context) {
		var err error
		defer c.recovered(ctx, method, &err)
		if method == toolsChanged && !c.views.concerns(s) {
			return
		}
		_, _ = next(ctx, method, req) // the client has left if it fails
	})
}

const (
	pingMethod   = "ping"
	toolsChanged = "notifications/tools/list_changed"
)

// A sessionLink reaches the client through the library's session. The
// library finds the stream of the request in its context.
type sessionLink struct {
	ctx     context.Context
	session *mcp.ServerSession
	own     *session
}

func (l *sessionLink) outgoing(method string, params json.RawMessage) context.Context {
	return context.WithValue(context.WithoutCancel(l.ctx), outgoingKey{}, &outgoing{method, params})
}

func (l *sessionLink) notify(_ context.Context, method string, params json.RawMessage) error {
	return l.session.NotifyProgress(l.outgoing(method, params), &mcp.ProgressNotificationParams{})
}

func (l *sessionLink) log(ctx context.Context, level string, params json.RawMessage) error {
	if !l.own.wants(level) {
		return nil
	}
	return l.notify(ctx, "notifications/message", params)
}

// answerCode marks the errors that answers of the client travel in.
const answerCode = 1

func (l *sessionLink) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !isObject(params) {
		params = json.RawMessage("{}")
	}
	out, cancel := context.WithCancel(l.outgoing(method, params))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	err := l.session.Ping(out, nil)
	var answer *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &answer) && answer.Code == answerCode:
		return answer.Data, nil
	}
	return nil, err
}
