package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/wire"
)

// An exchange is one sending of a request and its answer, as raw JSON.
type exchange struct {
	*request
	round   []wire.Member   // what this sending has beside what the request sets
	through bool            // the caller is a modern client, and keeps the rounds itself
	ctx     context.Context // of the call
	log     *slog.Logger
	relay   relay
	number  int64 // the id; later exchanges have greater ones
	after   int   // how many messages without an answer were sent before; guarded by the peer's mutex

	sent      bool // from here on the server may have carried it out
	abandoned bool // its caller left before the server answered; guarded by the peer's mutex
	answered  atomic.Bool
	deaf      atomic.Bool // its caller takes no questions any more
	resumed   bool        // its stream was opened again; used by the goroutine that reads the stream
	leave     func()      // stops reading the stream of x; nil if it has none of its own; guarded by the peer's mutex
}

// A progress is what a client got of one call, which may be sent more than once.
type progress struct {
	mu      sync.Mutex
	sending int64   // the number of the exchange that reports it now
	highest float64 // of all exchanges
	before  float64 // the highest of the exchanges before this one
}

func newProgress() *progress { return &progress{highest: math.Inf(-1), before: math.Inf(-1)} }

// rises reports whether a value of an exchange is above all that were passed on of the
// exchanges before. A call that is repeated begins again, and MCP lets progress never
// go back. Within one exchange, the client gets all values that the server reports.
func (p *progress) rises(number int64, value json.RawMessage) bool {
	at, err := strconv.ParseFloat(string(value), 64)
	if p == nil || err != nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if number != p.sending {
		p.sending, p.before = number, p.highest
	}
	if at <= p.before {
		return false
	}
	p.highest = max(p.highest, at)
	return true
}

// questioner returns the call that a question or a log message on the stream of x
// belongs to. It returns nil if there is no such stream, or if the stream was opened
// again: some servers answer that with a stream for the messages of all calls.
func (x *exchange) questioner() *exchange {
	if x != nil && x.resumed {
		return nil
	}
	return x
}

func (x *exchange) id() json.RawMessage { return strconv.AppendInt(nil, x.number, 10) }

const cancelled = "notifications/cancelled"

// cancellation returns the parameters of the notification that cancels x.
func (x *exchange) cancellation() []byte {
	return wire.Append(nil, `"requestId":`+string(x.id()), `"reason":"the caller does not wait for it any more"`)
}

func (x *exchange) handshake() bool { return x.method == "initialize" || x.method == "server/discover" }

// passesOn reports whether the result of x is passed on as it comes, and not read
// here.
func (x *exchange) passesOn() bool {
	return (&wire.Message{Method: x.method}).Named()
}

// encode returns the request as it is sent: the params as they came, with the
// members spliced in that are sent otherwise. Hop is what we say of ourselves in
// _meta.
func (x *exchange) encode(id json.RawMessage, hop []wire.Member) []byte {
	set := append(make([]wire.Member, 0, len(x.set)+len(x.round)+1), x.set...)
	set = append(append(set, x.round...), wire.Member{Name: "_meta", Value: x.encodeMeta(id, hop)})
	params := wire.SetAll(x.params, set...)
	return wire.AppendRequest(make([]byte, 0, len(params)+len(x.method)+64), id, x.method, params)
}

// encodeMeta returns the caller's _meta, without what belongs to the caller's
// hop, and with what belongs to ours. It is nil if nothing is left.
func (x *exchange) encodeMeta(id json.RawMessage, hop []wire.Member) json.RawMessage {
	var can, level json.RawMessage // of a client without sessions
	own := wire.Edit(x.meta, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == wire.MetaCapabilities && x.through && can == nil:
			can = value
			return value
		case name == wire.MetaLogLevel:
			level = value
		}
		if x.isOfHop(name) || slices.ContainsFunc(hop, func(m wire.Member) bool { return wire.Alike(name, m.Name) }) {
			return nil
		}
		return value
	})
	if !wire.IsObject(own) {
		own = nil
	}
	if hop != nil {
		hop = x.onHop(hop, can, level)
	}
	if x.caller != nil && !x.silent {
		hop = append(hop[:len(hop):len(hop)], wire.Member{Name: "progressToken", Value: id})
	}
	if own = wire.Add(own, hop...); len(bytes.Trim(own, "{} \t\r\n")) == 0 {
		return nil
	}
	return own
}

// isOfHop reports whether a member of the caller's _meta is about the hop to us. Other
// spellings of the log level are found here, because encodeMeta adds our level only after it
// has compared the names.
func (x *exchange) isOfHop(name string) bool {
	switch name {
	case wire.MetaVersion, wire.MetaClientInfo, wire.MetaCapabilities, wire.MetaLogLevel:
		return !x.through
	}
	return wire.Alike(name, "progressToken") || !x.through && wire.Alike(name, wire.MetaLogLevel)
}

// onHop returns the members that describe us to a server without sessions. The
// capabilities of a client of that era, and its log level, are in its own _meta.
func (x *exchange) onHop(hop []wire.Member, can, level json.RawMessage) []wire.Member {
	if x.through {
		if hop = slices.Clip(hop[:len(hop)-1]); can == nil {
			hop = append(hop, wire.Member{Name: wire.MetaCapabilities, Value: json.RawMessage("{}")})
		}
		return hop
	}
	if x.caller == nil {
		return hop
	}
	if level == nil { // such a server logs only what it is asked for
		level = json.RawMessage(`"info"`)
	}
	return append(slices.Clip(hop), wire.Member{Name: wire.MetaLogLevel, Value: level})
}

func (x *exchange) notify(d delivery) {
	defer recoverPanic(x.log, "pass on "+d.method, func(error) {})
	_ = x.caller.Notify(x.ctx, d.method, d.params) // a caller that left does not stop the call
}
