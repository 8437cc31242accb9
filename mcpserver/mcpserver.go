// Package mcpserver serves a toolset, its prompts and resources over MCP: stdio,
// streamable HTTP of both protocol eras on one address, and legacy SSE. It checks the Host
// and Origin of requests.
//
//	/mcp ─▶ httpHandler ─┬▶ stateless (2026-07-28) ─────────────────┐
//	        guard        └▶ session ─▶ sessionTable ─┐              │
//	/sse ─▶ httpHandler ─▶ duplex ───────────────────┼▶ session ────┴▶ core ─▶ Set.Call, Features
//	stdio ───────────────▶ duplex ───────────────────┘     ▲
//	                                               changes ┘ (lists, resources)
//
// A request is parsed once, into a [wire.Message] whose members are parts of the
// received bytes. It is usually served on the goroutine that read it, but calls of
// a batch, over SSE or stdio, and those that may be parked have one of their own.
// Its progress, log messages and requests to the client go where its response
// goes. A request to the client is answered by a message of the same session and
// of no other, or since 2026-07-28 when the same caller repeats the call. A session
// without an open stream holds no goroutine.
//
// A Server can be mounted below a prefix with [http.StripPrefix]. It has no
// authentication of its own: put a middleware in front. The handlers of
// a call see the values that the middleware stores in the context of its
// request, also in sessions. Options.Identity returns the user that a request
// was authenticated as, so that a session serves no other user.
package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Options configure a Server; nil means defaults.
type Options struct {
	Name    string       // "toolpost" if empty
	Version string       // "0.0.0" if empty
	Logger  *slog.Logger // one line for each call, at debug level for quiet tools; slog.Default() if nil
	Hosts   []string     // Host headers accepted beside loopback ones; "*" accepts all
	Origins []string     // Origin headers accepted beside same-origin ones; "*" accepts all
	Limits  Limits

	// Identity returns the user that a request was authenticated as, "" if there
	// is none. A session serves only the identity that opened it, and the session of
	// a user only at the address that it was opened at, which may be what the user
	// is allowed. Nil authenticates no request.
	Identity func(*http.Request) string

	// Bridge makes the server look like the one behind the toolset, if there is
	// only one (see [toolpost.Proxy]): clients get its capabilities and,
	// unless Name is set, its name, version, title and icons. Clients that
	// connect before it is known wait up to 20 s for it.
	Bridge bool

	// Views choose the toolset of each client, such as the Views of package gateway. Nil
	// serves all clients the same.
	Views Views

	// Observe is called for each list, call, get, read, completion and request of
	// an extension. Nil observes nothing.
	Observe observe.Observer
}

// Limits bound what clients may use. A zero field means its default.
type Limits struct {
	Body int64 // bytes of one request; 16 MiB if 0
	Read int64 // bytes of one prompt or resource that is sent; 8 MiB if 0

	// Sessions limits the sessions of the stateful era, 2000 if 0, and ClientSessions those
	// that one identity opens, or without identities one address, 500 if 0. A session more
	// ends one that was idle for a minute, or is refused. At the limit of Sessions, who has
	// most of them gives way.
	Sessions, ClientSessions int

	SessionTimeout time.Duration // idle sessions of the stateful era end; 30 min if 0
}

// Views choose what each client is served, and are notified of what clients do. Their
// methods may be called concurrently.
type Views interface {
	// View returns the toolset of a client. It must answer at once and with few different
	// toolsets. A session keeps its toolset until the function of Watch is called, and the
	// address and the user agent that it was opened with. An error says what the client
	// can do.
	View(client observe.Client) (*toolpost.Live, error)

	// Profile returns the name of the profile whose toolset View has returned, for
	// observers; "" if it is everything. It must answer at once.
	Profile(view *toolpost.Live) string

	// Watch has changed called when View may return another toolset for a client than
	// before, until stop is called. Clients whose tools differ are notified.
	Watch(changed func()) (stop func())

	// Missing returns why a client has no tool of this name, such as that the server behind
	// it cannot be reached, and what to do. Nil says only that the tool is unknown.
	Missing(client observe.Client, tool string) error

	// Relist asks the servers behind the toolset for their lists again where these may
	// have changed unseen: the server of a tool that a client called and that is not
	// known, or all if tool is empty, when a client begins. It bounds how often and how
	// long that is, and reports whether the lists may differ now.
	Relist(ctx context.Context, client observe.Client, tool string) bool

	// SessionEnded is called when a session ends, with the Session that its calls had. It
	// is not called for requests without sessions (2026-07-28).
	SessionEnded(session string)

	// RootsChanged is called when the client of a session has other roots.
	RootsChanged(session string)
}

func (o *Options) orDefaults() *Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Name = cmp.Or(c.Name, "toolpost")
	c.Version = cmp.Or(c.Version, "0.0.0")
	c.Logger = cmp.Or(c.Logger, slog.Default())
	l := &c.Limits
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Read = cmp.Or(l.Read, 8<<20)
	l.Sessions = cmp.Or(l.Sessions, 2000)
	l.ClientSessions = cmp.Or(l.ClientSessions, 500)
	l.SessionTimeout = cmp.Or(l.SessionTimeout, 30*time.Minute)
	if c.Identity == nil {
		c.Identity = func(*http.Request) string { return "" }
	}
	return &c
}

// logPanic keeps a panic of one task from ending the process. It must be deferred.
func logPanic(log *slog.Logger, message string) {
	if p := recover(); p != nil {
		log.Error(message, "panic", p, "stack", string(debug.Stack()))
	}
}

// A Server serves a toolset to any number of sessions. All methods may be called
// concurrently.
type Server struct {
	core *core
	http *httpHandler
	end  func()
}

var errClosed = errors.New("the server was closed")

// New returns a server for the tools, prompts and resources of ts, which it lists with ctx.
// Clients are notified when a list changes, get the notifications of ts and those of resources
// that they watch, and those that come before ts is ready wait: initialize up to one second,
// the first lists of a client up to five. The error is that of [toolpost.NewSet]. With
// Options.Views, ts is what they are views of: it is waited for, and the views are served.
func New(ctx context.Context, ts toolpost.Toolset, opts *Options) (*Server, error) {
	o := opts.orDefaults()
	live, isLive := ts.(*toolpost.Live)
	closeLive := func() {}
	if !isLive && o.Views == nil {
		var err error
		if live, err = toolpost.NewLive(dep.Logger.With(ctx, o.Logger), ts); err != nil {
			return nil, fmt.Errorf("new server: %w", err)
		}
		ts, closeLive = live, live.Close
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	v := &views{log: o.Logger, reports: reports{log: o.Logger}, all: map[weak.Pointer[toolpost.Live]]weak.Pointer[view]{}}
	c := &core{
		views:    v,
		sessions: newSessionTable(o),
		changes:  &changes{views: v, watched: newHolders(budget.Limit{Number: maxClientWatched, Bytes: maxClientWatchedBytes}), listeners: map[*listener]bool{}, watching: map[string]map[*listener]bool{}},
		held:     newMessageHolders(o),
		log:      o.Logger,
		info:     json.RawMessage(`{"name":` + string(wire.Quote(o.Name)) + `,"version":` + string(wire.Quote(o.Version)) + `}`),
		life:     life,
		ready:    newReadiness(life, ts.Ready),
		opts:     o,
		ownName:  o.Bridge && opts.Name == "",
	}
	c.parked = newParkedCalls(&c.owed, o)
	c.watchers = &watchers{core: c, turns: map[string]chan struct{}{}, asked: map[string]askedViews{}}
	c.changes.moved = c.watchers.move
	s := &Server{core: c, http: &httpHandler{core: c, guard: &guard{hosts: o.Hosts, origins: o.Origins}}}
	v.event, v.changed = s.event, c.changes.announce
	stop := func() {}
	if o.Views != nil {
		v.choose, v.profile, stop = o.Views.View, o.Views.Profile, o.Views.Watch(c.changes.review)
	} else {
		v.base = v.show(live)
	}
	s.end = func() {
		end()
		stop()
		closeLive()
	}
	return s, nil
}

// EndSessions ends the sessions of the identities for which ended reports true, and
// their calls, such as those of a user whose token was revoked.
func (s *Server) EndSessions(ended func(identity string) bool) {
	s.core.sessions.end(func(one *session) bool { return ended(one.from.Identity) }, errEnded)
}

// event passes on what the source of a view reports to the clients of the view. A
// notification goes to the session that it names, or to all if it names none; a log
// message goes to one session only, if that wants messages of its level. A session
// without an open stream misses it. Clients of 2026-07-28 get only what they ask for
// with subscriptions/listen.
func (s *Server) event(e toolpost.Event, in *view) {
	if e.Resource != "" {
		s.core.changes.announce(topic{resourceUpdated, e.Resource}, in)
	}
	if n := e.Notification; n != nil {
		s.core.changes.notify(n, in)
	}
}

// Guard keeps from next the requests that ServeHTTP refuses for their Host or
// Origin.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.http.admit(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// Close ends all sessions, and the calls that they wait for. It does not
// wait for handlers that ignore their context.
func (s *Server) Close() error {
	s.core.views.close()
	s.end()
	s.core.parked.close()
	s.core.sessions.close()
	select {
	case <-s.core.running.Idle():
		return nil
	case <-time.After(closeTime):
		return errors.New("close server: a handler goes on although its call has ended")
	}
}
