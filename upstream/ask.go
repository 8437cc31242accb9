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

// Limits of the questions of one server that are under way.
const (
	mostOfClient  = 32
	mostQuestions = 256
)

// ask passes a question of the server to the client of the call that it
// belongs to.
func (t *tap) ask(m *jsonrpc.Request) {
	x, unclear := t.origin(m)
	if x == nil && m.Method == "roots/list" {
		t.wantsRoots()
	}
	var whose owner // nobody, if it belongs to no client
	parent := context.Background()
	if x != nil {
		parent = x.ctx
		if x.owner != nil {
			whose = *x.owner
		}
	}
	ctx, cancel := context.WithCancel(parent)
	if !t.admit(m.ID, whose, cancel) {
		cancel()
		t.refuse(m)
		return
	}
	go func() {
		var result json.RawMessage
		err := unclear
		func() {
			defer recovered(t.log, "answer "+m.Method, func(failure error) { err = failure })
			result, err = t.put(ctx, x, unclear, m)
		}()
		t.release(m.ID, whose)
		cancelled := ctx.Err() != nil && parent.Err() == nil
		cancel()
		if !cancelled { // a question that the server took back has no answer
			t.reply(m.ID, result, err)
		}
		if m.Method == "roots/list" {
			t.rootsAnswered()
		}
	}()
}

// admit reports whether a client and the server may have one more question
// under way, and counts it.
func (t *tap) admit(id jsonrpc.ID, whose owner, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking[whose] >= mostOfClient || len(t.asked) >= mostQuestions || t.asked[id] != nil {
		return false
	}
	t.asking[whose]++
	t.asked[id] = cancel
	return true
}

func (t *tap) release(id jsonrpc.ID, whose owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.asked, id)
	if t.asking[whose]--; t.asking[whose] == 0 {
		delete(t.asking, whose)
	}
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
		t.reply(m.ID, nil, fmt.Errorf("more than %d questions to one client at once; ask again later", mostOfClient))
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

// put returns the answer to a question: the client's if it is clear which one
// is meant.
func (t *tap) put(ctx context.Context, x *exchange, unclear error, m *jsonrpc.Request) (json.RawMessage, error) {
	switch {
	case x != nil:
		x.relay.wait(ctx) // what the server sent before the question arrives before it
		return question(ctx, x.caller, m.Method, m.Params)
	case m.Method == "roots/list": // servers ask for roots outside of calls too
		return t.knownRoots(), nil
	case errors.Is(unclear, toolpost.ErrNoCaller):
		return nil, fmt.Errorf("%s: %w", m.Method, unclear)
	}
	return nil, fmt.Errorf("%s: %w: %w", m.Method, unclear, toolpost.ErrNoCaller)
}

// question asks the caller. The answer must be an object.
func question(ctx context.Context, caller toolpost.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	if caller == nil {
		return nil, fmt.Errorf("%s: %w", method, toolpost.ErrNoCaller)
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	params, err := presentable(method, params)
	if err != nil {
		return nil, err
	}
	result, err := caller.Request(ctx, method, params)
	if err != nil {
		return nil, err
	}
	if _, err := parseObject(result); err != nil {
		return nil, fmt.Errorf("%s: the client's answer is %w", method, err)
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
		t.log.Debug("cannot deliver an answer", "err", cause(err))
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
