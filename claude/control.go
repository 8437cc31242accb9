package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"github.com/toolpost/toolpost/claude/message"
)

// A conn carries requests both ways between this process and the CLI. Each
// request has an id, an answer, and may be cancelled.
type conn struct {
	ctx        context.Context // of the session's work
	process    process
	out        *outbox
	log        *slog.Logger
	responders map[string]responder // by the subtype of the CLI's request
	answered   func()               // is told after each answer to the CLI
	introduced bool                 // the first request is answered: who reads knows before who waits

	mu      sync.Mutex
	sent    int
	waiting map[string]chan *message.ControlResponse
	serving map[string]context.CancelFunc // requests of the CLI, by id
	ended   error                         // why nothing comes any more
}

// A process is the CLI: a [cli.Process].
type process interface {
	ReadLine() ([]byte, error)
	WriteLine(line []byte) error
	CloseInput() error
	Close() error
}

// A responder takes a request of the CLI. It is called in the order of arrival
// and must not wait; what it returns does, and is called on its own goroutine.
type responder func(ctx context.Context, request json.RawMessage) (finish func() (any, error))

// errUnanswered has a request left to others of the CLI's hosts.
var errUnanswered = errors.New("the request is left unanswered")

// leave is a responder that does.
func leave(context.Context, json.RawMessage) func() (any, error) {
	return func() (any, error) { return nil, errUnanswered }
}

// A RequestError reports that the CLI refused a request.
type RequestError struct {
	Request string // its subtype
	Code    string // "unsupported_request" if this CLI does not support it; may be empty
	Message string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("ask the claude CLI for %s: %s", e.Request, e.Message)
}

func newConn(ctx context.Context, p process, log *slog.Logger, responders map[string]responder) *conn {
	return &conn{
		ctx: ctx, process: p, out: newOutbox(p), log: log, responders: responders,
		waiting: map[string]chan *message.ControlResponse{}, serving: map[string]context.CancelFunc{},
	}
}

type requestLine struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
}

// post sends a request and returns what waits for the answer. Body is an object
// or nil; its subtype is added.
func (c *conn) post(subtype string, body any) (wait func(context.Context) (json.RawMessage, error), err error) {
	request, err := withSubtype(subtype, body)
	if err != nil {
		return nil, fmt.Errorf("encode the request %s: %w", subtype, err)
	}
	answer := make(chan *message.ControlResponse, 1)
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return nil, c.ended
	}
	c.sent++
	id := requestID(c.sent)
	c.waiting[id] = answer
	c.mu.Unlock()

	line, err := json.Marshal(requestLine{"control_request", id, request})
	if err == nil {
		err = c.out.put(line)
	}
	if err != nil {
		c.forget(id)
		return nil, err
	}
	return func(ctx context.Context) (json.RawMessage, error) { return c.wait(ctx, id, subtype, answer) }, nil
}

func requestID(n int) string { return "toolpost_" + strconv.Itoa(n) }

// wait takes a request back if ctx ends before the answer.
func (c *conn) wait(ctx context.Context, id, subtype string, answer <-chan *message.ControlResponse) (json.RawMessage, error) {
	select {
	case a, ok := <-answer:
		switch {
		case !ok:
			return nil, c.why()
		case a.Response.Subtype == "error":
			return nil, &RequestError{subtype, a.Response.ErrorCode, a.Response.Error}
		case a.Response.Response == nil:
			return json.RawMessage("{}"), nil
		}
		return a.Response.Response, nil
	case <-ctx.Done():
		if c.forget(id) {
			_ = c.write(map[string]string{"type": "control_cancel_request", "request_id": id}) // it is not waited for
		}
		return nil, context.Cause(ctx)
	}
}

func (c *conn) forget(id string) (waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waited = c.waiting[id]
	delete(c.waiting, id)
	return waited
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// handle takes the messages of the protocol itself; others are for readers.
func (c *conn) handle(m message.Message) (handled bool) {
	switch m := m.(type) {
	case *message.ControlRequest:
		c.serve(m)
	case *message.ControlResponse:
		c.introduced = c.introduced || m.Response.RequestID == requestID(1)
		c.mu.Lock()
		answer := c.waiting[m.Response.RequestID]
		delete(c.waiting, m.Response.RequestID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	case *message.ControlCancel:
		c.mu.Lock()
		cancel := c.serving[m.RequestID]
		c.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case *message.KeepAlive:
	default:
		return false
	}
	return true
}

// serve answers a request of the CLI, on its own goroutine.
func (c *conn) serve(m *message.ControlRequest) {
	respond := c.responders[m.Kind]
	if respond == nil {
		c.log.Warn("refused an unknown request of the claude CLI", "subtype", m.Kind)
		go c.answer(m.RequestID, nil, fmt.Errorf("unsupported control request subtype: %s", m.Kind))
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.serving[m.RequestID] = cancel
	c.mu.Unlock()
	finish := respond(ctx, m.Request)
	go func() {
		defer cancel()
		body, err := finish()
		if ctx.Err() == nil && err != errUnanswered { // an answer to what was cancelled is not read
			c.answer(m.RequestID, body, err)
			c.answered()
		}
		c.mu.Lock()
		delete(c.serving, m.RequestID)
		c.mu.Unlock()
	}()
}

// refuse answers a request that cannot be read.
func (c *conn) refuse(bad *message.ParseError) {
	var q requestLine
	if json.Unmarshal(bad.Line, &q) == nil && q.Type == "control_request" && q.RequestID != "" {
		c.answer(q.RequestID, nil, bad)
	}
}

type responseLine struct {
	Type     string       `json:"type"`
	Response responseBody `json:"response"`
}

type responseBody struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Response  any    `json:"response,omitempty"`
	Error     string `json:"error,omitempty"`
}

func (c *conn) answer(id string, body any, err error) {
	response := responseBody{Subtype: "success", RequestID: id, Response: body}
	if err != nil {
		response = responseBody{Subtype: "error", RequestID: id, Error: err.Error()}
	}
	if err := c.write(responseLine{"control_response", response}); err != nil && c.ctx.Err() == nil {
		c.log.Warn("cannot answer a request of the claude CLI", "request", id, "error", err)
	}
}

func (c *conn) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.out.put(line)
}

// close ends the CLI, with all that it has started.
func (c *conn) close() error {
	c.out.close()
	return c.process.Close()
}

// serves says that a request of the CLI is being answered.
func (c *conn) serves() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.serving) > 0
}

// end fails what still waits.
func (c *conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}

// withSubtype adds the member subtype to an object.
func withSubtype(subtype string, body any) (json.RawMessage, error) {
	name, err := json.Marshal(subtype)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"subtype":`), name...)
	if body == nil {
		return append(head, '}'), nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if len(raw) < 2 || raw[0] != '{' {
		return nil, fmt.Errorf("the body is not an object: %s", raw)
	}
	if string(raw) == "{}" {
		return append(head, '}'), nil
	}
	return append(append(head, ','), raw[1:]...), nil
}
