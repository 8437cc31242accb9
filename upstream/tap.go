package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// A tap stands between the SDK and a connection. Exchanges pass it as the
// bytes they are; the SDK sees only that something was asked and answered.
// What a server sends during a call goes to the call's caller.
type tap struct {
	mcp.Connection
	log   *slog.Logger
	event func(method string, params json.RawMessage) // lists and resources that changed
	ready atomic.Bool                                 // the handshake is done

	refusing chan struct{} // holds one value for every refusal on its way

	mu    sync.Mutex
	count int // of exchanges begun
	owners
	asked  map[jsonrpc.ID]context.CancelFunc // the questions of the server under way
	asking map[owner]int                     // how many of them each client has
	roots  rootsState
}

func newTap(c mcp.Connection, log *slog.Logger, event func(string, json.RawMessage)) *tap {
	return &tap{
		Connection: c, log: log, event: event,
		refusing: make(chan struct{}, mostOfClient),
		owners:   owners{open: map[jsonrpc.ID]*exchange{}},
		asked:    map[jsonrpc.ID]context.CancelFunc{},
		asking:   map[owner]int{},
		roots:    rootsState{answered: make(chan struct{}, 1)},
	}
}

// Connect returns t: it is its own [mcp.Transport].
func (t *tap) Connect(context.Context) (mcp.Connection, error) { return t, nil }

func (t *tap) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return t.Connection.Write(ctx, msg)
	}
	if !req.IsCall() {
		if !t.ready.Load() && req.Method == "notifications/cancelled" {
			return nil // the probe: a classic server must hear initialize first
		}
		return t.Connection.Write(ctx, msg)
	}
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	if x == nil {
		return t.Connection.Write(ctx, msg)
	}
	params, err := x.wire(req.ID, req.Params)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.count++
	x.log = t.log
	x.begin(req.ID, t.count)
	t.begin(req.ID, x)
	t.mu.Unlock()
	return t.Connection.Write(ctx, &jsonrpc.Request{ID: req.ID, Method: x.method, Params: params, Extra: x})
}

// Read returns the next message that is for the SDK.
func (t *tap) Read(ctx context.Context) (msg jsonrpc.Message, err error) {
	defer recovered(t.log, "read a message", func(failure error) { msg, err = nil, failure })
	for {
		msg, err := t.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		switch m := msg.(type) {
		case *jsonrpc.Response:
			return t.response(m), nil
		case *jsonrpc.Request:
			if !t.takes(m) {
				return m, nil
			}
		}
	}
}

func (t *tap) response(m *jsonrpc.Response) *jsonrpc.Response {
	t.mu.Lock()
	x := t.open[m.ID]
	switch {
	case x == nil:
	case carriesOn(m.Error):
		t.abandon(x)
	default:
		t.answered(m.ID)
	}
	t.mu.Unlock()
	long := (*longResult)(nil)
	if errors.As(m.Error, &long) && (x == nil || x.method != "tools/call" || long.asks) {
		result, err := long.raw()
		long.drop()
		m = &jsonrpc.Response{ID: m.ID, Result: result, Error: err}
	}
	if x == nil {
		return m
	}
	x.answer(m)
	return &jsonrpc.Response{ID: m.ID, Result: json.RawMessage("{}"), Error: m.Error}
}

// carriesOn reports whether the server may still be carrying out a request
// that ended with err: the connection failed, the server did not answer.
func carriesOn(err error) bool {
	var cut *cutError
	return errors.As(err, &cut)
}

// forget ends an exchange. If the server has not answered it, the server may
// still ask for its client.
func (t *tap) forget(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandon(x)
}

// takes handles the messages that are not for the SDK. It reports whether m
// was one of them.
func (t *tap) takes(m *jsonrpc.Request) bool {
	switch m.Method {
	case "notifications/progress":
		t.progress(m.Params)
	case "notifications/message", "notifications/elicitation/complete":
		t.relay(m)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed",
		"notifications/resources/list_changed", "notifications/resources/updated", "notifications/subscriptions/acknowledged":
		t.event(m.Method, m.Params)
	case "elicitation/create", "sampling/createMessage", "roots/list":
		if !m.IsCall() {
			return false
		}
		t.ask(m)
	case "notifications/cancelled":
		t.unask(m.Params)
	default:
		return false
	}
	return true
}

// progress passes on a progress notification. Its token is the id of the
// request, which we chose.
func (t *tap) progress(raw json.RawMessage) {
	params, err := parseObject(raw)
	if err != nil {
		return
	}
	id, ok := parseID(params.get("progressToken"))
	t.mu.Lock()
	x := t.open[id]
	t.mu.Unlock()
	if !ok || x == nil || x.caller == nil {
		return
	}
	without := params.without(func(name string) bool { return name == "progressToken" })
	x.relay.add(x, "notifications/progress", presentableProgress(without).encode())
}

// unquotedID returns the number of an id that is a number in a string. Our ids
// are numbers; some servers return them as strings.
func unquotedID(raw json.RawMessage) (number json.RawMessage, ok bool) {
	if len(raw) < 3 || len(raw) > 20 || raw[0] != '"' {
		return nil, false
	}
	number = raw[1 : len(raw)-1]
	_, err := strconv.ParseInt(string(number), 10, 64)
	return number, err == nil
}

// answerID returns the id of our request that an answer names.
func answerID(raw json.RawMessage) (jsonrpc.ID, bool) {
	if number, ok := unquotedID(raw); ok {
		raw = number
	}
	return parseID(raw)
}

func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// relay passes a notification to the client of the call that it belongs to.
func (t *tap) relay(m *jsonrpc.Request) {
	x, err := t.origin(m)
	if err != nil {
		t.log.Debug("cannot pass on a notification", "method", m.Method, "err", err, "params", excerpt(m.Params, 200))
		return
	}
	x.relay.add(x, m.Method, m.Params)
}

// origin returns the call that a message of the server belongs to: the call
// whose stream brought it, otherwise the only one that can be meant.
func (t *tap) origin(m *jsonrpc.Request) (*exchange, error) {
	if x, ok := m.Extra.(*exchange); ok {
		if x.caller == nil {
			return nil, toolpost.ErrNoCaller
		}
		return x, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find()
}
