// Package mcpserver serves a live toolset, prompts and resources over MCP:
// stdio, streamable HTTP of both protocol eras on one address, and legacy SSE.
//
//	stdio ─────────────┐
//	/sse ──────────────┼─▶ engine (sessions) ─┐
//	/mcp ─▶ front ─────┤                      ├─▶ core ─▶ Set.Call, Features
//	         guard     └─▶ modern (stateless)─┘
//
// Handler can be mounted below a prefix with [http.StripPrefix]. It has no
// authentication of its own: put a middleware in front. What the middleware
// stores in the context of a request is what the handlers of its calls see,
// also in sessions; over /sse they see the context of the stream. Say in
// Options.Identity whom a request was authenticated as, so that a session
// serves nobody else.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// Options configure a Server; nil means defaults.
type Options struct {
	Name           string        // "toolpost" if empty
	Version        string        // "0.0.0" if empty
	Logger         *slog.Logger  // one line for each call, at debug level for quiet tools; nil logs nothing
	SessionTimeout time.Duration // idle sessions of the stateful era end; 30 min if 0
	MaxBody        int64         // bytes of one request; 16 MiB if 0
	MaxRead        int64         // bytes of one prompt or resource that is sent; 8 MiB if 0
	Hosts          []string      // Host headers accepted beside loopback ones; "*" accepts all
	Origins        []string      // Origin headers accepted beside same-origin ones; "*" accepts all

	// MaxSessions limits the sessions of the stateful era, 2000 if 0, and
	// MaxClientSessions those that one address opens, 500 if 0. A session
	// more ends one that is idle.
	MaxSessions, MaxClientSessions int

	// Identity returns whom a request was authenticated as, "" for nobody. A
	// session serves only the identity that opened it. Nil takes the UserID of
	// the MCP library's auth.TokenInfo.
	Identity func(*http.Request) string

	// Ready returns when what is served is complete, such as when all servers
	// behind it have connected. Until then initialize waits for it up to one
	// second, and the first lists of a client up to five. Nil waits for nothing.
	Ready func(context.Context) error

	// Missing returns why there is no tool of this name, such as that the
	// server behind it cannot be reached, and what to do. Nil, or a nil error,
	// says only that the tool is unknown.
	Missing func(tool string) error

	// SessionEnded is called when a session ends, with the Session that its
	// calls had. It is not called for requests without sessions (2026-07-28).
	SessionEnded func(session string)

	// RootsChanged is called when the client of a session has other roots.
	// Session is the Session of its calls. Nil ignores it.
	RootsChanged func(session string)

	// View returns the toolset that a client is served; nil serves all the
	// same. It is asked at each request, and must answer at once and with
	// few different toolsets. An error says what the client can do.
	View func(Client) (*toolpost.Live, error)
}

func (o *Options) orDefaults() *Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Name == "" {
		c.Name = "toolpost"
	}
	if c.Version == "" {
		c.Version = "0.0.0"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 30 * time.Minute
	}
	if c.MaxBody == 0 {
		c.MaxBody = 16 << 20
	}
	if c.MaxRead == 0 {
		c.MaxRead = 8 << 20
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = 2000
	}
	if c.MaxClientSessions == 0 {
		c.MaxClientSessions = 500
	}
	if c.Identity == nil {
		c.Identity = tokenUser
	}
	return &c
}

// tokenUser returns the user of the request's token, if the MCP library's
// middleware has verified one.
func tokenUser(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return info.UserID
	}
	return ""
}

// logPanic keeps a panic of one task from ending the process. It must be deferred.
func logPanic(log *slog.Logger, message string) {
	if p := recover(); p != nil {
		log.Error(message, "panic", p, "stack", string(debug.Stack()))
	}
}

// A Server serves a live toolset to any number of sessions.
type Server struct {
	core   *core
	engine *mcp.Server
	front  *front
	end    context.CancelFunc
}

var errClosed = errors.New("the server was closed")

// New returns a server for live. Sessions are told when their tools change.
func New(live *toolpost.Live, opts *Options) *Server {
	o := opts.orDefaults()
	life, end := context.WithCancel(context.Background())
	impl := &mcp.Implementation{Name: o.Name, Version: o.Version}
	info := json.RawMessage(`{"name":` + string(quote(o.Name)) + `,"version":` + string(quote(o.Version)) + `}`)
	v := &views{choose: o.View, log: o.Logger, all: map[weak.Pointer[toolpost.Live]]weak.Pointer[shown]{}}
	c := &core{views: v, sessions: newSessions(o), lot: newLot(), log: o.Logger, info: info, life: life, ready: newReadiness(life, o), rootsChanged: o.RootsChanged, maxRead: o.MaxRead}
	c.features.Store(newFeatures(&toolpost.Features{}, o.Logger))
	w := newWatchers(c)
	s := &Server{core: c, engine: newEngine(c, w, impl), end: end}
	c.sessions.ended = func(ended *session) {
		defer logPanic(o.Logger, "the end of a session is not told")
		w.forget(ended)
		if o.SessionEnded != nil && ended.wasBegun() {
			o.SessionEnded(whose(ended.engine))
		}
	}
	s.front = newFront(c, s.engine, o)
	v.changed = s.ViewsChanged
	v.base = v.show(live)
	return s
}

// What the MCP library tells sessions about: it sees one item of a kind,
// which is added again whenever the real list changed.
const (
	changedName = "changed"
	changedURI  = "toolpost:changed"
)

// ViewsChanged says that Options.View gives some client another toolset than
// before. Sessions whose tools differ are told.
func (s *Server) ViewsChanged() {
	s.engine.AddTool(&mcp.Tool{Name: changedName, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
}

// SetFeatures replaces the prompts, resources and instructions; sessions are
// told about the difference. Servers that never had features announce none.
func (s *Server) SetFeatures(f *toolpost.Features) {
	defer logPanic(s.core.log, "prompts and resources are not listed anew")
	n := newFeatures(f, s.core.log)
	n.set = true
	old := s.core.features.Swap(n)
	if !old.prompts.equal(n.prompts) {
		s.engine.AddPrompt(&mcp.Prompt{Name: changedName}, nil)
	}
	if !old.resources.equal(n.resources) || !old.templates.equal(n.templates) {
		s.engine.AddResource(&mcp.Resource{Name: changedName, URI: changedURI}, nil)
	}
}

// ResourceUpdated tells subscribed sessions that a resource changed.
func (s *Server) ResourceUpdated(ctx context.Context, uri string) {
	if err := s.engine.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.core.log.WarnContext(ctx, "resource update not sent", "uri", uri, "err", err)
	}
}

// Handler serves /mcp (streamable HTTP, both eras) and /sse (legacy SSE), and
// with Options.View also /mcp/VIEW and /sse/VIEW.
func (s *Server) Handler() http.Handler { return s.front }

// Guard keeps from next the requests that Handler refuses for their Host or
// Origin.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.front.admit(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// Close ends all sessions, and the calls that they wait for. Handlers that do
// not heed their context are left behind.
func (s *Server) Close() error {
	s.core.views.close()
	s.end()
	s.core.lot.close()
	s.core.sessions.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for session := range s.engine.Sessions() {
			all.Go(func() { _ = session.Close() }) // it is over either way
		}
		all.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closeTime):
		return errors.New("close server: a handler goes on although its call has ended")
	}
}
