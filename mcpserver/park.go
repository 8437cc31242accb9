package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/inflight"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Since 2026-07-28 a server sends no requests. A handler that asks its client
// something is parked: the response says what is asked, and the client calls
// again with the answers and the state that finds the handler.
//
//	tools/call ──▶ handler … asks ──▶ {"resultType":"input_required", inputRequests, requestState}
//	tools/call + inputResponses + requestState ──▶ … handler goes on ──▶ result
const (
	parkTime    = 10 * time.Minute
	maxParked   = 250      // calls of one client
	parkedBytes = 64 << 20 // of their requests
	inputKey    = "input"
)

var (
	errNobodyAnswered = errors.New("the client did not answer in time")
	errTooManyParked  = errors.New("too many calls wait for answers of their clients; answer or cancel some of them")
)

// parkedCalls holds the calls that wait for answers of their clients.
type parkedCalls struct {
	prefix  string            // of our states; others are those of handlers, or of servers behind them
	owed    *inflight.Counter // counts the calls until they end
	held    *holders          // by calls that were parked, until they end
	mu      sync.Mutex
	byState map[string]*parkedCall // by state
}

func newParkedCalls(owed *inflight.Counter, o *Options) *parkedCalls {
	each := budget.Limit{Number: maxParked, Bytes: max(parkedBytes, 2*int(o.Limits.Body))}
	return &parkedCalls{prefix: "toolpost:" + rand.Text() + ":", owed: owed, held: newHolders(each), byState: map[string]*parkedCall{}}
}

// resumes reports whether a call goes on with one that is parked.
func (l *parkedCalls) resumes(m *wire.Message) bool {
	if m.RequestState == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byState[wire.Unquote(m.RequestState)] != nil
}

// A parkedCall is one call that may be parked, from the request that started it
// to the one that gets its result.
type parkedCall struct {
	method, name string
	owner        hidden.Owner
	arguments    json.RawMessage
	holder       quotaHolder
	size         int   // of the request, which is kept as long as the call
	held         *hold // since the call was parked first; guarded by parkedCalls.mu
	cancel       context.CancelCauseFunc
	asks         chan *ask
	done         chan outcome[payload]
	now          atomic.Pointer[request] // that waits for the call; nil while parked

	seen  *observe.Request // the first one; nil if nothing observes it
	asked *ask             // while parked
	timer *time.Timer
}

type outcome[T any] struct {
	value T
	err   error
}

// An ask is one request to the client.
type ask struct {
	method string
	params json.RawMessage
	answer chan outcome[json.RawMessage]
}

// serve starts a call, or goes on with the one that the client answers.
func (l *parkedCalls) serve(ctx context.Context, r *request, call func(context.Context, toolpost.Caller) (payload, error)) (payload, error) {
	if state := wire.Unquote(r.RequestState); strings.HasPrefix(state, l.prefix) {
		return l.resume(ctx, r, state)
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &parkedCall{method: r.Method, name: subject(r.Message), owner: r.owner, arguments: r.Arguments, holder: r.sender.quotaHolder(), size: max(r.hold.size(), len(r.Params)), cancel: cancel, asks: make(chan *ask), done: make(chan outcome[payload], 1)}
	f.now.Store(r)
	f.seen = observe.From(ctx)
	l.owed.Add(1)
	go func() {
		defer l.owed.Add(-1)
		result, err := call(own, f)
		result, err = l.holdOf(f).keep(result, err)
		f.done <- outcome[payload]{result, err}
		cancel(nil)
	}()
	return l.wait(ctx, r, f)
}

func (l *parkedCalls) resume(ctx context.Context, r *request, state string) (payload, error) {
	f, same := l.take(state, r)
	if !same {
		return nil, wire.Errorf(wire.CodeInvalidParams, "the arguments are not those of the call that asked; send the same arguments with the answer, or make a new call without requestState")
	}
	if f == nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "the requestState is unknown, expired or was used before; make the call again without it")
	}
	answer := wire.Get(r.InputResponses, inputKey)
	if answer == nil { // ask again
		return l.park(f, f.asked) // it has its room until it ends
	}
	f.now.Store(r) // before the handler goes on
	f.asked.answer <- outcome[json.RawMessage]{value: answer}
	return l.wait(ctx, r, f)
}

// wait waits for the call's result, or for what it asks.
func (l *parkedCalls) wait(ctx context.Context, r *request, f *parkedCall) (payload, error) {
	defer f.now.CompareAndSwap(r, nil)
	defer context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })()
	for {
		select {
		case o := <-f.done:
			l.holdOf(f).release()
			observe.From(ctx).Adopt(f.seen)
			return o.value, o.err
		case a := <-f.asks:
			raw, err := l.park(f, a)
			if err == nil {
				observe.From(ctx).Note(observe.InputRequired)
				return raw, nil
			}
			a.answer <- outcome[json.RawMessage]{err: err}
		}
	}
}

// park returns the response that asks, and keeps the call under a new state.
func (l *parkedCalls) park(f *parkedCall, a *ask) (payload, error) {
	state := l.prefix + rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.makeRoom(f) {
		return nil, errTooManyParked
	}
	l.byState[state] = f
	f.asked = a
	f.timer = time.AfterFunc(parkTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(state, errNobodyAnswered)
	})
	return inMemory(`{"resultType":"input_required","inputRequests":{"` + inputKey + `":{"method":` + string(wire.Quote(a.method)) +
		`,"params":` + string(a.params) + `}},"requestState":` + string(wire.Quote(state)) + `}`), nil
}

// makeRoom reports whether f can be parked. Calls that have ended meanwhile,
// whose results no client has fetched, give way. The lock is held.
func (l *parkedCalls) makeRoom(f *parkedCall) bool {
	if f.held == nil {
		f.held = newHold(l.held, f.holder, f.size)
	}
	if f.held != nil {
		return true
	}
	own, limit := l.held.Of(f.holder).Held(), l.held.Limit()
	full := own.Number >= limit.Number || own.Bytes+f.size > limit.Bytes // otherwise the limit of all callers is reached
	for state, other := range l.byState {
		if len(other.done) > 0 && (other.holder == f.holder || !full) {
			l.drop(state, errNobodyAnswered)
		}
	}
	f.held = newHold(l.held, f.holder, f.size)
	return f.held != nil
}

// holdOf returns what a call holds since it was parked first.
func (l *parkedCalls) holdOf(f *parkedCall) *hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.held
}

// drop ends a parked call. The lock is held.
func (l *parkedCalls) drop(state string, cause error) {
	if f := l.byState[state]; f != nil {
		delete(l.byState, state)
		f.timer.Stop()
		f.leave(cause)
	}
}

// leave ends a call whose client has left. The lock is held.
func (f *parkedCall) leave(cause error) {
	f.cancel(cause)
	end := func(o outcome[payload]) {
		o.value.close()
		f.held.release()
	}
	select {
	case o := <-f.done:
		end(o)
	default:
		go func() { end(<-f.done) }()
	}
}

// take gets the parked call back, nil if there is none. A state is good once, for the
// same call of the same caller. With other arguments, same is false and the call stays
// parked: the handler would go on with those that the client no longer means.
func (l *parkedCalls) take(state string, r *request) (f *parkedCall, same bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f = l.byState[state]
	if f == nil || f.method != r.Method || f.name != subject(r.Message) || f.owner != r.owner {
		return nil, true
	}
	if !sameArguments(f.arguments, r.Arguments) {
		return nil, false
	}
	delete(l.byState, state)
	f.timer.Stop()
	return f, true
}

// sameArguments reports whether two calls have the same arguments. The client may have
// written them again, with other white space and order.
func sameArguments(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical returns arguments without white space and with members in order; none are
// the empty object. Invalid JSON stays as it is.
func canonical(arguments json.RawMessage) jsontext.Value {
	v := jsontext.Value(bytes.Clone(arguments))
	if len(bytes.TrimSpace(v)) == 0 {
		return jsontext.Value("{}")
	}
	_ = v.Format(jsontext.ReorderRawObjects(true)) // it stays as it is
	return v
}

// close ends the parked calls.
func (l *parkedCalls) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for state := range l.byState {
		l.drop(state, errClosed)
	}
}

var _ toolpost.Caller = (*parkedCall)(nil)

// Notify implements [toolpost.Caller]. While the call is parked, notifications
// are dropped.
func (f *parkedCall) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if r := f.now.Load(); r != nil {
		return r.Notify(ctx, method, params)
	}
	return nil
}

// Supports reports whether the client declared a capability. While the call is parked,
// it has none.
func (f *parkedCall) Supports(capability string) bool {
	r := f.now.Load()
	return r != nil && r.Supports(capability)
}

// Introduction returns what the client said about itself. While the call is parked, it
// is not known.
func (f *parkedCall) Introduction() *hidden.Introduction {
	if r := f.now.Load(); r != nil {
		return r.Introduction()
	}
	return nil
}

// SetsLogLevel reports whether the client asked for log messages with the call.
func (f *parkedCall) SetsLogLevel() bool {
	r := f.now.Load()
	return r != nil && r.SetsLogLevel()
}

// Request implements [toolpost.Caller].
func (f *parkedCall) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if r := f.now.Load(); r != nil {
		if err := r.require(method, params); err != nil {
			return nil, err
		}
		params = r.answerable(method, params)
	}
	if !wire.IsObject(params) {
		params = json.RawMessage("{}")
	}
	params = wire.MendParams(params, method, wire.Stateless)
	a := &ask{method, params, make(chan outcome[json.RawMessage], 1)}
	select {
	case f.asks <- a:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case o := <-a.answer:
		return o.value, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
