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

	ctx  context.Context // of its request
	stop func() bool     // keeps the end of ctx from interrupting it; reports whether that has not happened

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

// send sends a request and waits until its response begins. After an error, the
// connection is closed.
func (c *conn) send(ctx context.Context, request []byte) error {
	c.ctx, c.stop = ctx, notStopped
	if ctx.Done() != nil {
		c.stop = context.AfterFunc(ctx, c.interrupt)
	}
	c.left, c.silent = c.maxHead(), true
	n, err := c.Write(request)
	if c.unused = n == 0; err == nil {
		_, err = c.in.Peek(1)
	}
	if err != nil {
		c.stop()
		c.Close()
	}
	return err
}

func notStopped() bool { return true }

// maxHead returns how many bytes the head of a response may have.
func (c *conn) maxHead() int64 {
	if most := c.pool.transport.MaxResponseHeaderBytes; most > 0 {
		return most
	}
	return defaultHeaderBytes
}

// unlimited is the limit of bodies.
const unlimited = math.MaxInt64

// readResponse reads the response to a request. After an error, the connection is closed.
func (c *conn) readResponse(req *http.Request) (*http.Response, error) {
	resp, err := c.readHead(req)
	if err != nil {
		c.stop()
		c.Close()
		if c.ctx.Err() != nil {
			err = context.Cause(c.ctx)
		}
		return nil, err
	}
	c.left = unlimited
	b := &body{from: resp.Body, conn: c, ctx: c.ctx, stop: c.stop, keep: !resp.Close && resp.StatusCode >= 200}
	if resp.Body == http.NoBody {
		b.end(true)
	} else {
		resp.Body = b
	}
	return resp, nil
}

// readHead reads the head of a response, after those that only precede it.
func (c *conn) readHead(req *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(c.in, req)
		switch {
		case err != nil && c.left <= 0:
			return nil, fmt.Errorf("the header of the response has more than %d bytes", c.maxHead())
		case err != nil || resp.StatusCode < 100 || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols:
			return resp, err
		}
	}
}

// again reports whether a request that failed may be sent once more, by the rule
// of net/http: the server closed a connection that was idle, and got nothing of
// the request, or may carry it out twice.
func (c *conn) again(repeatable bool) bool {
	return c.reused && (c.unused || c.silent && repeatable)
}

// A body is that of a response. Its end gives the connection back.
type body struct {
	from  io.Reader
	conn  *conn
	ctx   context.Context
	stop  func() bool
	keep  bool // the connection may carry another request
	ended atomic.Bool
}

// Read reads the body. It fails for the reason for which the request was cancelled.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
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
	c := b.conn
	c.ctx, c.stop = nil, nil
	if running && complete && b.keep && c.check != nil && c.in.Buffered() == 0 {
		c.pool.put(c)
	} else {
		c.Close()
	}
}
