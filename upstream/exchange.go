package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolpost/toolpost"
)

// An exchange is one request and its answer, as raw JSON. The tap puts it on
// the wire in place of what the SDK wrote, and takes its answer off.
type exchange struct {
	method   string
	params   object
	bindings []binding
	asker
	through bool            // the caller is a modern client, and keeps the rounds itself
	ctx     context.Context // of the call
	log     *slog.Logger
	relay   relay
	ticket  // guarded by the tap's mutex

	mu       sync.Mutex
	sent     bool              // from here on the server may have carried it out
	response *jsonrpc.Response // nil before it has come
}

// An asker is the client that a request is made for.
type asker struct {
	caller toolpost.Caller // nil if nobody listens
	owner  *owner          // nil for requests of our own
	silent bool            // the client wants no progress
}

// A ticket is what the tap knows of an exchange.
type ticket struct {
	id        jsonrpc.ID
	number    int  // later exchanges have greater ones
	abandoned bool // its caller left before the server answered
}

type exchangeKey struct{}

// reserved begins the names in _meta that belong to one hop.
const reserved = "io.modelcontextprotocol/"

// Members of _meta (MCP 2026-07-28) by which a client says what it wants.
const (
	metaCapabilities = reserved + "clientCapabilities"
	metaLogLevel     = reserved + "logLevel"
)

// wire returns the params to send: ours, with the SDK's _meta in ours.
func (x *exchange) wire(id jsonrpc.ID, sdk json.RawMessage) (json.RawMessage, error) {
	params, err := parseObject(sdk)
	if err != nil {
		return nil, fmt.Errorf("read the SDK's params: %w", err)
	}
	own, _ := parseObject(x.params.get("_meta"))
	added, _ := parseObject(params.get("_meta"))
	meta := x.meta(own, added)
	if x.caller != nil && !x.silent {
		token, _ := json.Marshal(id.Raw())
		meta = meta.set("progressToken", token)
	}
	if len(meta) == 0 {
		return x.params.without(func(name string) bool { return name == "_meta" }).encode(), nil
	}
	return x.params.set("_meta", meta.encode()).encode(), nil
}

// meta joins the caller's _meta with what the SDK added.
func (x *exchange) meta(own, added object) object {
	meta := own.without(func(name string) bool {
		return name == "progressToken" || !x.through && strings.HasPrefix(name, reserved)
	})
	for _, m := range added {
		meta = meta.set(m.name, m.value)
	}
	switch level := own.get(metaLogLevel); {
	case x.through:
		can := own.get(metaCapabilities)
		if can == nil {
			can = json.RawMessage("{}")
		}
		return meta.set(metaCapabilities, can)
	case x.caller == nil || len(added) == 0:
	case level != nil:
		return meta.set(metaLogLevel, level)
	default: // a modern server logs only what it is asked for
		return meta.set(metaLogLevel, json.RawMessage(`"info"`))
	}
	return meta
}

// begin is called when the request is about to be written. The caller holds
// the tap's mutex.
func (x *exchange) begin(id jsonrpc.ID, number int) {
	x.id, x.number = id, number
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
}

// answer takes the server's answer.
func (x *exchange) answer(m *jsonrpc.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.response = m
}

// outcome returns the answer; if there is none, the error that reason gives.
func (x *exchange) outcome(reason func() error) (json.RawMessage, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.response
	if m == nil {
		return nil, reason()
	}
	var e *jsonrpc.Error
	switch {
	case errors.As(m.Error, &e):
		return nil, protocolError(e)
	case m.Error != nil:
		return nil, m.Error
	case len(m.Result) == 0 || m.Result[0] != '{':
		return nil, &contentError{"a result that is not an object", excerpt(m.Result, 100)}
	}
	return m.Result, nil
}

// executed reports whether the server may have carried out the request.
func (x *exchange) executed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sent
}

// A relay hands the notifications of one call to its caller, in order and
// without holding up the connection.
type relay struct {
	mu    sync.Mutex
	queue []notification
	idle  chan struct{} // nil, or closed when the queue is empty
}

type notification struct {
	method string
	params json.RawMessage
}

const longestQueue = 1000 // notifications; more are dropped, the caller is too slow

func (r *relay) add(x *exchange, method string, params json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) >= longestQueue {
		return
	}
	r.queue = append(r.queue, notification{method, params})
	if r.idle == nil {
		r.idle = make(chan struct{})
		go r.run(x)
	}
}

func (r *relay) run(x *exchange) {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			close(r.idle)
			r.idle = nil
			r.mu.Unlock()
			return
		}
		next := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		x.notify(next)
	}
}

func (x *exchange) notify(n notification) {
	defer recovered(x.log, "pass on "+n.method, func(error) {})
	_ = x.caller.Notify(x.ctx, n.method, n.params) // a caller that left does not stop the call
}

// wait returns when all that was added is handed over, or ctx is done.
func (r *relay) wait(ctx context.Context) {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
