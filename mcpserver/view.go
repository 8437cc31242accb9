package mcpserver

import (
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// A Client is what is known of the client that sent a request. All of it is
// what the client claims.
type Client struct {
	Name, Version string // in clientInfo
	UserAgent     string // the HTTP header
	View          string // what the address asks for: /mcp/VIEW or /sse/VIEW
}

// viewHeader carries the view that the address asks for to where the request
// is answered. No client can send a header of that name.
const viewHeader = ":view"

// clientOf returns the client of a request that came with these headers.
func clientOf(p *peer, h http.Header) Client {
	c := Client{Name: p.client, Version: p.release, UserAgent: h.Get("User-Agent")}
	c.UserAgent = c.UserAgent[:min(len(c.UserAgent), maxName)]
	if v := h[viewHeader]; len(v) > 0 {
		c.View = v[0]
	}
	return c
}

// A shown is one Live as clients see it.
type shown struct {
	live  *toolpost.Live // which holds this in turn, as a watcher
	begin sync.Once
	tools atomic.Pointer[tools]
	stop  func()
}

// views are what clients are shown: for each Live its lists, encoded once. A
// Live that nobody else has any more is forgotten.
type views struct {
	base    *shown                               // what everyone is shown without choose
	choose  func(Client) (*toolpost.Live, error) // may be nil
	log     *slog.Logger
	changed func() // is called when a list is another

	mu     sync.RWMutex
	all    map[weak.Pointer[toolpost.Live]]weak.Pointer[shown]
	closed bool
}

// of returns what a client is shown.
func (v *views) of(c Client) (*shown, *jsonrpc.Error) {
	if v.choose == nil {
		return v.base, nil
	}
	live, fault := v.ask(c)
	if fault != nil {
		return nil, fault
	}
	return v.show(live), nil
}

// ask returns the toolset that is chosen for a client.
func (v *views) ask(c Client) (*toolpost.Live, *jsonrpc.Error) {
	live, err := v.choose(c)
	switch {
	case err != nil:
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "%v", err)
	case live == nil:
		return nil, rpcError(jsonrpc.CodeInternalError, "the server is set up wrongly: its Options.View gives this client no toolset")
	}
	return live, nil
}

func (v *views) show(live *toolpost.Live) *shown {
	key := weak.Make(live)
	v.mu.RLock()
	s := v.all[key].Value()
	v.mu.RUnlock()
	if s == nil {
		s = v.add(key)
	}
	if s.tools.Load() == nil {
		s.begin.Do(func() { v.watch(s) }) // only those who are shown this Live wait
	}
	return s
}

func (v *views) add(key weak.Pointer[toolpost.Live]) *shown {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.all[key].Value()
	if s == nil {
		maps.DeleteFunc(v.all, func(_ weak.Pointer[toolpost.Live], s weak.Pointer[shown]) bool { return s.Value() == nil })
		s = &shown{live: key.Value()}
		v.all[key] = weak.Make(s)
	}
	return s
}

// watch encodes the lists of a Live, now and after its changes.
func (v *views) watch(s *shown) {
	stop := s.live.Watch(func(set *toolpost.Set) {
		defer logPanic(v.log, "tools are not listed anew")
		t := newTools(set, v.log)
		if old := s.tools.Swap(t); old != nil && !old.listing.equal(t.listing) {
			v.changed()
		}
	})
	v.mu.Lock()
	s.stop = stop
	closed := v.closed
	v.mu.Unlock()
	if closed {
		stop()
	}
}

func (v *views) close() {
	var stops []func()
	v.mu.Lock()
	v.closed = true
	for _, p := range v.all {
		if s := p.Value(); s != nil && s.stop != nil {
			stops = append(stops, s.stop)
		}
	}
	v.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// listed is the list of tools that a session has or was told of.
type listed struct {
	client Client
	tools  *tools
}

// attend notes a session that begins or subscribes.
func (c *core) attend(req mcp.Request) {
	engine, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	x, _ := c.exchangeOf(req)
	var opened *session
	if x != nil {
		opened = x.session
	}
	s := c.sessions.begin(opened, engine)
	p := sessionPeer(engine)
	client := clientOf(&p, headerOf(req))
	if _, ok := req.GetParams().(*mcp.InitializeParams); ok {
		s.setBegun()
	}
	if view, fault := c.views.of(client); fault == nil {
		s.note(client, view.tools.Load(), false)
	}
}

func (s *session) setBegun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

func (s *session) wasBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// note records the list that the session gets now, or may get later.
func (s *session) note(c Client, t *tools, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now || s.listed == nil {
		s.listed = &listed{c, t}
	}
}

// concerns reports whether the session is served another list than the one
// that it was told of, and records the new one.
func (v *views) concerns(s *session) bool {
	s.mu.Lock()
	has := s.listed
	s.mu.Unlock()
	if v.choose == nil || has == nil {
		return true
	}
	view, fault := v.of(has.client)
	if fault != nil {
		return true // listing again tells why
	}
	now := view.tools.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	was := has.tools
	has.tools = now
	return was != now && !was.listing.equal(now.listing)
}
