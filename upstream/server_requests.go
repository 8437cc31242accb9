package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// answerTimeout is how long an answer may be on its way. Those that wait for their
// turn count too.
const answerTimeout = 30 * time.Second

const (
	maxRequestID = 1 << 10 // bytes
	maxQuestion  = 4 << 20 // bytes of its params; sampling may carry a picture
)

func errTooManyQuestions() error {
	return fmt.Errorf("more than %d questions to one client at once, or %d bytes of them; ask again later", maxClientQuestions, maxClientQuestionBytes)
}

// errTakenBack ends a request that the server cancelled.
var errTakenBack = errors.New("the server took its request back")

// request answers a request of the server.
func (p *peer) request(m *wire.Message, from *exchange) {
	if len(m.ID) > maxRequestID {
		p.log.Debug("a request of the server has an id that is too long", "method", excerpt([]byte(m.Method), 100), "bytes", len(m.ID))
		return
	}
	switch m.Method {
	case "elicitation/create", "sampling/createMessage", "roots/list":
		p.ask(m, from)
	case "ping":
		p.reply(m.ID, json.RawMessage("{}"), nil, nil)
	default:
		if _, err := p.origin(from); err == nil && extension.Method(m.Method) {
			p.ask(m, from)
			return
		}
		p.reply(m.ID, nil, noMethod(m), nil)
	}
}

func noMethod(m *wire.Message) error {
	return wire.Errorf(wire.CodeMethodNotFound, "method not found: %.100q", m.Method)
}

// ask passes a question of the server to the client of the call that it
// belongs to. The question counts until its answer is delivered: a server that
// does not read the answers gets no more questions.
func (p *peer) ask(m *wire.Message, from *exchange) {
	x, unclear := p.origin(from)
	if from == nil && p.oneClient != nil && !extension.Method(m.Method) {
		unclear = p.noteQuestion(m, unclear)
	}
	answered := func() {}
	if m.Method == "roots/list" { // recorded at once: the next call may follow soon
		answered = p.noteRootsAsked()
	}
	var whose hidden.Owner // empty if it belongs to no client
	if x != nil {
		whose = x.client()
	}
	share, size := p.questions.Of(whose), len(m.Params)
	switch {
	case size > maxQuestion:
		p.reply(m.ID, nil, wire.Errorf(wire.CodeInvalidParams, "%s: the params have %d bytes, at most %d are passed on", m.Method, size, maxQuestion), nil)
		return
	case !share.Take(size):
		p.reply(m.ID, nil, errTooManyQuestions(), nil)
		return
	}
	ctx, end, err := p.served.Begin(p.ctx, m.ID)
	if err != nil {
		share.Give(size)
		p.reply(m.ID, nil, err, nil)
		return
	}
	// Without the message that it came in, which may be much larger.
	q := &wire.Message{ID: bytes.Clone(m.ID), Method: m.Method, Params: bytes.Clone(m.Params)}
	go func() {
		var result json.RawMessage
		err := unclear
		func() {
			defer recoverPanic(p.log, "answer "+q.Method, func(failure error) { err = failure })
			result, err = p.put(ctx, x, from, unclear, q)
		}()
		takenBack := context.Cause(ctx) == errTakenBack
		end(nil)
		if takenBack { // such a question has no answer
			share.Give(size)
			answered()
			return
		}
		if !share.Grow(len(result)) {
			result, err = nil, fmt.Errorf("%s: the client's answer has %d bytes, which is too much now; ask again later", q.Method, len(result))
		}
		p.reply(q.ID, result, err, func() {
			share.Give(size + len(result))
			answered()
		})
	}()
}

// noteQuestion reports that the server asks one client, and returns the error of a
// question that may be for several.
func (p *peer) noteQuestion(m *wire.Message, unclear error) error {
	refused := isUnclear(unclear) && (m.Method != "roots/list" || p.hasRoots())
	p.oneClient(refused)
	if refused {
		return errOnce
	}
	return unclear
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
		if err == nil && m.Method == "roots/list" {
			p.noteRoots(result)
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
	if errors.Is(err, io.ErrClosedPipe) {
		x.deaf.Store(true)
	}
	return result, x.ctx.Err() != nil || x.answered.Load() || x.deaf.Load(), err
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
	return bytes.Clone(result), nil // the message that it came in may be much larger
}

// reply sends an answer in the background. Done, which may be nil, is called when it
// was delivered, or given up. A server that lets more answers wait than maxAnswers
// does not read them: only its end ends its requests.
func (p *peer) reply(id, result json.RawMessage, err error, done func()) {
	message := wire.AppendResult(nil, id, result)
	if err != nil {
		message = wire.AppendError(nil, id, wireError(err))
	}
	if p.answers.add(p.answer, delivery{params: message, until: time.Now().Add(answerTimeout), done: done}) {
		return
	}
	p.fail(errNotRead)
	if done != nil {
		done()
	}
}

var errNotRead = fmt.Errorf("it sent more than %d requests without reading the answers", maxAnswers)

// answer delivers an answer.
func (p *peer) answer(d delivery) { p.send(d, d.params) }

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
