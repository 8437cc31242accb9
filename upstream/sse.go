package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// sse is an MCP connection over HTTP with SSE (MCP 2024-11-05, Transports):
// one stream brings all messages, a second address takes ours.
type sse struct {
	httpConn
	post *url.URL
	done chan struct{} // closed when the stream has ended
}

// dialSSE opens the stream and waits for the address of the second endpoint.
// If the stream is open but names none for a while, it is taken to be the
// stream's own with /messages for /sse.
func dialSSE(ctx context.Context, client *http.Client, cfg *Config, l *limits, p *peer) error {
	base := cfg.address()
	c := &sse{httpConn: httpConn{peer: p, client: client, limits: l}, done: make(chan struct{})}
	resp, err := c.open(ctx, base)
	if err != nil {
		c.fail(err)
		return err
	}
	endpoint, ready := make(chan string, 1), make(chan struct{})
	go c.follow(resp, endpoint, ready)
	if c.post, err = c.endpoint(ctx, base, endpoint, cfg.ProbeTimeout); err != nil {
		c.close()
		return err
	}
	p.conn = c
	close(ready)
	return nil
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
		if err == nil && !sameOrigin(post, base) {
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

// follow delivers what the stream brings, until it ends. Messages wait until we
// are ready.
func (c *sse) follow(resp *http.Response, endpoint chan<- string, ready <-chan struct{}) {
	defer close(c.done)
	defer resp.Body.Close()
	defer recovered(c.log, "read the server's stream", c.fail)
	for ev, err := range events(resp.Body, c.limits, c.keeps(nil)) {
		switch {
		case err != nil:
			c.fail(fmt.Errorf("its event stream ended: %v", err))
		case ev.name == "endpoint" && ev.data != nil:
			address := string(ev.data.begin())
			ev.data.drop()
			select {
			case endpoint <- address:
			default: // a second one
			}
		default:
			select {
			case <-ready:
			case <-c.ctx.Done():
			}
			if err := c.takeEvent(&ev, nil); err != nil {
				c.fail(err)
			}
		}
	}
}

func (c *sse) useVersion(string) {}

func (c *sse) call(ctx context.Context, _ *exchange, message []byte) error {
	return c.send(ctx, "", message)
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
	c.finish(resp, cancel)
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
