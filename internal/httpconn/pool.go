// Package httpconn sends requests over plain HTTP/1.1 with less work than net/http: the
// goroutine of a request writes and reads the connection itself. A connection of net/http
// has two goroutines, and hands every request to both of them and back. The package also
// explains the errors of requests.
//
// A [Pool] takes only the requests that it can send simply. It leaves the others
// to the [http.Transport] it belongs to: TLS, proxies, compression, and bodies
// that are large or of unknown length. A [Route] of it takes requests as they are sent.
package httpconn

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// maxBody is the largest body of a request in bytes. So much fits into the
// buffers of the kernels at both ends, so that a server that answers before it
// has read the request does not block its sender.
const maxBody = 32 << 10

// A Pool holds the idle connections of a transport, for all hosts together.
type Pool struct {
	transport *http.Transport
	buffers   sync.Pool // of requests as they are sent

	mu     sync.Mutex
	idle   []*conn // ordered by the time since when they are idle
	closed bool    // connections are closed, and not kept, until the next request
	expire *time.Timer
}

// Register has t send requests to http:// addresses through the pool that it
// returns. The dialer, the proxy and the limits are those of t.
func Register(t *http.Transport) *Pool {
	p := &Pool{transport: t}
	if canCheck {
		t.RegisterProtocol("http", p)
	}
	return p
}

// RoundTrip sends a request and returns its response. Reading the response's
// body to its end, or closing it, gives the connection back. A request is sent
// again only if an idle connection was closed by the server before it answered,
// and only if nothing of the request was sent or it may be carried out twice.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	if given, _ := req.Context().Value(responseKey{}).(*Response); given != nil {
		if c := given.take(); c != nil {
			if req.Body != nil {
				req.Body.Close()
			}
			return c.readResponse(req)
		}
	}
	if !p.takes(req) {
		return nil, http.ErrSkipAltProtocol
	}
	out, ok := p.buffers.Get().(*bytes.Buffer)
	if !ok {
		out = new(bytes.Buffer)
	}
	defer p.buffers.Put(out)
	out.Reset()
	if err := req.Write(out); err != nil {
		return nil, err
	}
	repeatable := req.Method == http.MethodGet || req.Method == http.MethodHead ||
		req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
	c, err := p.send(req.Context(), req.URL, out.Bytes(), repeatable)
	if err != nil {
		return nil, err
	}
	return c.readResponse(req)
}

// send sends a request, and returns its connection when the response begins.
func (p *Pool) send(ctx context.Context, u *url.URL, request []byte, repeatable bool) (*conn, error) {
	for ctx.Err() == nil {
		c, err := p.take(ctx, u)
		if err == nil {
			if err = c.send(ctx, request); err == nil {
				return c, nil
			}
		}
		if ctx.Err() == nil && !(c != nil && c.again(repeatable)) {
			return nil, err
		}
	}
	return nil, context.Cause(ctx)
}

// takes reports whether p can send req.
func (p *Pool) takes(req *http.Request) bool {
	return isSimple(req) && p.isDirect(req) && httptrace.ContextClientTrace(req.Context()) == nil
}

// isSimple reports whether a request has a small body of known length, and
// nothing that concerns its connection.
func isSimple(req *http.Request) bool {
	switch req.Method {
	case http.MethodPost, http.MethodGet, http.MethodHead, http.MethodDelete:
	default:
		return false
	}
	for _, name := range [...]string{"Connection", "Upgrade", "Expect"} {
		if req.Header[name] != nil {
			return false
		}
	}
	if req.ContentLength == 0 && req.Body != nil && req.Body != http.NoBody { // its length is not known
		return false
	}
	return req.ContentLength >= 0 && req.ContentLength <= maxBody &&
		req.TransferEncoding == nil && req.Trailer == nil && !req.Close
}

// isDirect reports whether the transport would send a request to its host
// without a proxy, without compression, and without limits of its own.
func (p *Pool) isDirect(req *http.Request) bool {
	t := p.transport
	if t.DialContext == nil || t.DisableKeepAlives || t.MaxConnsPerHost > 0 || t.ResponseHeaderTimeout > 0 ||
		!t.DisableCompression && req.Header["Accept-Encoding"] == nil {
		return false
	}
	if strings.IndexFunc(req.URL.Host, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return false
	}
	if t.Proxy == nil {
		return true
	}
	proxy, err := t.Proxy(req)
	return proxy == nil && err == nil
}

// take returns an idle connection that the server has not closed, or a new one.
func (p *Pool) take(ctx context.Context, u *url.URL) (*conn, error) {
	host := u.Host
	for c := p.pop(host); c != nil; c = p.pop(host) {
		if c.check.alive() {
			return c, nil
		}
		c.Close()
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	raw, err := p.transport.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, err
	}
	return newConn(raw, p, host), nil
}

// pop returns the connection to a host that was used last.
func (p *Pool) pop(host string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
	for i := len(p.idle) - 1; i >= 0; i-- {
		if c := p.idle[i]; c.host == host {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// put keeps a connection for the next request, or closes it.
func (p *Pool) put(c *conn) {
	most := p.transport.MaxIdleConnsPerHost
	if most == 0 {
		most = http.DefaultMaxIdleConnsPerHost
	}
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < most
	if keep {
		c.reused, c.since = true, time.Now()
		p.idle = append(p.idle, c)
		if after := p.transport.IdleConnTimeout; p.expire == nil && after > 0 {
			p.expire = time.AfterFunc(after, p.removeExpired)
		}
	}
	p.mu.Unlock()
	if !keep {
		c.Close()
	}
}

// removeExpired closes the connections that were idle for too long.
func (p *Pool) removeExpired() {
	p.mu.Lock()
	defer p.mu.Unlock()
	after := p.transport.IdleConnTimeout
	for len(p.idle) > 0 && time.Since(p.idle[0].since) >= after {
		p.idle[0].Close()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.expire = nil
	if len(p.idle) > 0 {
		p.expire = time.AfterFunc(after-time.Since(p.idle[0].since), p.removeExpired)
	}
}

// CloseIdleConnections closes the connections that no request uses. Those in use
// are closed after their requests, unless another request comes first.
func (p *Pool) CloseIdleConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.Close()
	}
	p.idle, p.closed = nil, true
	if p.expire != nil {
		p.expire.Stop()
		p.expire = nil
	}
}
