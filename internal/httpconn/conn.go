package httpconn

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// defaultHeaderBytes bounds the header of a response as net/http does.
const defaultHeaderBytes = 10 << 20

// A conn is one connection to a server. One request at a time owns it.
type conn struct {
	net.Conn
	pool      *Pool
	host      string
	in        *bufio.Reader
	check     *check // nil if the state of the connection cannot be checked: it is used once
	interrupt func() // ends what is read and written now
	since     time.Time

	reused bool  // it has carried a request before
	left   int64 // bytes that may be read
	unused bool  // nothing of the request was sent
	silent bool  // nothing of the response came
}

func newConn(raw net.Conn, p *Pool, host string) *conn {
	c := &conn{Conn: raw, pool: p, host: host, check: newCheck(raw)}
	c.in = bufio.NewReader(c)
	c.interrupt = func() { _ = c.SetDeadline(time.Unix(1, 0)) }
	return c
}

// Read reads at most as many bytes as are left.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.silent = c.silent && n == 0
	return n, err
}

// roundTrip writes a request and reads the header of its response. After an
// error, the connection is closed.
func (c *conn) roundTrip(req *http.Request, out []byte) (*http.Response, error) {
	stop := func() bool { return true }
	ctx := req.Context()
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, c.interrupt)
	}
	resp, err := c.exchange(req, out)
	if err != nil {
		stop()
		c.Close()
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, conn: c, ctx: ctx, stop: stop, keep: !resp.Close && resp.StatusCode >= 200}
	if resp.Body == http.NoBody {
		b.end(true)
	} else {
		resp.Body = b
	}
	return resp, nil
}

func (c *conn) exchange(req *http.Request, out []byte) (*http.Response, error) {
	most := c.pool.transport.MaxResponseHeaderBytes
	if most <= 0 {
		most = defaultHeaderBytes
	}
	c.left, c.silent = most, true
	n, err := c.Write(out)
	if c.unused = n == 0; err != nil {
		return nil, err
	}
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	for {
		resp, err := http.ReadResponse(c.in, req)
		switch {
		case err != nil && c.left <= 0:
			return nil, fmt.Errorf("the header of the response has more than %d bytes", most)
		case err != nil:
			return nil, err
		case resp.StatusCode < 100 || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols:
			c.left = math.MaxInt64
			return resp, nil
		}
	}
}

// again reports whether a request that failed may be sent once more, by the rule
// of net/http: the server closed a connection that was idle, and got nothing of
// the request, or may carry it out twice.
func (c *conn) again(req *http.Request) bool {
	repeatable := req.Method == http.MethodGet || req.Method == http.MethodHead ||
		req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
	return c.reused && (c.unused || c.silent && repeatable)
}

// A body is that of a response. Its end gives the connection back.
type body struct {
	io.ReadCloser
	conn  *conn
	ctx   context.Context
	stop  func() bool
	keep  bool // the connection may carry another request
	ended atomic.Bool
}

// Read reads the body. It fails for the reason for which the request was cancelled.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end(err == io.EOF)
		if err != io.EOF && b.ctx.Err() != nil {
			err = context.Cause(b.ctx)
		}
	}
	return n, err
}

// Close closes the connection, unless the body was read to its end. It may be
// called while the body is read.
func (b *body) Close() error {
	b.end(false)
	return nil
}

// end gives the connection back, or closes it; complete reports whether the
// whole body was read.
func (b *body) end(complete bool) {
	if b.ended.Swap(true) {
		return
	}
	running := b.stop() // otherwise, the interruption may come at any time
	if c := b.conn; running && complete && b.keep && c.check != nil && c.in.Buffered() == 0 {
		c.pool.put(c)
	} else {
		c.Close()
	}
}
