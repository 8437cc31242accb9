package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tap stands between the SDK and a connection. Exchanges pass it as the
// bytes they are; the SDK sees only that something was asked and answered.
// What a server sends during a call goes to the call's caller.
type tap struct {
	mcp.Connection
	log   *slog.Logger
	event func(method string, params json.RawMessage) // lists and resources that changed
	ready atomic.Bool                                 // the handshake is done

	asking, refusing chan struct{} // hold one value for every question under way

	mu    sync.Mutex
	open  map[jsonrpc.ID]*exchange
	asked map[jsonrpc.ID]context.CancelFunc
}

const mostQuestions = 32

func newTap(c mcp.Connection, log *slog.Logger, event func(string, json.RawMessage)) *tap {
	return &tap{
		Connection: c, log: log, event: event,
		asking: make(chan struct{}, mostQuestions), refusing: make(chan struct{}, mostQuestions),
		open:  map[jsonrpc.ID]*exchange{},
		asked: map[jsonrpc.ID]context.CancelFunc{},
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
	t.open[req.ID] = x
	t.mu.Unlock()
	x.begin(req.ID)
	return t.Connection.Write(ctx, &jsonrpc.Request{ID: req.ID, Method: x.method, Params: params, Extra: x})
}

func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
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
	delete(t.open, m.ID)
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

// forget ends an exchange that was not answered.
func (t *tap) forget(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[x.id] == x {
		delete(t.open, x.id)
	}
}

// takes says whether m is ours; the SDK gets the others.
func (t *tap) takes(m *jsonrpc.Request) bool {
	switch m.Method {
	case "notifications/progress":
		t.progress(m.Params)
	case "notifications/message":
		if x := t.origin(m); x != nil {
			x.relay.add(x, m.Method, m.Params)
		} else {
			t.log.Debug("log message of no call", "params", excerpt(m.Params, 200))
		}
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

// progress is told under our token, which is the id of the request.
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
	x.relay.add(x, "notifications/progress", without.encode())
}

func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// origin returns the exchange that m belongs to: that of the stream it came
// on, else the only one with somebody to tell. Nil if that is not clear.
func (t *tap) origin(m *jsonrpc.Request) *exchange {
	if x, ok := m.Extra.(*exchange); ok {
		if x.caller == nil {
			return nil
		}
		return x
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var only *exchange
	for _, x := range t.open {
		switch {
		case x.caller == nil:
		case only != nil:
			return nil
		default:
			only = x
		}
	}
	return only
}
