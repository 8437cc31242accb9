package mcpserver

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

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
	live  *toolpost.Live
	tools atomic.Pointer[tools]
}

// views are what clients are shown: for each Live its lists, encoded once.
type views struct {
	base    *shown                               // what everyone is shown without choose
	choose  func(Client) (*toolpost.Live, error) // may be nil
	log     *slog.Logger
	changed func() // is called when a list is another

	mu  sync.RWMutex
	all map[*toolpost.Live]*shown
	end []func()
}

// of returns what a client is shown.
func (v *views) of(c Client) (*shown, *jsonrpc.Error) {
	if v.choose == nil {
		return v.base, nil
	}
	live, err := v.choose(c)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "%v", err)
	}
	v.mu.RLock()
	s := v.all[live]
	v.mu.RUnlock()
	if s == nil {
		s = v.show(live)
	}
	return s, nil
}

func (v *views) show(live *toolpost.Live) *shown {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.all[live]; s != nil {
		return s
	}
	s := &shown{live: live}
	v.all[live] = s
	v.end = append(v.end, live.Watch(func(set *toolpost.Set) {
		t := newTools(set, v.log)
		if old := s.tools.Swap(t); old != nil && !old.listing.equal(t.listing) {
			v.changed()
		}
	}))
	return s
}

func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, end := range v.end {
		end()
	}
	v.end = nil
}

// An audience knows which list each session has or was told of, where not all
// have the same: the MCP library tells all sessions of a change, and this keeps
// it from those whom it does not concern.
type audience struct {
	views    *views
	mu       sync.Mutex
	sessions map[*mcp.ServerSession]*audited
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
