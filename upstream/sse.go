package upstream

import (
	"context"
	"errors"
	"fmt"
	"github.com/toolpost/toolpost/internal/netaddr"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// sse is an MCP connection over HTTP with SSE (MCP 2024-11-05, Transports):
// one stream brings all messages, a second address takes ours.
type sse struct {
	httpConn
	post *url.URL
	done chan struct{} // closed when the stream has ended

	early earlyEvents
}

// earlyEvents are messages that come before the address is known to which answers to
// them would go.
type earlyEvents struct {
	mu     sync.Mutex
	open   bool // the address is known
	events []event
	size   int64
}

// Limits of the early messages that are kept. Further ones are dropped.
const (
	maxEarly     = 100
	maxEarlySize = 1 << 20 // bytes of all together
)

// dialSSE opens the stream and waits for the address of the second endpoint.
// If the stream is open but names none for a while, it is taken to be the
// stream's own with /messages for /sse.
func dialSSE(ctx context.Context, client *http.Client, cfg *Config, l *limits, p *peer) error {
	base := cfg.address()
	c := &sse{httpConn: httpConn{peer: p, client: client, limits: l}, done: make(chan struct{})}
	p.sendAtOnce()
	resp, err := c.open(ctx, base)
	if err != nil {
		c.fail(err)
		return err
	}
	endpoint := make(chan string, 1)
	go c.follow(resp, endpoint)
	if c.post, err = c.endpoint(ctx, base, endpoint, cfg.ProbeTimeout); err != nil {
		c.close()
		return err
	}
	p.conn = c
	return c.takeEarly()
}

// open sends the request that the stream answers. The stream outlives ctx.
func (c *sse) open(ctx context.Context, address *url.URL) (*http.Response, error) {
	stop := context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	defer stop()
	r, err := httpRequest(c.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(r)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case isStream(resp):
		return resp, nil
	case resp.StatusCode < 300:
		resp.Body.Close()
		return nil, &contentError{mediaType(resp), ""}
	}
	status := fault(resp)
	status.sse = status.status == http.StatusBadRequest || status.status == http.StatusMethodNotAllowed || status.status == http.StatusNotAcceptable
	return nil, status
}

func (c *sse) endpoint(ctx context.Context, base *url.URL, named <-chan string, wait time.Duration) (*url.URL, error) {
	select {
	case address := <-named:
		post, err := base.Parse(address)
		if err == nil && !netaddr.SameOrigin(post, base) {
			err = toForeign(post)
		}
		return post, err
	case <-time.After(wait):
		path, ok := strings.CutSuffix(base.Path, "/sse")
		if !ok {
			return nil, errors.New("its event stream does not say where to send messages; check its url")
		}
		post := *base
		post.Path = path + "/messages"
		return &post, nil
	case <-c.ctx.Done():
		return nil, c.failure()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// follow delivers what the stream brings, until it ends. Events that
// are not messages may come at any time, and mean nothing.
func (c *sse) follow(resp *http.Response, endpoint chan<- string) {
	defer close(c.done)
	defer resp.Body.Close()
	defer recoverPanic(c.log, "read the server's stream", c.fail)
	for ev, err := range events(resp.Body, c.limits, c.keeps(nil)) {
		switch {
		case err != nil:
			c.fail(fmt.Errorf("its event stream ended: %v", err))
		case ev.name == "endpoint" && ev.data != nil:
			address := strings.TrimSpace(string(ev.data.begin()))
			ev.data.drop()
			select {
			case endpoint <- address:
			default: // a second one
			}
		case c.keepEarly(&ev):
		default:
			if err := c.takeEvent(&ev, nil); err != nil {
				c.fail(err)
			}
		}
	}
}

// keepEarly keeps an event until we can answer it. It returns false if we can now.
func (c *sse) keepEarly(ev *event) bool {
	c.early.mu.Lock()
	defer c.early.mu.Unlock()
	switch {
	case c.early.open:
		return false
	case ev.data == nil:
	case ev.isMessage() && len(c.early.events) < maxEarly && c.early.size+ev.data.size <= maxEarlySize:
		c.early.size += ev.data.size
		c.early.events = append(c.early.events, *ev)
	default:
		ev.data.drop()
	}
	return true
}

// takeEarly delivers the early messages, in order and before all others.
func (c *sse) takeEarly() error {
	c.early.mu.Lock()
	defer c.early.mu.Unlock()
	c.early.open = true
	for i := range c.early.events {
		if err := c.takeEvent(&c.early.events[i], nil); err != nil {
			c.fail(err)
		}
	}
	c.early.events = nil
	return c.failure()
}

func (c *sse) useVersion(string) {}

// call sends a request. One that cannot be sent does not concern others: the stream
// shows whether the server is there.
func (c *sse) call(ctx context.Context, x *exchange, message []byte) error {
	err := c.send(ctx, "", message)
	request, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok || x.handshake():
		return err
	case isDial(err):
		return &cutError{request.Err, true}
	case !wasRefused(err):
		return &cutError{err: request.Err}
	}
	return err
}

func (c *sse) send(ctx context.Context, _ string, message []byte) error {
	ctx, cancel := c.bind(ctx)
	defer cancel()
	r, err := httpRequest(ctx, http.MethodPost, c.post, message)
	if err != nil {
		return err
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fault(resp)
	}
	c.finish(resp.Body, cancel)
	return nil
}

// close ends the stream.
func (c *sse) close() {
	c.closed.Do(func() {
		c.fail(errClosed)
		<-c.done
		c.client.CloseIdleConnections()
	})
}
