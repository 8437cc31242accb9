package upstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/wire"
)

// The headers that every request of a connection has once they are known.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// streamable is an MCP connection over streamable HTTP, of all its versions
// (MCP 2025-11-25 and 2026-07-28, Transports). The answer to a call is read
// where the call is made.
type streamable struct {
	httpConn
	url    *url.URL
	header atomic.Pointer[requestHeader]

	streaming atomic.Bool // the stream of changes is open
	starting  sync.Mutex
	wait      sync.WaitGroup
}

// A requestHeader is what every request has.
type requestHeader struct {
	http.Header
	direct *direct // nil if requests need a client
}

func newStreamable(client *http.Client, cfg *Config, l *limits, p *peer) *streamable {
	c := &streamable{httpConn: httpConn{peer: p, client: client, limits: l}, url: cfg.address()}
	c.header.Store(&requestHeader{Header: http.Header{}})
	p.sendAtOnce()
	return c
}

// sessionID returns the id that the server gave, "" for none.
func (c *streamable) sessionID() string { return c.header.Load().Get(sessionHeader) }

func (c *streamable) useVersion(version string) { c.setHeader(versionHeader, version) }

// setHeader sets a header of all requests that follow.
func (c *streamable) setHeader(name, value string) {
	next := maps.Clone(c.header.Load().Header)
	if delete(next, name); value != "" {
		next[name] = []string{value}
	}
	c.header.Store(&requestHeader{next, newDirect(c.client, c.url, next)})
}

// send sends a notification or an answer. Some servers never answer
// notifications/initialized, and some send too early for a stream that is not open
// yet: both are waited for, but not for long.
func (c *streamable) send(ctx context.Context, method string, message []byte) error {
	if method != "notifications/initialized" {
		c.deliver(ctx, method, message)
		return nil
	}
	c.start(ctx, func(done func()) {
		defer done()
		ctx, cancel := context.WithTimeout(c.ctx, answerTimeout)
		defer cancel()
		c.deliver(ctx, method, message)
	})
	c.start(ctx, c.listen)
	return nil
}

// deliver sends a message that has no answer. Some servers refuse it; the next
// call shows whether it matters.
func (c *streamable) deliver(ctx context.Context, method string, message []byte) {
	ctx, cancel := c.bind(ctx)
	defer cancel()
	resp, err := c.post(ctx, message, &exchange{request: &request{method: method}})
	if err != nil {
		c.log.Debug("cannot deliver a message", "method", method, "err", httpconn.WithoutURL(err))
		return
	}
	c.finish(resp.body, cancel)
}

// start runs f in the background, and waits a little until f calls done.
func (c *streamable) start(ctx context.Context, f func(done func())) {
	began := make(chan struct{})
	c.starting.Lock()
	if c.ctx.Err() == nil { // else close may be waiting already
		c.wait.Go(func() {
			defer recoverPanic(c.log, "talk to the server", c.fail)
			f(sync.OnceFunc(func() { close(began) }))
		})
	}
	c.starting.Unlock()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.waitFor(ctx, began)
}

// call sends a request and reads its answer. A call that goes wrong leaves the
// connection as it was.
func (c *streamable) call(ctx context.Context, x *exchange, message []byte) error {
	bind := c.bind // our own requests are made again in the next session
	if x.owner != nil {
		bind = outlive
	}
	ctx, cancel := bind(ctx)
	defer cancel()
	c.mu.Lock()
	x.leave = cancel
	if c.over {
		cancel()
	}
	c.mu.Unlock()
	resp, err := c.post(ctx, message, x)
	if request, ok := errors.AsType[*url.Error](err); ok && !x.handshake() && !wasRefused(err) {
		return &cutError{err: request.Err} // other calls have connections of their own
	}
	if err != nil {
		return err
	}
	if x.method == "initialize" {
		c.setHeader(sessionHeader, resp.header.Get(sessionHeader))
	}
	switch resp.kind {
	case "text/event-stream":
		return c.follow(ctx, x, resp.body, cancel)
	case "application/json":
		defer resp.body.Close()
		return c.read(x, resp)
	default:
		defer resp.body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.body, 1<<10))
		return &contentError{cmp.Or(resp.kind, "no content type"), excerpt(body, 300)}
	}
}

// outlive returns a context that does not end with the connection.
func outlive(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) }

// read reads an answer of JSON.
func (c *streamable) read(x *exchange, resp answer) error {
	b := &body{limits: c.limits, keeps: c.keeps(x)}
	if err := b.readFrom(resp.body, resp.length); err != nil {
		b.drop()
		return &cutError{err: err}
	}
	_, err := c.take(b, x)
	switch {
	case err != nil:
		return err
	case x.answered.Load():
		return nil
	case b.size > int64(c.limits.max):
		return b.tooLong()
	}
	c.client.CloseIdleConnections() // what comes next on this one may be out of step too
	begin := b.begin()
	switch {
	case wire.BrokenAnswer(begin) != nil:
		return &contentError{notJSON, excerpt(begin, 300)}
	case bytes.Contains(begin, []byte(`"jsonrpc"`)): // it may be the answer to another caller
		begin = nil
	}
	return &contentError{"JSON that does not answer the call", excerpt(begin, 300)}
}

// request sends one HTTP request of the connection, with more headers from set.
func (c *streamable) request(ctx context.Context, method string, message []byte, set func(http.Header)) (*http.Response, error) {
	r, err := httpRequest(ctx, method, c.url, message)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Header, c.header.Load().Header)
	if set != nil {
		set(r.Header)
	}
	return c.client.Do(r)
}

// cancelAll notifies the server of calls that no caller waits for any more, before
// their session ends: some servers wait for them first. It does not take long.
func (c *streamable) cancelAll() {
	if c.sessionID() == "" {
		return
	}
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.owners.open))
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.ctx, endTimeout/2)
	defer cancel()
	for _, x := range open {
		if !x.handshake() {
			_ = c.send(ctx, cancelled, wire.AppendRequest(nil, nil, cancelled, x.cancellation()))
		}
	}
}

// close ends the session on the server too, if that does not take long.
func (c *streamable) close() {
	c.closed.Do(func() {
		c.starting.Lock()
		c.fail(errClosed)
		c.starting.Unlock()
		if c.sessionID() != "" && !errors.Is(c.failure(), errSessionLost) {
			ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
			defer cancel()
			if resp, err := c.request(ctx, http.MethodDelete, nil, nil); err == nil {
				resp.Body.Close()
			}
		}
		c.wait.Wait()
		c.client.CloseIdleConnections()
	})
}

// leastRetry keeps a server from having its stream opened again without a pause.
const leastRetry = 100 * time.Millisecond

// A cursor is where a stream of events was left.
type cursor struct {
	id    string
	retry time.Duration
}

// follow reads the stream that answers x, and takes it up again where it broke.
func (c *streamable) follow(ctx context.Context, x *exchange, body io.ReadCloser, cancel func()) error {
	at := cursor{retry: time.Second}
	for tries := 0; tries < 5; tries++ {
		before := at.id
		err := c.events(body, x, &at)
		if x.answered.Load() {
			c.finish(body, cancel)
			return nil
		}
		body.Close()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case at.id == "" || errors.Is(err, errTooLong):
			return &cutError{err: err}
		case at.id != before:
			tries = 0
		}
		select {
		case <-time.After(at.retry):
		case <-ctx.Done():
			return ctx.Err()
		}
		x.resumed = true
		if body, err = c.open(ctx, at.id); err != nil {
			return &cutError{err: err}
		}
	}
	body.Close()
	return &cutError{}
}

// events delivers the events of one stream until x is answered, if there is one,
// or the stream ends.
func (c *streamable) events(body io.Reader, x *exchange, at *cursor) error {
	for ev, err := range events(body, c.limits, c.keeps(x)) {
		if err != nil {
			return err
		}
		if ev.id != "" {
			at.id = ev.id
		}
		if ev.retry > 0 {
			at.retry = min(max(ev.retry, leastRetry), longestBackoff)
		}
		if err := c.takeEvent(&ev, x); err != nil {
			return err
		}
		if x != nil && x.answered.Load() {
			return nil
		}
	}
	return nil
}

// open opens the stream of events from the server, or opens one again.
func (c *streamable) open(ctx context.Context, last string) (io.ReadCloser, error) {
	resp, err := c.request(ctx, http.MethodGet, nil, func(h http.Header) {
		if last != "" {
			h.Set("Last-Event-ID", last)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case isStream(resp):
		return resp.Body, nil
	}
	return nil, fault(resp)
}

// lasting is how long a stream has to last so that its end does not mean a problem:
// many proxies end streams after a minute.
const lasting = 10 * time.Second

// listen reads what a classic server sends outside of calls. Servers need not
// offer that. One that did is lost when it cannot be reached four times.
func (c *streamable) listen(answered func()) {
	defer answered()
	at := cursor{retry: time.Second}
	offered := false
	for lost, idle, refusals := 0, 0, 0; ; idle++ {
		body, err := c.open(c.ctx, at.id)
		answered()
		status, refused := errors.AsType[*statusError](err)
		switch {
		case c.ctx.Err() != nil:
			return
		case err == nil:
			if c.readStream(body, &at, offered) {
				idle = 0
			}
			offered, lost, refusals = true, 0, 0
		case refused && c.forgot(c.ctx, &exchange{request: &request{}}, err), refused && status.offersNoStream(offered):
			return
		case refused:
			refusals++
			if !c.sleep(c.ctx, status.pause(at.retry, refusals, offered)) {
				return
			}
			continue
		case lost == 3:
			c.fail(err)
			return
		default:
			lost++
		}
		if !c.sleep(c.ctx, min(at.retry<<min(idle, 4), longestBackoff)) {
			return
		}
	}
}

// readStream delivers what a stream brings, until it ends. It reports whether the stream
// was of use. Again means that there was one before.
func (c *streamable) readStream(body io.ReadCloser, at *cursor, again bool) bool {
	defer body.Close()
	c.streaming.Store(true)
	defer c.streaming.Store(false)
	began, before := time.Now(), at.id
	if again && before == "" { // otherwise the server sends what was missed
		c.event(nil)
	}
	_ = c.events(body, nil, at)
	return at.id != before || time.Since(began) >= lasting
}
