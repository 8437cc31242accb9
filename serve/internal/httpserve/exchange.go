package httpserve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxOut is how much of an answer waits to be sent together.
const maxOut = 16 << 10

var errEnded = errors.New("the request has ended")

// An exchange is one request and its answer, of which it is the [http.ResponseWriter].
type exchange struct {
	conn   *conn // nil once it has ended
	server *Server
	base   context.Context
	url    url.URL

	unread   int64 // of the body of the request
	bodyRead atomic.Bool

	status    int   // 0 until it is known
	length    int64 // of the body of the answer; -1 if it is not known
	written   int64 // of that
	begun     bool  // the head of the answer is written
	chunked   bool
	closes    bool // the connection ends after the answer
	failed    error
	readUntil time.Time // asked for by the handler
	sendUntil time.Time

	mu    sync.Mutex // guards what follows, which is the context of the request
	err   error
	done  chan struct{} // nil until someone asks
	after []*func()
}

// A body is that of the request of an exchange.
type body exchange

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	c := b.conn
	switch {
	case c == nil:
		return 0, http.ErrBodyReadAfterClose
	case b.unread == 0:
		return 0, io.EOF
	case c.in.Buffered() == 0 && !b.readUntil.IsZero():
		c.setReadDeadline(b.readUntil)
	}
	n, err := c.in.Read(p[:min(int64(len(p)), b.unread)])
	if b.unread -= int64(n); b.unread == 0 {
		b.bodyRead.Store(true)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error { return nil }

// Header implements [http.ResponseWriter].
func (x *exchange) Header() http.Header {
	if x.conn == nil {
		return http.Header{}
	}
	return x.conn.header
}

// WriteHeader implements [http.ResponseWriter].
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 || status < 200 || x.conn == nil { // those before 200 are only for clients that wait
		return
	}
	x.status = status
	if declared := x.conn.header["Content-Length"]; len(declared) > 0 {
		if n, err := strconv.ParseInt(declared[0], 10, 64); err == nil && n >= 0 {
			x.length = n
		}
	}
}

// hasBody reports whether an answer with the status has a body.
func (x *exchange) hasBody() bool {
	return x.status != http.StatusNoContent && x.status != http.StatusNotModified
}

// Write implements [http.ResponseWriter].
func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	c := x.conn
	switch {
	case c == nil:
		return 0, errEnded
	case x.failed != nil:
		return 0, x.failed
	case !x.hasBody():
		return 0, http.ErrBodyNotAllowed
	case x.length >= 0 && x.written+int64(len(p)) > x.length:
		return 0, http.ErrContentLength
	}
	x.written += int64(len(p))
	switch {
	case x.length >= 0:
		x.begin()
		if len(c.out)+len(p) > maxOut {
			return len(p), x.send(p)
		}
		c.out = append(c.out, p...)
	case !x.begun && len(c.body)+len(p) <= maxOut:
		c.body = append(c.body, p...)
		return len(p), nil
	default:
		x.begin()
		x.chunk(p)
	}
	if len(c.out) > maxOut {
		return len(p), x.send(nil)
	}
	return len(p), nil
}

// WriteString implements [io.StringWriter].
func (x *exchange) WriteString(s string) (int, error) { return x.Write([]byte(s)) }

// chunk writes a part of an answer whose length is not known.
func (x *exchange) chunk(p []byte) {
	if len(p) > 0 {
		c := x.conn
		c.out = append(append(strconv.AppendInt(c.out, int64(len(p)), 16), "\r\n"...), p...)
		c.out = append(c.out, "\r\n"...)
	}
}

// begin writes the head of the answer, once. An answer whose length is not known by now
// has chunks.
func (x *exchange) begin() {
	if x.begun {
		return
	}
	c := x.conn
	x.begun, x.chunked = true, x.length < 0 && x.hasBody()
	x.closes = c.server.stopping.Load() || slices.ContainsFunc(c.header["Connection"], func(v string) bool { return strings.EqualFold(v, "close") })
	b := strconv.AppendInt(append(c.out, "HTTP/1.1 "...), int64(x.status), 10)
	b = append(append(append(b, ' '), http.StatusText(x.status)...), "\r\nDate: "...)
	b = append(append(b, x.server.now()...), "\r\n"...)
	b = c.appendHeaders(b)
	if x.closes {
		b = append(b, "Connection: close\r\n"...)
	}
	switch {
	case x.chunked:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case x.hasBody():
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), x.length, 10), "\r\n"...)
	}
	c.out = append(b, "\r\n"...)
	if x.chunked {
		x.chunk(c.body)
		c.body = c.body[:0]
	}
}

// appendHeaders appends the headers of the handler in the order of their names, without
// those that say how the answer is sent.
func (c *conn) appendHeaders(b []byte) []byte {
	if c.header["Content-Type"] == nil && len(c.body) > 0 {
		c.header["Content-Type"] = []string{http.DetectContentType(c.body)}
	}
	var few [16]string
	names := few[:0]
	for name := range c.header {
		if !slices.Contains(ownHeaders, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range c.header[name] {
			b = append(append(append(append(b, name...), ": "...), plainValue(value)...), "\r\n"...)
		}
	}
	return b
}

// ownHeaders are the headers that begin writes.
var ownHeaders = []string{"Connection", "Content-Length", "Date", "Transfer-Encoding"}

// plainValue returns the value of a header without line breaks.
func plainValue(value string) string {
	if !strings.ContainsAny(value, "\r\n") {
		return value
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
}

// send sends what is written, and then more, together.
func (x *exchange) send(more []byte) error {
	c := x.conn
	if x.failed == nil && len(c.out)+len(more) > 0 {
		c.setWriteDeadline(x.sendUntil)
		if more == nil {
			_, x.failed = c.net.Write(c.out)
		} else {
			both := net.Buffers{c.out, more}
			_, x.failed = both.WriteTo(c.net)
		}
	}
	if c.out = c.out[:0]; cap(c.out) > 2*maxOut {
		c.out = nil
	}
	return x.failed
}

// FlushError is called by [http.ResponseController.Flush].
func (x *exchange) FlushError() error {
	if x.conn == nil {
		return errEnded
	}
	x.WriteHeader(http.StatusOK)
	x.begin()
	return x.send(nil)
}

// Flush implements [http.Flusher].
func (x *exchange) Flush() { _ = x.FlushError() }

// SetReadDeadline is called by [http.ResponseController.SetReadDeadline].
func (x *exchange) SetReadDeadline(t time.Time) error { x.readUntil = t; return nil }

// SetWriteDeadline is called by [http.ResponseController.SetWriteDeadline]. A write may take
// some seconds longer.
func (x *exchange) SetWriteDeadline(t time.Time) error { x.sendUntil = t; return nil }

// finish sends the rest of the answer. It reports whether another request may follow.
func (x *exchange) finish() bool {
	x.WriteHeader(http.StatusOK)
	c := x.conn
	if !x.begun && x.length < 0 {
		x.length = int64(len(c.body))
	}
	x.begin()
	switch {
	case x.chunked:
		c.out = append(c.out, "0\r\n\r\n"...)
	case len(c.body) > 0:
		c.out = append(c.out, c.body...)
		c.body = c.body[:0]
	}
	short := x.hasBody() && x.written < x.length // the client would wait for the rest
	return x.send(nil) == nil && !short && !x.closes
}

// A requestContext is the context of the request of an exchange. It ends when the client
// leaves, and when the request has been answered.
type requestContext exchange

// Deadline implements [context.Context].
func (r *requestContext) Deadline() (time.Time, bool) { return r.base.Deadline() }

// Value implements [context.Context].
func (r *requestContext) Value(key any) any {
	switch key {
	case http.ServerContextKey:
		return r.server.http
	case http.LocalAddrContextKey:
		if c := r.conn; c != nil {
			return c.net.LocalAddr()
		}
	}
	return r.base.Value(key)
}

// Err implements [context.Context].
func (r *requestContext) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Done implements [context.Context].
func (r *requestContext) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		if r.done = make(chan struct{}); r.err != nil {
			close(r.done)
		}
	}
	return r.done
}

// AfterFunc is called by package context, which would need a goroutine without it.
func (r *requestContext) AfterFunc(f func()) (stop func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		go f()
		return func() bool { return false }
	}
	r.after = append(r.after, &f)
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(r.after, &f)
		if i >= 0 {
			r.after = slices.Delete(r.after, i, i+1)
		}
		return i >= 0
	}
}

// cancel ends the context of the request.
func (x *exchange) cancel() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		return
	}
	x.err = context.Canceled
	if x.done != nil {
		close(x.done)
	}
	for _, f := range x.after {
		go (*f)()
	}
	x.after = nil
}
