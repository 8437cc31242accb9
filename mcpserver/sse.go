package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// legacySSE serves the HTTP+SSE transport of 2024-11-05: a GET opens the
// stream, whose first event names the address for the client's messages.
type legacySSE struct {
	engine   *mcp.Server
	all      *sessions
	identity func(*http.Request) string
	mu       sync.Mutex
	sessions map[string]*conn
	size     atomic.Int64 // of the parameters of the calls under way
}

const sessionQuery = "sessionid"

func (l *legacySSE) open(w http.ResponseWriter, r *http.Request) {
	s, fault := l.all.open(r, l.identity(r))
	if fault != nil {
		refuse(w, http.StatusServiceUnavailable, nil, fault)
		return
	}
	defer l.all.drop(s)
	l.all.hold(s)
	ctx, cancel := context.WithCancel(r.Context())
	c := newConn(func(data []byte) error {
		if ctx.Err() != nil { // the response must not be used any more
			return ctx.Err()
		}
		return writeEvent(w, "message", data)
	})
	c.old, c.identity, c.all = true, s.identity, &l.size
	c.from = http.Header{"User-Agent": r.Header["User-Agent"], viewHeader: r.Header[viewHeader]}
	id := rand.Text()
	l.keep(id, c)
	defer l.drop(id, c, cancel)
	engine, err := l.engine.Connect(ctx, c, nil)
	if err != nil {
		return
	}
	l.all.begin(s, engine)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	if l.hello(w, c, endpoint(r.URL.Path, id)) != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	case <-c.closed:
	}
}

// endpoint returns where the client sends its messages. It is relative to the
// address of the stream, which may have a prefix that is not known here.
func endpoint(path, id string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return strings.ReplaceAll(url.PathEscape(last), ":", "%3A") + "?" + sessionQuery + "=" + id
}

// hello sends the first event: where messages go.
func (l *legacySSE) hello(w http.ResponseWriter, c *conn, address string) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return writeEvent(w, "endpoint", []byte(address))
}

func (l *legacySSE) keep(id string, c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[id] = c
}

// drop ends a session; when it returns, nothing is written any more.
func (l *legacySSE) drop(id string, c *conn, cancel func()) {
	l.mu.Lock()
	delete(l.sessions, id)
	l.mu.Unlock()
	_ = c.Close() // never fails
	cancel()
	c.abandon()
	c.turn <- struct{}{} // and stays
}

// post delivers the messages that a client sends.
func (l *legacySSE) post(w http.ResponseWriter, r *http.Request, msgs []message, together bool) {
	l.mu.Lock()
	c := l.sessions[r.URL.Query().Get(sessionQuery)]
	l.mu.Unlock()
	if c == nil {
		refuse(w, http.StatusNotFound, msgs, rpcError(jsonrpc.CodeInvalidRequest, "there is no such session; open one with GET at this address"))
		return
	}
	if c.identity != l.identity(r) {
		refuse(w, http.StatusForbidden, msgs, errIdentity())
		return
	}
	err := c.deliver(r.Context(), msgs, together)
	var fault *jsonrpc.Error
	switch {
	case errors.As(err, &fault):
		refuse(w, http.StatusBadRequest, msgs, fault)
	case err != nil:
		refuse(w, http.StatusNotFound, msgs, rpcError(jsonrpc.CodeInvalidRequest, "the session has ended"))
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// errIdentity refuses a request of a session that another identity opened.
func errIdentity() *jsonrpc.Error {
	return rpcError(jsonrpc.CodeInvalidRequest, "the session belongs to another user; send initialize to open one of your own")
}
