package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// A session is one connection to the server, from handshake to end.
type session struct {
	*peer
	hello
	transport Transport
	began     time.Time
	relist    chan struct{}      // holds one value when a list changed
	refresh   chan chan struct{} // holds one value when a client wants the lists of now, which is closed when they are known
	watch     *watch
	secrets   *secret.Values       // hidden in the errors that the server answers
	client    *hidden.Introduction // the only client; nil if there may be several
}

func newSession(d *dialer, t Transport) *session {
	s := &session{transport: t, began: time.Now(), relist: make(chan struct{}, 1), refresh: make(chan chan struct{}, 1), watch: d.watch, secrets: d.secrets}
	s.peer = newPeer(d.log, s.changes, d.budget)
	s.client, s.oneClient, s.roots.asked = d.client, d.oneClient, d.roots
	return s
}

func (s *session) modern() bool { return s.version >= modernVersion }

// ask carries out a request of our own. An error that the server answered is a
// *[toolpost.ProtocolError].
func (s *session) ask(ctx context.Context, method string, params json.RawMessage) (*wire.Message, error) {
	m, err := s.do(ctx, &exchange{request: &request{method: method, params: params}})
	return m, s.fromServer(err)
}

const maxRounds = 10

// call carries out a request of a client, with the rounds in which a modern
// server asks for input (MCP 2026-07-28, Multi Round-Trip Requests). A caller
// that is a modern client keeps them itself: it gets the questions, and calls
// again with the answers.
func (s *session) call(ctx context.Context, r *request) (result *toolpost.Result, executed bool, err error) {
	s.shareRoots(ctx, r)
	through := s.modern() && wire.Unquote(wire.Get(r.meta, wire.MetaVersion)) >= modernVersion
	var round []wire.Member
	if !through && !r.whole { // what came with it belongs to the rounds of the caller's hop
		round = []wire.Member{{Name: "inputResponses"}, {Name: "requestState"}}
	}
	for range maxRounds {
		x := &exchange{request: r, round: round, through: through}
		m, err := s.do(ctx, x)
		executed = executed || x.sent
		if err == nil {
			err = makePresentable(m, r.whole)
		}
		if err != nil {
			result, err = s.resultOf(ctx, r, err)
			return result, executed, err
		}
		if !s.modern() || through || !m.Asks {
			return encodedResult(m), executed, nil
		}
		if round, err = s.fulfil(ctx, r, bytes.Clone(m.Result)); err != nil {
			return nil, executed, &inputError{err}
		}
	}
	return nil, executed, &inputError{fmt.Errorf("it asked for input more than %d times", maxRounds)}
}

// resultOf returns what the caller of r gets for err: a result that is too long for memory,
// or why there is none.
func (s *session) resultOf(ctx context.Context, r *request, err error) (*toolpost.Result, error) {
	if long, ok := errors.AsType[*longResult](err); ok {
		return long.result(ctx, r.keep)
	}
	return nil, s.fromServer(err)
}

// fulfil asks the caller what a result asks for. The result and the answers count as
// one question as long as the caller thinks.
func (s *session) fulfil(ctx context.Context, r *request, result json.RawMessage) ([]wire.Member, error) {
	share, size := s.questions.Of(r.client()), len(result)
	if !share.Take(size) {
		return nil, errTooManyQuestions()
	}
	defer func() { share.Give(size) }()
	return wire.Fulfil(result, func(method string, params json.RawMessage) (json.RawMessage, error) {
		answer, err := question(ctx, r.caller, method, params)
		if err == nil && !share.Grow(len(answer)) {
			return nil, fmt.Errorf("%s: the client's answer has %d bytes, which is too much now", method, len(answer))
		}
		size += len(answer)
		return answer, err
	})
}

// An inputError is a question that the caller could not answer.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

var errNotObject = errors.New("not a JSON object")

// fromServer returns err as the caller gets it: an error that the server
// answered is a *[toolpost.ProtocolError], without the secrets that the server repeats.
// The addresses of login pages stay as they are: the user opens them.
func (s *session) fromServer(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	protocol := protocolError(e)
	protocol.Message = s.secrets.Replace(protocol.Message)
	if e.Code == codeURLRequired {
		return protocol
	}
	if clear, hidden := secret.RedactJSON(protocol.Data, &secret.JSONOptions{Text: s.secrets.Replace, Known: true}); hidden > 0 {
		protocol.Data = clear // otherwise its bytes stay as they are
	}
	return protocol
}

func (s *session) close() {
	if c, overHTTP := s.conn.(*streamable); overHTTP && s.ctx.Err() == nil {
		c.cancelAll()
	}
	s.fail(errClosed)
	s.conn.close()
}

// changes takes notifications that belong to no call. When the stream of changes
// starts again, some may have been missed.
func (s *session) changes(m *wire.Message) {
	if m == nil {
		s.markAllChanged()
		return
	}
	switch m.Method {
	case "notifications/resources/updated":
		if m.URI != "" {
			s.watch.event(toolpost.Event{Resource: m.URI})
		}
	case "notifications/subscriptions/acknowledged":
		s.markChanged()
		s.watch.acknowledged(m)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		s.markChanged()
	default:
		s.watch.event(toolpost.Event{Notification: &toolpost.Call{Name: m.Method, Params: m.Params, Session: s.onlyClient()}})
	}
}

// onlyClient returns the session of the only client that has made calls over this
// connection, "" if there is none or there may be others.
func (s *session) onlyClient() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || s.several || s.last.Shared {
		return ""
	}
	return s.last.Session
}

// markAllChanged takes everything for changed that the server sends changes of.
func (s *session) markAllChanged() {
	if s.watch.wantedNotifications(s) == nil {
		return
	}
	s.markChanged()
	for _, uri := range s.watch.list() {
		s.watch.event(toolpost.Event{Resource: uri})
	}
}

func (s *session) markChanged() {
	select {
	case s.relist <- struct{}{}:
	default:
	}
}
