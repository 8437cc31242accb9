package httpserve

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	headSize = 4 << 10 // of a plain request
	// lookAfter is how long an answer may take before it is noticed that the client leaves.
	lookAfter = 20 * time.Millisecond
	// discardTime is how long the rest of a body may take to come.
	discardTime = time.Second
)

// The states of a connection.
const (
	stateIdle int32 = iota
	stateBusy       // a request has begun
	stateEnded
)

// A conn is a connection of which all requests were plain so far.
type conn struct {
	server   *Server
	base     context.Context
	listener *listener
	net      net.Conn
	remote   string
	in       *bufio.Reader
	state    atomic.Int32

	head   *head       // of the last request
	header http.Header // of the answer
	out    []byte      // of the answer, what is not sent yet
	body   []byte      // of the answer, while its length is not known

	readUntil, writeUntil time.Time // the deadlines of net

	timer *time.Timer // of look
	mu    sync.Mutex
	ended *sync.Cond // when looking becomes false
	// Guarded by mu.
	current  *exchange // nil between requests
	looking  bool      // look reads
	stopLook bool      // look is to end
}

func newConn(s *Server, base context.Context, l *listener, nc net.Conn) *conn {
	c := &conn{server: s, base: base, listener: l, net: nc, remote: nc.RemoteAddr().String(), in: bufio.NewReaderSize(nc, headSize), header: http.Header{}}
	c.ended = sync.NewCond(&c.mu)
	c.timer = time.AfterFunc(time.Hour, c.look)
	c.timer.Stop()
	return c
}

// serve answers the requests of a connection.
func (c *conn) serve() {
	defer c.server.remove(c)
	c.setReadDeadline(time.Now().Add(c.server.http.ReadHeaderTimeout))
	for {
		h, plain := c.next()
		switch {
		case !plain:
			c.handOver()
			return
		case h == nil, !c.answer(h):
			_ = c.net.Close()
			return
		}
		c.state.Store(stateIdle)
		if c.server.stopping.Load() {
			_ = c.net.Close()
			return
		}
		if now, idle := time.Now(), c.server.http.IdleTimeout; !c.readUntil.After(now.Add(idle / 2)) { // to set it each time would cost more
			c.setReadDeadline(now.Add(idle))
		}
	}
}

// next waits for a request and returns its head, nil if none comes. It reports
// whether the request is plain: its head comes as a whole.
func (c *conn) next() (h *head, plain bool) {
	if !c.wait() || !c.state.CompareAndSwap(stateIdle, stateBusy) {
		return nil, true
	}
	b, _ := c.in.Peek(c.in.Buffered()) // which are there
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		return nil, false
	}
	if h = c.parse(b[:end+4]); h != nil {
		_, _ = c.in.Discard(end + 4)
	}
	return h, h != nil
}

// wait waits until a request begins, and reports whether one does. Some clients end the
// body of a POST with a line break, which net/http skips too (RFC 9112, 2.2).
func (c *conn) wait() bool {
	for {
		b, err := c.in.Peek(1)
		if err != nil || c.head == nil || b[0] != '\r' && b[0] != '\n' {
			return err == nil
		}
		_, _ = c.in.Discard(1)
	}
}

// parse returns a head, nil if it is not plain.
func (c *conn) parse(raw []byte) *head {
	if c.head == nil || c.head.raw != string(raw) {
		c.head = parseHead(string(raw))
	}
	return c.head
}

// answer has a request answered, and reports whether another one may follow.
func (c *conn) answer(h *head) bool {
	x := &exchange{conn: c, server: c.server, base: c.base, url: *h.request.URL, unread: h.request.ContentLength, length: -1}
	r := h.request.WithContext((*requestContext)(x))
	r.URL, r.Header, r.RemoteAddr, r.Body = &x.url, maps.Clone(h.request.Header), c.remote, (*body)(x)
	x.bodyRead.Store(x.unread == 0)
	clear(c.header)
	c.begin(x)
	whole := x.handle(r) && x.finish()
	c.end(x)
	return c.discard(x.unread) && whole
}

// handle calls the handler, and reports whether it returned.
func (x *exchange) handle(r *http.Request) (returned bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			logf := log.Printf
			if l := x.server.http.ErrorLog; l != nil {
				logf = l.Printf
			}
			logf("http: panic serving %s: %v\n%s", r.RemoteAddr, p, debug.Stack())
		}
	}()
	x.server.http.Handler.ServeHTTP(x, r)
	return true
}

// begin watches, after a while, whether the client of an exchange leaves.
func (c *conn) begin(x *exchange) {
	c.mu.Lock()
	c.current = x
	c.mu.Unlock()
	c.timer.Reset(lookAfter)
}

// end ends an exchange. After it, nothing reads from the connection.
func (c *conn) end(x *exchange) {
	c.timer.Stop()
	c.mu.Lock()
	c.current = nil
	if c.looking {
		c.stopLook = true
		c.setReadDeadline(time.Unix(1, 0))
		for c.looking {
			c.ended.Wait()
		}
		c.stopLook = false
	}
	c.mu.Unlock()
	x.cancel()
	x.conn = nil // calls that go on without their client hold the context
}

// look waits until the client of the current exchange leaves, or sends another request.
func (c *conn) look() {
	c.mu.Lock()
	x := c.current
	switch {
	case x == nil || c.looking:
		c.mu.Unlock()
		return
	case !x.bodyRead.Load():
		c.mu.Unlock()
		c.timer.Reset(lookAfter)
		return
	}
	c.looking = true
	c.setReadDeadline(time.Time{})
	c.mu.Unlock()
	_, err := c.in.Peek(1)
	c.mu.Lock()
	left := err != nil && !c.stopLook
	c.looking = false
	c.mu.Unlock()
	c.ended.Broadcast()
	if left {
		x.cancel()
	}
}

// discard reads the rest of a body that no handler read: if the connection were closed
// before, the client might not get to read the answer. It reports whether the rest came.
func (c *conn) discard(unread int64) bool {
	if unread == 0 {
		return true
	}
	c.setReadDeadline(time.Now().Add(discardTime))
	_, err := io.CopyN(io.Discard, c.in, unread)
	return err == nil
}

// abort closes the connection, and ends what it is asked for.
func (c *conn) abort() {
	c.mu.Lock()
	x := c.current
	c.mu.Unlock()
	_ = c.net.Close()
	if x != nil {
		x.cancel()
	}
}

func (c *conn) setReadDeadline(t time.Time) {
	if t != c.readUntil {
		c.readUntil = t
		_ = c.net.SetReadDeadline(t)
	}
}

// setWriteDeadline has writes fail some time after t; a zero t means never.
func (c *conn) setWriteDeadline(t time.Time) {
	const slack = 30 * time.Second // to set it each time would cost more
	switch {
	case t.IsZero() && c.writeUntil.IsZero(), !t.IsZero() && !c.writeUntil.Before(t) && c.writeUntil.Sub(t) <= slack:
		return
	case !t.IsZero():
		t = t.Add(slack)
	}
	c.writeUntil = t
	_ = c.net.SetWriteDeadline(t)
}

// handOver leaves the connection to net/http.
func (c *conn) handOver() {
	c.setReadDeadline(time.Time{})
	c.setWriteDeadline(time.Time{})
	if !c.listener.pass(accepted{conn: &rest{c.net, c.in}}) {
		_ = c.net.Close()
	}
}

// A rest is a connection of which something was read.
type rest struct {
	net.Conn
	in *bufio.Reader // nil once all of it was read again
}

// Read implements [net.Conn].
func (r *rest) Read(p []byte) (int, error) {
	if r.in != nil && r.in.Buffered() > 0 {
		return r.in.Read(p[:min(len(p), r.in.Buffered())])
	}
	r.in = nil
	return r.Conn.Read(p)
}

// CloseWrite is called by net/http so that the client can read an answer before the
// connection ends.
func (r *rest) CloseWrite() error {
	if c, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
