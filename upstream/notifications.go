package upstream

import (
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

// notification delivers a notification of the server.
func (p *peer) notification(m *wire.Message, from *exchange) {
	switch m.Method {
	case "notifications/progress":
		p.progress(m)
	case cancelled:
		p.served.Cancel(wire.Get(m.Params, "requestId"), errTakenBack)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed",
		"notifications/resources/list_changed", "notifications/resources/updated", "notifications/subscriptions/acknowledged":
		p.event(m)
	default:
		p.relay(m, from)
	}
}

// progress passes on a progress notification. Its token is the id of the
// request, which we chose.
func (p *peer) progress(m *wire.Message) {
	number, ok := wire.Number(m.ProgressToken)
	p.mu.Lock()
	x := p.open[number]
	p.mu.Unlock()
	if !ok || x == nil {
		return
	}
	x.limit.extend()
	if x.caller == nil || !x.progress.rises(x.number, wire.Get(m.Params, "progress")) {
		return
	}
	p.pass(x, m.Method, presentableProgress(wire.Delete(m.Params, "progressToken")))
}

// pass passes a notification to the caller of x. It is lost if the caller is too slow.
func (p *peer) pass(x *exchange, method string, params json.RawMessage) {
	x.relay.add(x.notify, delivery{method: method, params: params, room: p.heard.Of(x.client())})
}

// relay passes a notification to the client of the call that it belongs to. One
// of an extension need not belong to a call, and neither need a log message: outside
// of calls, it is for the only client of the connection.
func (p *peer) relay(m *wire.Message, from *exchange) {
	x, err := p.origin(from)
	if from == nil && p.oneClient != nil && m.Method == wire.LogMessage && p.isAwaited(x, err) {
		p.oneClient(false)
	}
	switch {
	case err == nil:
		p.pass(x, m.Method, m.Params)
	case (from == nil || from.owner == nil) && (extension.Notification(m.Method) || m.Method == wire.LogMessage && !errors.Is(err, errUnclear)):
		p.event(m)
	default:
		p.log.Debug("cannot pass on a notification", "method", m.Method, "err", err, "params", excerpt(m.Params, 200))
	}
}

// isAwaited reports whether a client waits for a log message that names no call: it
// asked for messages, or it would get this one if it were known which client is meant.
func (p *peer) isAwaited(x *exchange, err error) bool {
	if err == nil {
		return (&toolpost.Call{Caller: x.caller}).CallerSetLogLevel()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return isUnclear(err) && p.hasCall()
}

// origin returns the call that a message of the server belongs to: the call
// whose stream brought it, otherwise the only one that can be meant.
func (p *peer) origin(from *exchange) (*exchange, error) {
	switch {
	case from == nil:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.find()
	case from.caller == nil:
		return nil, toolpost.ErrNoCaller
	}
	return from, nil
}
