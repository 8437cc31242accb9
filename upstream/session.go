package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// A session is one connection to the server, from handshake to end.
type session struct {
	client    *mcp.ClientSession
	tap       *tap
	transport Transport
	version   string
	server    string        // name and version
	relist    chan struct{} // holds one value when a list changed
	listens   chan struct{} // closed when a modern server has begun to tell of changes
	listening sync.Once
	updated   func(uri string)

	ending sync.Once
	ended  chan struct{}
	err    error // why it ended, set before ended is closed
}

// rawMethod stands for every method: the tap writes that of the exchange.
const rawMethod = "toolpost/exchange"

type (
	rawParams struct{ mcp.ParamsBase }
	rawResult struct{ mcp.ResultBase }
)

func (s *session) modern() bool { return s.version >= modernVersion }

func (s *session) capabilities() *mcp.ServerCapabilities {
	if c := s.client.InitializeResult().Capabilities; c != nil {
		return c
	}
	return &mcp.ServerCapabilities{}
}

// do carries out one exchange. An error that the server answered is a
// *toolpost.ProtocolError.
func (s *session) do(ctx context.Context, x *exchange) (json.RawMessage, error) {
	x.ctx = ctx
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	_, err := mcp.CallCustomMethod[*rawParams, *rawResult](ctx, s.client, rawMethod, &rawParams{})
	s.tap.forget(x)
	x.relay.wait(ctx)
	return x.outcome(func() error { return reason(ctx, s, err) })
}

// reason returns why an exchange of s has no answer, from what the SDK says.
func reason(ctx context.Context, s *session, err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // what is around it names only rawMethod
	}
	if err == io.EOF || err == mcp.ErrConnectionClosed { // not what only wraps them
		select {
		case <-s.ended:
			return s.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

// ask is do for requests of our own.
func (s *session) ask(ctx context.Context, method string, params object) (json.RawMessage, error) {
	return s.do(ctx, &exchange{method: method, params: params})
}

const mostRounds = 10

// call is do, with the rounds in which a modern server asks for input
// (MCP 2026-07-28, Multi Round-Trip Requests). A caller that is a modern
// client keeps them itself: it gets the questions, and calls again with the
// answers.
func (s *session) call(ctx context.Context, r *request) (result json.RawMessage, executed bool, err error) {
	through := s.modern() && r.modern()
	first := r.params
	if !through { // what came with it belongs to the rounds of the caller's hop
		first = first.without(func(name string) bool { return name == "inputResponses" || name == "requestState" })
	}
	params := first
	for range mostRounds {
		x := &exchange{method: r.method, params: params, bindings: r.bindings, asker: r.asker, through: through}
		result, err = s.do(ctx, x)
		executed = executed || x.executed()
		if err == nil {
			result, err = presentableResult(result)
		}
		if err != nil || !s.modern() || through {
			return result, executed, err
		}
		needed := inputRequired(result)
		if needed == nil {
			return result, executed, nil
		}
		if params, err = fulfil(ctx, r.caller, first, needed); err != nil {
			return nil, executed, err
		}
	}
	return nil, executed, &inputError{fmt.Errorf("it asked for input more than %d times", mostRounds)}
}

// inputRequired returns a result that asks for input, else nil.
func inputRequired(raw json.RawMessage) object {
	if !mayAsk(raw) {
		return nil
	}
	result, _ := parseObject(raw)
	for _, m := range result {
		if m.name == "resultType" && (object{m}).text("resultType") == "input_required" {
			return result
		}
	}
	return nil
}

// mayAsk reports whether a JSON value contains input_required, as it is or with
// escapes.
func mayAsk(raw json.RawMessage) bool {
	for _, part := range []string{"input_required", `\u005`, `\u006`, `\u007`} {
		if bytes.Contains(raw, []byte(part)) {
			return true
		}
	}
	return false
}

// An inputError is a question that the caller could not answer.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// fulfil asks the caller and returns the params of the next round.
func fulfil(ctx context.Context, caller toolpost.Caller, params, needed object) (object, error) {
	questions, _ := parseObject(needed.get("inputRequests"))
	var answers object
	for _, m := range questions {
		q, err := parseObject(m.value)
		if err != nil {
			return nil, &inputError{fmt.Errorf("input request %q is %w", m.name, err)}
		}
		answer, err := question(ctx, caller, q.text("method"), q.get("params"))
		if err != nil {
			return nil, &inputError{err}
		}
		answers = answers.set(m.name, answer)
	}
	if answers != nil {
		params = params.set("inputResponses", answers.encode())
	}
	if state := needed.get("requestState"); state != nil {
		params = params.set("requestState", state)
	}
	return params, nil
}

// end makes the session unusable; the first reason counts.
func (s *session) end(err error) {
	s.ending.Do(func() {
		s.err = err
		close(s.ended)
	})
}

func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *session) close() {
	s.end(errClosed)
	s.tap.Close()
	s.client.Close()
}

// watchEnd notices when the connection ends.
func (s *session) watchEnd() {
	err := s.client.Wait()
	if err == nil {
		err = errors.New("it closed the connection")
	}
	s.end(err)
}

// sleep waits, but not longer than the session or ctx lasts.
func (s *session) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ended:
	case <-ctx.Done():
	}
}

// event takes notifications of lists and resources that changed. When the
// stream of them begins anew, some may have been missed.
func (s *session) event(method string, raw json.RawMessage) {
	switch method {
	case "notifications/resources/updated":
		params, err := parseObject(raw)
		if uri := params.text("uri"); err == nil && s.updated != nil {
			s.updated(uri)
		}
	case "notifications/subscriptions/acknowledged":
		first := false
		if s.listening.Do(func() { first = true; close(s.listens) }); !first {
			s.changed()
		}
	default:
		s.changed()
	}
}

func (s *session) changed() {
	select {
	case s.relist <- struct{}{}:
	default:
	}
}
