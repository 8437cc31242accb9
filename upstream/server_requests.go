package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

const answerTimeout = 30 * time.Second // of sending an answer, not of waiting for it

// Limits of the questions of one server that are under way.
const (
	mostOfClient  = 32
	mostQuestions = 256
)

// errTakenBack ends a request that the server cancelled.
var errTakenBack = errors.New("the server took its request back")

// request answers a request of the server.
func (p *peer) request(m *wire.Message, from *exchange) {
	switch m.Method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		p.ask(m, from)
	case "ping":
		p.replySoon(m.ID, json.RawMessage("{}"), nil)
	default:
		if _, err := p.origin(from); err == nil && extension.Method(m.Method) {
			p.ask(m, from)
			return
		}
		p.replySoon(m.ID, nil, noMethod(m))
	}
}

func noMethod(m *wire.Message) error {
	return wire.Errorf(wire.CodeMethodNotFound, "method not found: %.100q", m.Method)
}

// ask passes a question of the server to the client of the call that it
// belongs to.
func (p *peer) ask(m *wire.Message, from *exchange) {
	x, unclear := p.origin(from)
	if from == nil && p.oneClient != nil && !extension.Method(m.Method) {
		p.oneClient(isUnclear(unclear))
		if isUnclear(unclear) {
			unclear = errOnce
		}
	}
	var answered chan<- struct{}
	if m.Method == "roots/list" { // recorded at once: the next call may follow soon
		answered = p.rootsAsked(x == nil)
	}
	var whose toolpost.Owner // empty if it belongs to no client
	if x != nil && x.owner != nil {
		whose = *x.owner
	}
	if !p.admit(whose) {
		p.replySoon(m.ID, nil, fmt.Errorf("more than %d questions to one client at once; ask again later", mostOfClient))
		return
	}
	ctx, end, err := p.served.Begin(p.ctx, m.ID)
	if err != nil {
		p.release(whose)
		p.replySoon(m.ID, nil, err)
		return
	}
	go func() {
		var result json.RawMessage
		err := unclear
		func() {
			defer recovered(p.log, "answer "+m.Method, func(failure error) { err = failure })
			result, err = p.put(ctx, x, from, unclear, m)
		}()
		p.release(whose)
		takenBack := context.Cause(ctx) == errTakenBack
		end(nil)
		if !takenBack { // a question that the server took back has no answer
			p.reply(m.ID, result, err)
		}
		select {
		case answered <- struct{}{}:
		default:
		}
	}()
}

// admit reports whether a client and the server may have one more question
// under way, and counts it.
func (p *peer) admit(whose toolpost.Owner) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := 0
	for _, n := range p.asking {
		total += n
	}
	if p.asking[whose] >= mostOfClient || total >= mostQuestions {
		return false
	}
	p.asking[whose]++
	return true
}

func (p *peer) release(whose toolpost.Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking[whose]--; p.asking[whose] == 0 {
		delete(p.asking, whose)
	}
}

// put returns the answer to a question: the client's if it is clear which one
// is meant.
func (p *peer) put(ctx context.Context, x, from *exchange, unclear error, m *wire.Message) (json.RawMessage, error) {
	for x != nil {
		result, over, err := x.put(ctx, m)
		if errors.Is(err, toolpost.ErrNoCaller) && extension.Method(m.Method) {
			err = noMethod(m) // the client does not know it
		}
		tried := x
		if over && from == nil { // another call of the same client may be the one that asks
			x, unclear = p.origin(nil)
		}
		if err == nil || ctx.Err() != nil || x == tried {
			return result, err
		}
	}
	switch {
	case m.Method == "roots/list": // servers ask for roots outside of calls too
		return p.knownRoots(), nil
	case errors.Is(unclear, toolpost.ErrNoCaller):
		return nil, fmt.Errorf("%s: %w", m.Method, unclear)
	}
	return nil, fmt.Errorf("%s: %w: %w", m.Method, unclear, toolpost.ErrNoCaller)
}

// put asks the caller of x. It reports whether x is over by then, so that its
// caller takes no more questions.
func (x *exchange) put(ctx context.Context, m *wire.Message) (result json.RawMessage, over bool, err error) {
	x.relay.wait(ctx) // what the server sent before the question arrives before it
	own, cancel := context.WithCancelCause(questionContext{ctx, x.ctx})
	defer cancel(nil)
	defer context.AfterFunc(x.ctx, func() { cancel(context.Cause(x.ctx)) })()
	result, err = question(own, x.caller, m.Method, m.Params)
	return result, x.ctx.Err() != nil || x.answered.Load(), err
}

// A questionContext ends with the question, and has the values of the call too. It
// is derived from the question, not from the call, because both end when the
// server is lost, and the question then ends first and with the reason.
type questionContext struct {
	context.Context
	call context.Context
}

func (c questionContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.call.Value(key)
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
	if !wire.IsObject(result) || !wire.Valid(result) {
		return nil, fmt.Errorf("%s: the client's answer is %w", method, errNotObject)
	}
	return result, nil
}

// replySoon sends an answer in the background. A server that does not read its
// answers gets only so many.
func (p *peer) replySoon(id, result json.RawMessage, err error) {
	select {
	case p.replying <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-p.replying }()
		p.reply(id, result, err)
	}()
}

func (p *peer) reply(id, result json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, answerTimeout)
	defer cancel()
	message := wire.AppendResult(nil, id, result)
	if err != nil {
		message = wire.AppendError(nil, id, wireError(err))
	}
	if err := p.conn.send(ctx, "", message); err != nil {
		p.log.Debug("cannot deliver an answer", "err", cause(err))
	}
}

// wireError returns the error that a server gets.
func wireError(err error) *wire.Error {
	if protocol, ok := errors.AsType[*toolpost.ProtocolError](err); ok {
		return &wire.Error{Code: protocol.Code, Message: protocol.Message, Data: protocol.Data}
	}
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known
	}
	if errors.Is(err, toolpost.ErrNoCaller) {
		return wire.Errorf(wire.CodeInvalidRequest, "%v", err)
	}
	return wire.Errorf(wire.CodeInternal, "%v", err)
}
