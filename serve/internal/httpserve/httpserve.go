// Package httpserve answers the plain requests of HTTP/1.1 with less work than net/http,
// and leaves all others to net/http.
//
//	connection ─▶ head of a request ─┬▶ plain: a POST of at most 64 KB ─▶ Handler ─▶ one write ─┐
//	                   ▲             └▶ else: net/http, until the connection ends               │
//	                   └────────────────────────────────────────────────────────────────────────┘
//
// A client of MCP sends the same head with nearly every call: it is parsed once for a
// connection. Nothing watches whether the client leaves before an answer takes longer than
// [lookAfter].
package httpserve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/inflight"
)

// A Server serves HTTP as its [http.Server] does. Of the settings of that, it knows Handler,
// ReadHeaderTimeout, IdleTimeout, ErrorLog and BaseContext. Both timeouts must be set.
type Server struct {
	http *http.Server
	open inflight.Counter // connections that net/http does not have
	date atomic.Pointer[date]

	stopping atomic.Bool // set while mu is held
	mu       sync.Mutex
	conns    map[*conn]bool
}

// New returns a server that leaves to s what is not plain.
func New(s *http.Server) *Server { return &Server{http: s, conns: map[*conn]bool{}} }

// Serve accepts connections until the server or l is closed; see [http.Server.Serve].
func (s *Server) Serve(l net.Listener) error {
	rest := &listener{Listener: l, accepted: make(chan accepted), closed: make(chan struct{})}
	base := context.Background()
	if s.http.BaseContext != nil {
		base = s.http.BaseContext(l)
	}
	go s.accept(base, rest)
	return s.http.Serve(rest)
}

// accept serves the connections to l itself, until they are for net/http.
func (s *Server) accept(base context.Context, l *listener) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil { // net/http waits a while if it is temporary
			l.pass(accepted{err: err})
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select {
			case <-l.closed:
				return
			default:
				continue
			}
		}
		c := newConn(s, base, l, nc)
		if !s.add(c) {
			_ = nc.Close()
			continue
		}
		go c.serve()
	}
}

// add reports whether a connection is served.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.conns[c] = true
	s.open.Add(1)
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.open.Add(-1)
}

// stop has connections end after their answers, and returns those that are open.
func (s *Server) stop() (open []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping.Store(true)
	for c := range s.conns {
		open = append(open, c)
	}
	return open
}

// Shutdown ends what is idle, and waits for the answers under way; see
// [http.Server.Shutdown].
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.stop() {
		if c.state.CompareAndSwap(stateIdle, stateEnded) {
			_ = c.net.Close()
		}
	}
	err := s.http.Shutdown(ctx)
	select {
	case <-s.open.Idle():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes all connections; see [http.Server.Close].
func (s *Server) Close() error {
	for _, c := range s.stop() {
		c.abort()
	}
	return s.http.Close()
}

// A listener accepts what is left to net/http.
type listener struct {
	net.Listener
	accepted chan accepted
	once     sync.Once
	closed   chan struct{}
}

// An accepted is a connection, or the error of one that was not accepted.
type accepted struct {
	conn net.Conn
	err  error
}

// pass has Accept return a. It reports whether the listener was still open.
func (l *listener) pass(a accepted) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A date is the header Date of one second.
type date struct {
	second int64
	text   string
}

// now returns the header Date.
func (s *Server) now() string {
	now := time.Now()
	d := s.date.Load()
	if d == nil || d.second != now.Unix() {
		d = &date{now.Unix(), now.UTC().Format(http.TimeFormat)}
		s.date.Store(d)
	}
	return d.text
}
