package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sse is an MCP connection over HTTP with SSE (MCP 2024-11-05, Transports):
// one stream brings all messages, a second address takes ours.
type sse struct {
	inbox
	client *http.Client
	post   *url.URL
	limits *limits
	log    *slog.Logger
	closed sync.Once
	done   chan struct{} // closed when the stream has ended
}

// dialSSE opens the stream and waits for the address of the second endpoint.
// If the stream is open but tells none for a while, it is taken to be the
// stream's own with /messages for /sse.
func dialSSE(ctx context.Context, client *http.Client, cfg *Config, l *limits, log *slog.Logger) (*sse, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("its url is not an address")
	}
	c := &sse{inbox: newInbox(), client: client, limits: l, log: log, done: make(chan struct{})}
	resp, err := c.open(ctx, cfg.URL)
	if err != nil {
		c.fail(err)
		return nil, err
	}
	endpoint := make(chan string, 1)
	go c.receive(resp, endpoint)
	if c.post, err = c.endpoint(ctx, base, endpoint, cfg.ProbeTimeout); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// open sends the request that the stream answers. The stream outlives ctx.
func (c *sse) open(ctx context.Context, address string) (*http.Response, error) {
	stop := context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	defer stop()
	r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := c.client.Do(r)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case resp.StatusCode < 300 && mediaType(resp) == "text/event-stream":
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode < 300 {
		return nil, &contentError{mediaType(resp), ""}
	}
	err = fault(resp)
	var status *statusError
	if errors.As(err, &status) {
		status.sse = status.status == http.StatusBadRequest || status.status == http.StatusMethodNotAllowed || status.status == http.StatusNotAcceptable
	}
	return nil, err
}

func (c *sse) endpoint(ctx context.Context, base *url.URL, told <-chan string, wait time.Duration) (*url.URL, error) {
	quiet := time.NewTimer(wait)
	defer quiet.Stop()
	select {
	case address := <-told:
		post, err := base.Parse(address)
		if err == nil && origin(post) != origin(base) {
			err = &foreignError{origin(post)}
		}
		return post, err
	case <-quiet.C:
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

// receive passes on what the stream brings, until it ends.
func (c *sse) receive(resp *http.Response, endpoint chan<- string) {
	defer close(c.done)
	defer resp.Body.Close()
	defer recovered(c.log, "read the server's stream", c.fail)
	for ev, err := range events(resp.Body, c.limits) {
		switch {
		case err != nil:
			c.fail(fmt.Errorf("its event stream ended: %v", err))
		case ev.name == "endpoint":
			ev.drop()
			select {
			case endpoint <- ev.text():
			default: // told again
			}
		default:
			found, err := ev.messages(c.log)
			if err != nil {
				c.fail(err)
			}
			for _, m := range found {
				c.push(m)
			}
		}
	}
}

// SessionID returns "": the session is in the address of the endpoint.
func (c *sse) SessionID() string { return "" }

// Write sends msg. A call that cannot be sent is answered with an error.
func (c *sse) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.send(ctx, msg)
	req, ok := msg.(*jsonrpc.Request)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case ok && req.IsCall():
		c.push(&jsonrpc.Response{ID: req.ID, Error: err})
		return nil
	}
	c.log.Debug("cannot deliver a message", "err", cause(err))
	return nil
}

func (c *sse) send(ctx context.Context, msg jsonrpc.Message) error {
	ctx, cancel := c.bind(ctx)
	defer cancel()
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.post.String(), bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fault(resp)
	}
	return nil
}

// Close ends the stream.
func (c *sse) Close() error {
	c.closed.Do(func() {
		c.fail(io.EOF)
		<-c.done
		c.client.CloseIdleConnections()
	})
	return nil
}
