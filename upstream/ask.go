package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolpost/toolpost"
)

const answerTimeout = 30 * time.Second // of sending an answer, not of waiting for it

// ask passes a server's question to the caller of the call it belongs to.
func (t *tap) ask(m *jsonrpc.Request) {
	x := t.origin(m)
	select {
	case t.asking <- struct{}{}:
	default:
		t.refuse(m)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if x != nil {
		ctx, cancel = context.WithCancel(x.ctx)
	}
	t.mu.Lock()
	t.asked[m.ID] = cancel
	t.mu.Unlock()
	go func() {
		defer func() { <-t.asking }()
		result, err := put(ctx, x, m)
		t.mu.Lock()
		delete(t.asked, m.ID)
		t.mu.Unlock()
		cancelled := ctx.Err() != nil && (x == nil || x.ctx.Err() == nil)
		cancel()
		if !cancelled { // a question that the server took back has no answer
			t.reply(m.ID, result, err)
		}
	}()
}

// refuse answers one question too many. A server that does not even read that
// gets no answer at all.
func (t *tap) refuse(m *jsonrpc.Request) {
	select {
	case t.refusing <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-t.refusing }()
		t.reply(m.ID, nil, fmt.Errorf("more than %d questions at once; ask again later", mostQuestions))
	}()
}

// unask ends a question that the server took back.
func (t *tap) unask(raw json.RawMessage) {
	params, _ := parseObject(raw)
	id, ok := parseID(params.get("requestId"))
	t.mu.Lock()
	cancel := t.asked[id]
	t.mu.Unlock()
	if ok && cancel != nil {
		cancel()
	}
}

func put(ctx context.Context, x *exchange, m *jsonrpc.Request) (json.RawMessage, error) {
	switch {
	case x != nil:
		x.relay.wait(ctx) // what was told before the question arrives before it
		return question(ctx, x.caller, m.Method, m.Params)
	case m.Method == "roots/list": // asked outside of calls too
		return json.RawMessage(`{"roots":[]}`), nil
	}
	return nil, fmt.Errorf("%s: it is not clear which of the calls under way this belongs to: %w", m.Method, toolpost.ErrNoCaller)
}

// question asks the caller and wants an object.
func question(ctx context.Context, caller toolpost.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	if caller == nil {
		return nil, fmt.Errorf("%s: %w", method, toolpost.ErrNoCaller)
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	result, err := caller.Request(ctx, method, params)
	if err != nil {
		return nil, err
	}
	if _, err := parseObject(result); err != nil {
		return nil, fmt.Errorf("%s: the caller's answer is %w", method, err)
	}
	return result, nil
}

func (t *tap) reply(id jsonrpc.ID, result json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	resp := &jsonrpc.Response{ID: id, Result: result}
	if err != nil {
		resp.Error = rpcErrorOf(err)
	}
	if err := t.Connection.Write(ctx, resp); err != nil {
		t.log.Debug("answer not delivered", "err", cause(err))
	}
}

func rpcErrorOf(err error) *jsonrpc.Error {
	var p *toolpost.ProtocolError
	switch {
	case errors.As(err, &p):
		return &jsonrpc.Error{Code: p.Code, Message: p.Message, Data: p.Data}
	case errors.Is(err, toolpost.ErrNoCaller):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}
