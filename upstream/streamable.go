package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errSessionMissing answers a request that was not carried out, because the
// server forgot our session; errSessionLost is what that is for all others.
var (
	errSessionLost    = errors.New("the server no longer knows our session; it was restarted")
	errSessionMissing = fmt.Errorf("the request was refused: %w", errSessionLost)
)

// streamable is an MCP connection over streamable HTTP, of all its versions
// (MCP 2025-11-25 and 2026-07-28, Transports). What it reads from the stream
// of one call has the call's exchange as Extra.
type streamable struct {
	inbox
	identity
	client *http.Client
	url    string
	limits *limits
	log    *slog.Logger
	closed sync.Once

	starting sync.Mutex
	wait     sync.WaitGroup
}

func newStreamable(client *http.Client, cfg *Config, l *limits, log *slog.Logger) *streamable {
	return &streamable{inbox: newInbox(), client: client, url: cfg.URL, limits: l, log: log}
}

// Write sends msg. For a call it returns when the answer has come: a call that
// goes wrong is answered with an error, and the connection lives on.
func (c *streamable) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, _ := msg.(*jsonrpc.Request)
	if req == nil || !req.IsCall() {
		c.tell(ctx, msg, req)
		return nil
	}
	err := c.call(ctx, req)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c.push(&jsonrpc.Response{ID: req.ID, Error: err})
	if errors.Is(err, errSessionLost) {
		c.fail(errSessionLost)
	}
	return nil
}

// tell sends a notification or a response.
func (c *streamable) tell(ctx context.Context, msg jsonrpc.Message, req *jsonrpc.Request) {
	ctx, cancel := c.bind(ctx)
	defer cancel()
	resp, err := c.post(ctx, msg)
	switch {
	case errors.Is(err, errSessionLost):
		c.fail(errSessionLost)
	case err != nil: // some servers refuse what needs no answer; the next call tells whether it matters
		c.log.Debug("cannot deliver a message", "err", cause(err))
	default:
		resp.Body.Close()
	}
	if req != nil && req.Method == "notifications/initialized" {
		c.startListening(ctx)
	}
}

// startListening waits a little for the stream: what some servers send before
// it is open is lost.
func (c *streamable) startListening(ctx context.Context) {
	answered := make(chan struct{})
	c.starting.Lock()
	closed := c.ctx.Err() != nil // Close may be waiting already
	if !closed {
		c.wait.Go(func() { c.listen(sync.OnceFunc(func() { close(answered) })) })
	}
	c.starting.Unlock()
	if closed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

func (c *streamable) call(ctx context.Context, req *jsonrpc.Request) error {
	ctx, cancel := c.bind(ctx)
	defer cancel()
	resp, err := c.post(ctx, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch kind := mediaType(resp); kind {
	case "text/event-stream":
		return c.follow(ctx, req, resp)
	case "application/json":
		return c.body(req, resp)
	default:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		if kind == "" {
			kind = "no content type"
		}
		return &contentError{kind, excerpt(body, 300)}
	}
}

// body passes on what answers req with JSON.
func (c *streamable) body(req *jsonrpc.Request, resp *http.Response) error {
	b := &body{limits: c.limits}
	if n := resp.ContentLength; n > 0 && n <= early {
		b.data = make([]byte, 0, n)
	}
	if _, err := io.Copy(b, io.LimitReader(resp.Body, c.limits.most()+1)); err != nil {
		b.drop()
		return &cutError{err}
	}
	found, err := b.messages()
	if err != nil {
		return err
	}
	answered := false
	for _, m := range found {
		answered = c.accept(req, m) || answered
	}
	switch {
	case answered:
		return nil
	case b.size > int64(c.limits.max):
		return b.tooLong()
	default:
		return &contentError{"JSON that does not answer the call", excerpt(b.begin(), 300)}
	}
}

// post sends msg; the response is a good one.
func (c *streamable) post(ctx context.Context, msg jsonrpc.Message) (*http.Response, error) {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	session, version := c.get()
	if req, ok := msg.(*jsonrpc.Request); ok {
		version = describe(r.Header, req, version)
	}
	identify(r.Header, session, version)
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		if session != "" && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest && c.forgot(ctx)) {
			return nil, errSessionMissing
		}
		return nil, fault(resp)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "initialize" {
		c.join(resp.Header.Get("Mcp-Session-Id"))
	}
	return resp, nil
}

// accept passes on what came on the stream of req. It reports whether m is its
// answer.
func (c *streamable) accept(req *jsonrpc.Request, m jsonrpc.Message) bool {
	resp, ok := m.(*jsonrpc.Response)
	if in, isRequest := m.(*jsonrpc.Request); isRequest && req != nil {
		in.Extra = req.Extra
	}
	answers := ok && req != nil && resp.ID == req.ID
	if answers && req.Method == "initialize" && resp.Error == nil {
		if o, err := parseObject(resp.Result); err == nil {
			c.speak(o.text("protocolVersion"))
		}
	}
	c.push(m)
	return answers
}

// Close ends the session on the server too, if that takes no long time.
func (c *streamable) Close() error {
	c.closed.Do(func() {
		session, version := c.get()
		if session != "" && !errors.Is(c.failure(), errSessionLost) {
			ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
			defer cancel()
			if r, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, nil); err == nil {
				identify(r.Header, session, version)
				if resp, err := c.client.Do(r); err == nil {
					resp.Body.Close()
				}
			}
		}
		c.starting.Lock()
		c.fail(io.EOF)
		c.starting.Unlock()
		c.wait.Wait()
		c.client.CloseIdleConnections()
	})
	return nil
}

// A cursor is where a stream of events was left.
type cursor struct {
	id    string
	retry time.Duration
}

// follow reads the stream that answers req, and takes it up again where it broke.
func (c *streamable) follow(ctx context.Context, req *jsonrpc.Request, resp *http.Response) error {
	at := cursor{retry: time.Second}
	for tries := 0; tries < 5; tries++ {
		before := at.id
		answered, err := c.read(resp, req, &at)
		resp.Body.Close()
		switch {
		case answered:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case at.id == "" || errors.Is(err, errTooLong):
			return &cutError{err}
		case at.id != before:
			tries = 0
		}
		if !c.sleep(ctx, at.retry) {
			return ctx.Err()
		}
		if resp, err = c.open(ctx, at.id, true); err != nil {
			return &cutError{err}
		}
	}
	return &cutError{}
}

// read passes on the events of one stream until req is answered or it ends.
func (c *streamable) read(resp *http.Response, req *jsonrpc.Request, at *cursor) (answered bool, err error) {
	for ev, err := range events(resp.Body, c.limits) {
		if err != nil {
			return false, err
		}
		if ev.id != "" {
			at.id = ev.id
		}
		if ev.retry > 0 {
			at.retry = ev.retry
		}
		found, err := ev.messages(c.log)
		if err != nil {
			return false, err
		}
		for _, m := range found {
			answered = c.accept(req, m) || answered
		}
		if answered {
			return true, nil
		}
	}
	return false, nil
}

// open opens the stream of events from the server, or opens one again.
func (c *streamable) open(ctx context.Context, last string, again bool) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	session, version := c.get()
	identify(r.Header, session, version)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 && mediaType(resp) == "text/event-stream" {
		return resp, nil
	}
	defer resp.Body.Close()
	lost := resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest && again && c.forgot(ctx)
	if lost && session != "" && again {
		c.fail(errSessionLost)
		return nil, errSessionLost
	}
	return nil, fault(resp)
}

// listen reads what a classic server sends outside of calls. Servers need not
// offer that; once they did, they are lost when they refuse four times.
func (c *streamable) listen(answered func()) {
	defer answered()
	defer recovered(c.log, "read the server's stream", c.fail)
	at := cursor{retry: time.Second}
	offered := false
	for lost, idle := 0, 0; ; idle++ {
		resp, err := c.open(c.ctx, at.id, offered)
		answered()
		var status *statusError
		switch {
		case c.ctx.Err() != nil:
			return
		case err == nil:
			before := at.id
			_, _ = c.read(resp, nil, &at)
			resp.Body.Close()
			offered, lost = true, 0
			if at.id != before {
				idle = 0
			}
		case !offered && errors.As(err, &status):
			return
		case lost == 3:
			c.fail(err)
			return
		default:
			lost++
		}
		if !c.sleep(c.ctx, at.retry<<min(idle, 4)) {
			return
		}
	}
}
