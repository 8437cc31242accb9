package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// legacySSE serves the HTTP+SSE transport of 2024-11-05: a GET opens the
// stream, whose first event names the address for the client's messages.
type legacySSE struct {
	engine   *mcp.Server
	mu       sync.Mutex
	sessions map[string]*conn
}

const sessionQuery = "sessionid"

func (l *legacySSE) open(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	c := newConn(func(data []byte) error {
		if ctx.Err() != nil { // the response must not be used any more
			return ctx.Err()
		}
		return writeEvent(w, "message", data)
	})
	c.old = true
	c.from = http.Header{"User-Agent": r.Header["User-Agent"], viewHeader: r.Header[viewHeader]}
	id := rand.Text()
	l.keep(id, c)
	defer l.drop(id, c, cancel)
	session, err := l.engine.Connect(ctx, c, nil)
	if err != nil {
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = session.Wait() // why it ended does not matter
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	if err := l.hello(w, c, r.URL.Path+"?"+sessionQuery+"="+id); err != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-over:
	}
}

// hello sends the first event: where messages go.
func (l *legacySSE) hello(w http.ResponseWriter, c *conn, address string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	c.mu.Lock()
	defer c.mu.Unlock()
}

// post delivers the messages that a client sends.
func (l *legacySSE) post(w http.ResponseWriter, r *http.Request, msgs []message, together bool) {
	l.mu.Lock()
	c := l.sessions[r.URL.Query().Get(sessionQuery)]
	l.mu.Unlock()
	if c == nil {
		refuse(w, http.StatusNotFound, msgs, rpcError(jsonrpc.CodeInvalidRequest, "there is no such session; open one with GET %s", r.URL.Path))
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

// writeTime is how long a client may take to read what is written to it.
const writeTime = 30 * time.Second

// writeEvent writes one server-sent event and flushes it.
func writeEvent(w http.ResponseWriter, name string, data []byte) error {
	b := make([]byte, 0, len(data)+len(name)+32)
	b = append(append(append(b, "event: "...), name...), '\n')
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has deadlines
	defer c.SetWriteDeadline(time.Time{})
	if _, err := w.Write(append(b, '\n')); err != nil {
		return err
	}
	return c.Flush()
}
