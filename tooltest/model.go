package tooltest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A Turn is the answer of a scripted [Model] to one request.
type Turn struct {
	Text      string       // that the model writes first; none if empty
	Tool      string       // that it calls then; none if empty
	Arguments string       // of the call, JSON
	Parts     []model.Part // what follows: more text and calls, thinking, …; calls without an ID get one

	Stop    model.StopReason // model.StopEnd, …; chosen by the parts if empty
	Refusal string
	Tokens  usage.Tokens

	// Err ends the stream after the deltas of the parts, instead of a response.
	Err error

	// Func, if set, makes the turn from the request.
	Func func(ctx context.Context, r *model.Request) Turn
}

// parts returns all parts of the turn.
func (t *Turn) parts() (all []model.Part) {
	if t.Text != "" {
		all = append(all, model.Text(t.Text))
	}
	if t.Tool != "" {
		all = append(all, model.Part{Type: model.TypeCall, Name: t.Tool, Arguments: []byte(t.Arguments)})
	}
	return append(all, t.Parts...)
}

// A Model is a [model.Model] that answers requests with turns, in order, without
// a provider. A request that a provider would refuse, and a request too many, fail
// the test. It is safe for concurrent use.
type Model struct {
	t      testing.TB
	origin model.Origin

	mu       sync.Mutex
	turns    []Turn
	requests []*model.Request
	calls    int // made so far, to number them
}

var _ model.Model = (*Model)(nil)

// NewModel returns a model that answers with turns. T may be nil, as in an Example; what
// would fail a test then panics.
func NewModel(t testing.TB, turns ...Turn) *Model {
	return &Model{t: t, origin: model.Origin{Provider: "test", API: "test", Model: "script"}, turns: turns}
}

// Origin returns the origin of the parts that the model writes: test/script.
func (m *Model) Origin() model.Origin { return m.origin }

// Check returns the error of [model.Request.Validate].
func (m *Model) Check(r *model.Request) error { return r.Validate() }

// Requests returns the requests so far. Each is as it was when it was sent,
// although the conversation has gone on.
func (m *Model) Requests() []*model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Stream answers with the next turn: texts word by word, then the response.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		turn, err := m.next(r)
		if err != nil {
			yield(nil, err)
			return
		}
		if turn.Func != nil {
			turn = turn.Func(ctx, r)
		}
		response := m.respond(turn)
		for d := range deltas(response) {
			if err := context.Cause(ctx); err != nil {
				yield(nil, &model.Error{Origin: m.origin, Kind: model.KindConnection, Err: err})
				return
			}
			if d.Response != nil && turn.Err != nil {
				yield(nil, turn.Err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// next records a request and returns its turn.
func (m *Model) next(r *model.Request) (Turn, error) {
	if m.t != nil {
		m.t.Helper()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, copyRequest(r))
	if err := m.Check(r); err != nil {
		m.fail("a provider would refuse request %d: %v", len(m.requests), err)
		return Turn{}, &model.Error{Origin: m.origin, Kind: model.KindInvalid, Err: err}
	}
	if len(m.turns) == 0 {
		m.fail("request %d has no turn in the test", len(m.requests))
		return Turn{}, &model.Error{Origin: m.origin, Kind: model.KindInvalid, Text: "the request has no turn in the test"}
	}
	turn := m.turns[0]
	m.turns = m.turns[1:]
	return turn, nil
}

// fail fails the test.
func (m *Model) fail(format string, args ...any) {
	if m.t == nil {
		panic(fmt.Sprintf(format, args...))
	}
	m.t.Helper()
	m.t.Errorf(format, args...)
}

func copyRequest(r *model.Request) *model.Request {
	c := *r
	c.Messages = nil
	for _, message := range r.Messages {
		c.Messages = append(c.Messages, &model.Message{Role: message.Role, Parts: slices.Clone(message.Parts)})
	}
	return &c
}

// respond returns the response that a turn describes.
func (m *Model) respond(turn Turn) *model.Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	message := &model.Message{Role: model.RoleAssistant, Parts: turn.parts()}
	for i := range message.Parts {
		p := &message.Parts[i]
		if p.Origin == nil {
			p.Origin = &m.origin
		}
		if p.Type == model.TypeCall && p.ID == "" {
			m.calls++
			p.ID = fmt.Sprintf("call_%d", m.calls)
		}
	}
	stop := turn.Stop
	switch {
	case stop != "":
	case len(message.Calls()) > 0:
		stop = model.StopCalls
	default:
		stop = model.StopEnd
	}
	return &model.Response{
		ID: fmt.Sprintf("response_%d", len(m.requests)), Model: m.origin.Model,
		Message: message, Stop: stop, Refusal: turn.Refusal, Usage: turn.Tokens,
	}
}

// deltas returns the stream of a response.
func deltas(r *model.Response) iter.Seq[*model.Delta] {
	return func(yield func(*model.Delta) bool) {
		for i, p := range r.Message.Parts {
			text := p.Text
			switch p.Type {
			case model.TypeCall:
				text = string(p.Arguments)
			case model.TypeText, model.TypeThinking:
			default:
				continue
			}
			for piece := range strings.SplitAfterSeq(text, " ") {
				if !yield(&model.Delta{Part: i, Type: p.Type, Name: p.Name, Text: piece}) {
					return
				}
			}
		}
		yield(&model.Delta{Response: r})
	}
}
