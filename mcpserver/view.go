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

// An audience knows which list each session has or was told of, where not all
// have the same: the MCP library tells all sessions of a change, and this keeps
// it from those whom it does not concern.
type audience struct {
	views    *views
	mu       sync.Mutex
	sessions map[*mcp.ServerSession]*audited
	ended    func(session string) // nil if nobody wants to know
}

type audited struct {
	client Client
	tools  *tools
}

// attend notes a session that begins or subscribes.
func (a *audience) attend(req mcp.Request) {
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	p := sessionPeer(session)
	client := clientOf(&p, headerOf(req))
	if view, fault := a.views.of(client); fault == nil {
		a.note(session, client, view.tools.Load(), false)
	}
}

// await has the end of a session that begins told.
func (a *audience) await(req mcp.Request) {
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || a.ended == nil {
		return
	}
	go func() {
		_ = session.Wait() // why it ended does not matter
		a.ended(whose(session))
	}()
}

// note says that a session gets a list now, or may get it later on.
func (a *audience) note(s *mcp.ServerSession, c Client, t *tools, now bool) {
	if a.views.choose == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.sessions[s] != nil && !now:
		return
	case a.sessions[s] == nil:
		go func() {
			_ = s.Wait() // why it ended does not matter
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.sessions, s)
		}()
	}
	a.sessions[s] = &audited{c, t}
}

// concerns tells whether the session's client is shown another list by now,
// which is then the one that it was told of.
func (a *audience) concerns(s *mcp.ServerSession) bool {
	a.mu.Lock()
	has := a.sessions[s]
	a.mu.Unlock()
	if has == nil {
		return true
	}
	view, fault := a.views.of(has.client)
	if fault != nil {
		return true // listing again tells why
	}
	now := view.tools.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	was := has.tools
	has.tools = now
	return was != now && !was.listing.equal(now.listing)
}
