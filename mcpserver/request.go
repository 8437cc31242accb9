package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A request is one call of a client, over any transport.
type request struct {
	*wire.Message
	*peer
	view    *view
	found   shownView // the view that was found when the request was observed, if it had none
	owner   hidden.Owner
	sender  *opener
	session *session // nil if the request stands alone (2026-07-28)
	out     sender
	hold    *hold
	asks    bool // its result asks the client for input

	ctx context.Context         // of a request that a session has accepted
	end context.CancelCauseFunc // forgets it
}

// A sender sends messages to a client. The messages of a request go where its
// response goes.
type sender interface {
	send(ctx context.Context, message []byte) error
}

// errNoStream means that the client accepts no messages before the response.
var errNoStream = errors.New("the client accepts no stream of events")

// Methods that core serves.
const (
	listTools     = "tools/list"
	callTool      = "tools/call"
	listPrompts   = "prompts/list"
	getPrompt     = "prompts/get"
	listResources = "resources/list"
	listTemplates = "resources/templates/list"
	readResource  = "resources/read"
	complete      = "completion/complete"
)

// isServed reports whether core serves a method.
func isServed(method string) bool {
	return topicOf(method) != topic{} || method == callTool || method == getPrompt || method == readResource || method == complete
}

func noMethod(name string) *wire.Error {
	return wire.Errorf(wire.CodeMethodNotFound, "there is no method %.100q", name)
}

// subject returns the name of the tool or prompt, or the URI of the resource,
// that a message is for.
func subject(m *wire.Message) string {
	if m.Method == readResource {
		return m.URI
	}
	return m.Name
}

// restoreURI makes a message name a resource as its server does, where the client got
// another URI because it would have refused the server's.
func restoreURI(m *wire.Message) {
	if own := wire.RestoreURI(m.URI); own != m.URI {
		m.URI = own
		m.Params = wire.Set(m.Params, "uri", wire.Quote(own))
	}
}

var _ toolpost.Caller = (*request)(nil)

// Notify sends a notification of the handler; see [toolpost.Caller]. The client gets
// progress only if it sent a token, and log messages only from its level on.
func (r *request) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if !wire.IsObject(params) {
		params = json.RawMessage("{}")
	}
	params = wire.MendParams(params, method, r.version)
	switch method {
	case "notifications/progress":
		if r.ProgressToken == nil {
			return nil
		}
		params = wire.Set(params, "progressToken", r.ProgressToken)
	case wire.LogMessage:
		if !r.wantsLog(wire.Unquote(wire.Get(params, "level"))) {
			return nil
		}
	case "notifications/elicitation/complete":
		if r.modern() {
			return nil // it is not in this version
		}
	}
	err := r.out.send(ctx, wire.AppendRequest(nil, nil, method, params))
	if errors.Is(err, errNoStream) {
		return nil
	}
	return err
}

const levels = "debug info notice warning error critical alert emergency"

// SetsLogLevel reports whether the client asked for log messages of a level; see
// [toolpost.Call.CallerSetLogLevel].
func (r *request) SetsLogLevel() bool {
	if r.modern() {
		return r.LogLevel != ""
	}
	return r.session.levelSet.Load()
}

// levelIndex orders the log levels (RFC 5424, §6.2.1); -1 for unknown ones.
func levelIndex(level string) int { return slices.Index(strings.Fields(levels), level) }

// wantsLog reports whether the client wants log messages of a level.
func (r *request) wantsLog(level string) bool {
	least := levelIndex(r.LogLevel)
	if !r.modern() {
		least = int(r.session.level.Load())
	}
	return wantsLog(level, least)
}

// wantsLog reports whether a message of a level is at least of the least one.
func wantsLog(level string, least int) bool { return least >= 0 && levelIndex(level) >= least }

// Request sends a request of the handler to the client at once; see [toolpost.Caller].
func (r *request) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := r.require(method, params); err != nil {
		return nil, err
	}
	params = r.answerable(method, params)
	if !wire.IsObject(params) {
		params = json.RawMessage("{}")
	}
	params = wire.MendParams(params, method, r.version)
	sent, err := r.session.calls.Begin()
	if err != nil {
		return nil, err
	}
	defer sent.End()
	switch err := r.out.send(ctx, wire.AppendRequest(nil, sent.ID, method, params)); {
	case err == nil:
	case errors.Is(err, errNoStream):
		return nil, err
	default: // it may have the address of the client, which the server need not know
		return nil, fmt.Errorf("the caller has left: %w", io.ErrClosedPipe)
	}
	answer, err := sent.Wait(ctx)
	switch {
	case err != nil: // the answer is no longer needed
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
		defer cancel()
		_ = r.out.send(ctx, wire.AppendRequest(nil, nil, cancelled, []byte(`{"requestId":`+string(sent.ID)+`}`))) // the client may have left
		return nil, err
	case answer.Err != nil:
		e := wire.ReadError(answer.Err)
		return nil, &toolpost.ProtocolError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	return answer.Result, nil
}
