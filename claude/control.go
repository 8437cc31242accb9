package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/internal/wire"
)

// A conn carries requests both ways between this process and the CLI. Each
// request has an id, an answer, and may be cancelled.
type conn struct {
	ctx        context.Context // of the session's work
	process    Transport
	out        *outbox
	log        *slog.Logger
	responders map[string]responder // by the subtype of the CLI's request
	answered   func()               // is told after each answer to the CLI
	introduced bool                 // the first request is answered: who reads knows before who waits

	calls  wire.Calls  // to the CLI
	served wire.Served // of the CLI
}

// A Transport carries the lines of the CLI's input and output: that of [Command.Start], or
// what Options.Start returns, such as a CLI in a container. ReadLine is called by one
// goroutine, and so is WriteLine; Close may be called at any time, more than once.
type Transport interface {
	ReadLine() ([]byte, error)   // without the line end; after the last line io.EOF, or how the CLI died, also if it did in the middle of a line
	WriteLine(line []byte) error // line has no line end
	Close() error                // ends the CLI; reading and writing then fail
}

// A responder takes a request of the CLI. It is called in the order of arrival
// and must not wait; what it returns does, and is called on its own goroutine.
type responder func(ctx context.Context, request json.RawMessage) (finish func() (any, error))

// errUnanswered leaves a request to other hosts of the CLI.
var errUnanswered = errors.New("the request is left unanswered")

// A RequestError reports that the CLI refused a request.
type RequestError struct {
	Request string // its subtype
	Code    string // "unsupported_request" if this CLI does not support it; may be empty
	Message string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("ask the claude CLI for %s: %s", e.Request, e.Message)
}

func newConn(ctx context.Context, p Transport, log *slog.Logger, responders map[string]responder) *conn {
	return &conn{ctx: ctx, process: p, out: newOutbox(p), log: log, responders: responders}
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
	pending, err := c.calls.Begin()
	if err != nil {
		return nil, err
	}
	if err := c.write(requestLine{"control_request", idPrefix + string(pending.ID), request}); err != nil {
		pending.End()
		return nil, err
	}
	return func(ctx context.Context) (json.RawMessage, error) { return c.wait(ctx, pending, subtype) }, nil
}

// idPrefix begins the ids of our requests, so that they are not those of another
// host of the CLI.
const idPrefix = "toolpost_"

// wait takes a request back if ctx ends before the answer.
func (c *conn) wait(ctx context.Context, pending *wire.Pending, subtype string) (json.RawMessage, error) {
	defer pending.End()
	m, err := pending.Wait(ctx)
	refused := (*RequestError)(nil)
	switch {
	case err == nil && m.Result == nil:
		return json.RawMessage("{}"), nil
	case err == nil:
		return m.Result, nil
	case errors.As(err, &refused):
		return nil, &RequestError{subtype, refused.Code, refused.Message}
	case ctx.Err() != nil:
		_ = c.write(map[string]string{"type": "control_cancel_request", "request_id": idPrefix + string(pending.ID)}) // it is not waited for
	}
	return nil, err
}

// hand gives an answer of the CLI to the request that it answers.
func (c *conn) hand(m *control.Response) {
	id, ours := strings.CutPrefix(m.ID, idPrefix)
	if !ours {
		return
	}
	c.introduced = c.introduced || id == "1"
	if m.Subtype == "error" {
		c.calls.Fail([]byte(id), &RequestError{"", m.Code, m.Error})
		return
	}
	c.calls.Answer(&wire.Message{ID: json.RawMessage(id), Result: m.Body})
}

// handle takes the messages of the protocol itself; others are for readers.
func (c *conn) handle(line any) (handled bool) {
	switch m := line.(type) {
	case *control.Request:
		c.serve(m)
	case *control.Response:
		c.hand(m)
	case *control.Cancel:
		c.served.Cancel(wire.Quote(m.ID), context.Canceled)
	case *control.KeepAlive:
	default:
		return false
	}
	return true
}

// serve answers a request of the CLI, on its own goroutine.
func (c *conn) serve(m *control.Request) {
	respond := c.responders[m.Subtype]
	if respond == nil {
		c.log.Warn("refused an unknown request of the claude CLI", "subtype", m.Subtype)
		go c.answer(m.ID, nil, fmt.Errorf("unsupported control request subtype: %s", m.Subtype))
		return
	}
	ctx, end, err := c.served.Begin(c.ctx, wire.Quote(m.ID))
	if err != nil { // another request has its id: the CLI cannot cancel this one
		ctx, end = context.WithCancelCause(c.ctx)
	}
	finish := respond(ctx, m.Body)
	go func() {
		defer end(nil)
		body, err := finish()
		if ctx.Err() == nil && err != errUnanswered { // an answer to what was cancelled is not read
			c.answer(m.ID, body, err)
			c.answered()
		}
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
	if _, bad := json.Marshal(body); err == nil && bad != nil { // the CLI would wait for ever
		err = fmt.Errorf("encode the answer: %w", bad)
	}
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

// withSubtype adds the member subtype to an object.
func withSubtype(subtype string, body any) (json.RawMessage, error) {
	if body == nil {
		body = struct{}{}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if !wire.IsObject(raw) {
		return nil, fmt.Errorf("the body is not an object: %s", raw)
	}
	return wire.Append(raw, `"subtype":`+string(wire.Quote(subtype))), nil
}
