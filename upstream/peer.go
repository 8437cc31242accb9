package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/wire"
)

// A connection carries messages to one server. It passes messages
// of the server to its peer.
type connection interface {
	// call sends the request of x. Where the answer is the response to it, call
	// returns after that: otherwise when the request is written.
	call(ctx context.Context, x *exchange, message []byte) error

	// send sends a notification, or the answer to a request of the server, for
	// which method is empty.
	send(ctx context.Context, method string, message []byte) error

	// useVersion sets the protocol version, "" before it is agreed.
	useVersion(version string)

	close()
}

// A peer is our side of one connection. It sends requests, and hands what the
// server sends to the call that it belongs to.
type peer struct {
	lifetime
	conn      connection
	log       *slog.Logger
	event     func(m *wire.Message) // notifications that belong to no call; nil stands for those that a broken stream has lost
	oneClient func(refused bool)    // see [Options]; may be nil
	meta      []wire.Member         // what every request says of us to a server without sessions; the last is what we can do

	calls    wire.Calls
	checking sync.Mutex  // held while it is found out whether the server knows our session
	lostAs   refusal     // how requests of the session that it does not know are refused; guarded by checking
	served   wire.Served // requests of the server under way

	questions *budget.Shares[hidden.Owner] // of the server, until their answers are delivered
	heard     *budget.Shares[hidden.Owner] // notifications of the server to clients
	said      *budget.Shares[hidden.Owner] // notifications of clients to the server
	sending   relay                        // notifications of clients
	cancels   relay                        // cancellations of calls
	answers   relay                        // to requests of the server
	skipped   atomic.Uint64                // lines and events that were not messages

	mu sync.Mutex // guards what follows
	owners
	unnamed unnamedErrors
	roots   rootsState
	over    bool   // no request is answered any more
	worked  string // a request that the server carried out; "" before its lists are read
}

// Limits of one server: of all its clients together, and of each.
const (
	maxQuestions           = 256
	maxClientQuestions     = 32
	maxQuestionBytes       = 16 << 20
	maxClientQuestionBytes = 8 << 20

	maxHeardBytes       = 32 << 20
	maxClientHeardBytes = 8 << 20

	maxClientSaid      = 250
	maxClientSaidBytes = 1 << 20

	// There is room for the answers to all questions, and to many small requests.
	maxAnswers     = 10_000
	maxAnswerBytes = 2 * maxQuestionBytes
)

// newPeer returns a peer. Messages that it holds count in above, which may be nil.
func newPeer(log *slog.Logger, event func(*wire.Message), above *budget.Budget) *peer {
	ctx, end := context.WithCancelCause(context.Background())
	return &peer{
		lifetime: lifetime{ctx, end}, log: log, event: event,
		questions: shares(above, budget.Limit{Number: maxQuestions, Bytes: maxQuestionBytes}, budget.Limit{Number: maxClientQuestions, Bytes: maxClientQuestionBytes}),
		heard:     shares(above, budget.Limit{Bytes: maxHeardBytes}, budget.Limit{Bytes: maxClientHeardBytes}),
		said:      shares(above, budget.Limit{Number: maxQueue, Bytes: maxQueueBytes}, budget.Limit{Number: maxClientSaid, Bytes: maxClientSaidBytes}),
		answers:   relay{limit: budget.Limit{Number: maxAnswers, Bytes: maxAnswerBytes}},
		owners:    owners{open: map[int64]*exchange{}},
	}
}

// shares returns the shares of clients of what all of them may hold.
func shares(above *budget.Budget, all, each budget.Limit) *budget.Shares[hidden.Owner] {
	return budget.NewShares[hidden.Owner](budget.New(above, all), each)
}

// sendAtOnce lets several answers, and several cancellations, be on their way at a
// time. That is for connections where each is a request of its own: a server that
// does not answer them must not take all descriptors.
func (p *peer) sendAtOnce() { p.answers.workers, p.cancels.workers = maxPosts, maxPosts }

const maxPosts = 32

// A lifetime is that of a connection. It ends once, for one reason.
type lifetime struct {
	ctx context.Context // its cause is why the connection ended
	end context.CancelCauseFunc
}

// failure returns why the connection ended, nil if it did not or we ended it.
func (l *lifetime) failure() error {
	if err := context.Cause(l.ctx); err != errClosed {
		return err
	}
	return nil
}

// bind returns a context that ends with ctx or with the connection.
func (l *lifetime) bind(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// waitFor reports whether a value of event, or its end, came before the end of ctx
// or of the connection.
func (l *lifetime) waitFor(ctx context.Context, event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
	return false
}

// sleep reports whether the time passed before ctx or the connection ended.
func (l *lifetime) sleep(ctx context.Context, d time.Duration) bool {
	over, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return l.waitFor(ctx, over.Done())
}

// fail makes the connection unusable. The first reason counts.
func (p *peer) fail(err error) {
	p.end(err)
	err = context.Cause(p.ctx)
	p.served.Close(err)
	if errors.Is(err, errSessionLost) { // which is found out only while conn is in use
		if _, own := p.conn.(*streamable); own {
			// what is under way is refused too, or was carried out: the server says which
			time.AfterFunc(lostTime, func() { p.endRequests(err) })
			return
		}
	}
	p.endRequests(err)
}

// endRequests ends all requests that were not answered.
func (p *peer) endRequests(err error) {
	p.calls.Close(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, x := range p.open {
		if x.leave != nil {
			x.leave()
		}
	}
}

// do carries out one exchange: it returns the server's answer. An error that
// the server answered is a *[wire.Error], or wraps one. The error is
// errSessionMissing if the server refused the request because it forgot our session.
func (p *peer) do(ctx context.Context, x *exchange) (*wire.Message, error) {
	m, err := p.exchange(ctx, x)
	if err != nil && p.forgot(ctx, x, err) && !isA[*cutError](err) { // a stream of x that was cut shows that x was not refused
		err = errSessionMissing
	}
	return m, err
}

// exchange is do without a look at the session.
func (p *peer) exchange(ctx context.Context, x *exchange) (*wire.Message, error) {
	if p.ctx.Err() != nil {
		return nil, context.Cause(p.ctx)
	}
	pending, err := p.calls.Begin()
	if err != nil {
		return nil, err
	}
	defer pending.End()
	x.ctx, x.log, x.number = ctx, p.log, pending.Number()
	message := x.encode(pending.ID, p.meta)
	p.mu.Lock()
	p.begin(x)
	x.after = p.unnamed.sent
	p.mu.Unlock()
	x.sent = true
	m, err := p.await(ctx, x, pending, message)
	p.settle(ctx, x, err)
	x.relay.wait(ctx)
	switch {
	case err != nil:
		return m, err
	case m.Err != nil:
		return m, wire.ReadError(m.Err)
	case !wire.IsObject(m.Result):
		return m, &contentError{"a result that is not an object", excerpt(m.Result, 100)}
	}
	return m, nil
}

// await sends a request and waits for its answer.
func (p *peer) await(ctx context.Context, x *exchange, pending *wire.Pending, message []byte) (*wire.Message, error) {
	err := p.conn.call(ctx, x, message)
	if err == nil || x.answered.Load() {
		var m *wire.Message
		if m, err = pending.Wait(ctx); err == nil || errors.Is(err, errTooLong) { // it was answered
			return m, err
		}
	}
	switch {
	case ctx.Err() != nil:
		p.cancel(x)
		err = context.Cause(ctx)
	case errors.Is(err, context.Canceled) && p.ctx.Err() != nil:
		err = context.Cause(p.ctx)
	}
	return nil, err
}

// settle ends an exchange. If the server may still be carrying it out, the
// server may also still ask its client.
func (p *peer) settle(ctx context.Context, x *exchange, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut, ok := errors.AsType[*cutError](err)
	var forgotten bool
	if err != nil && (ctx.Err() != nil || ok && !cut.unsent) {
		forgotten = p.abandon(x)
	} else {
		forgotten = p.removeAnswered(x.number) != nil && !wasRefused(err)
	}
	switch {
	case forgotten && x.handshake(): // many servers ignore what they do not know
		p.unnamed.sent++
	case forgotten:
		p.unnamed.stray = true
	}
}

// cancel notifies the server, in the background, that no caller waits for x. A
// server that does not read it does not hear of all.
func (p *peer) cancel(x *exchange) {
	if _, overHTTP := p.conn.(*streamable); x.handshake() || overHTTP && p.meta != nil {
		return // there, the end of the response says it
	}
	p.cancels.add(p.notify, delivery{method: cancelled, params: x.cancellation(), until: time.Now().Add(answerTimeout)})
}

// notify sends a notification. It does not wait long for a server that does not
// read it.
func (p *peer) notify(d delivery) {
	p.send(d, wire.AppendRequest(nil, nil, d.method, d.params))
}

// send sends a message that has no answer.
func (p *peer) send(d delivery, message []byte) {
	if p.ctx.Err() != nil {
		return
	}
	until := time.Now().Add(answerTimeout)
	if !d.until.IsZero() {
		until = d.until
	}
	ctx, cancel := context.WithDeadline(p.ctx, until)
	defer cancel()
	if err := p.sendOneWay(ctx, d.method, message); err != nil {
		p.log.Debug("cannot deliver a message", "method", d.method, "err", httpconn.WithoutURL(err))
	}
}

// skipBroken handles text that is not a message, of which from brought a stream or is
// nil. An answer that is not JSON ends its call, which would wait in vain; other text is
// skipped. It reports whether this is the first that is skipped.
func (p *peer) skipBroken(what string, text []byte, from *exchange) (first bool) {
	if id := wire.BrokenAnswer(text); id != nil {
		p.noteAnswer(id, from)
		if p.calls.Fail(id, &contentError{notJSON, excerpt(text, 300)}) {
			return false
		}
	}
	return p.skip(what, text)
}

// skip logs the first texts of the server that are not messages, then fewer and
// fewer. It reports whether this is the first one.
func (p *peer) skip(what string, text []byte) (first bool) {
	n := p.skipped.Add(1)
	if n <= 3 || bits.OnesCount64(n) == 1 {
		p.log.Warn("the server sent "+what+" that is not a message", "text", excerpt(text, 200), "count", n)
	}
	return n == 1
}

// keeps returns what reports whether a call can use a message that is too long for
// memory: the call whose response it is, or any, if that is nil.
func (p *peer) keeps(from *exchange) func() bool {
	return func() bool {
		if from != nil {
			return from.keep != nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, x := range p.open {
			if x.keep != nil {
				return true
			}
		}
		return false
	}
}

// take delivers the messages that arrived in b: from is the call whose stream
// brought them, nil if there is none. It returns how many there are.
func (p *peer) take(b *body, from *exchange) (int, error) {
	found, unread, err := b.messages()
	for i := range found {
		p.receive(&found[i], from)
	}
	if unread == nil {
		return len(found), err
	}
	x := p.noteAnswer(unread.id, from)
	long := (*longResult)(nil)
	if errors.As(unread.err, &long) && (x == nil || !x.passesOn() || long.found.Asks) {
		var m *wire.Message
		if m, unread.err = long.message(); unread.err == nil {
			p.receive(m, from)
			return 1, nil
		}
	}
	if !p.calls.Fail(unread.id, unread.err) && long != nil {
		long.Close()
	}
	return 1, nil
}

// receive delivers one message.
func (p *peer) receive(m *wire.Message, from *exchange) {
	switch {
	case m.Method == "" && m.ID == nil:
		p.handleUnnamedError(m, from)
	case m.Method == "":
		p.noteAnswer(m.ID, from)
		p.calls.Answer(m)
	case m.ID == nil:
		p.notification(m, from.questioner())
	default:
		p.request(m, from.questioner())
	}
}

// noteAnswer records that the answer with an id has come, on the stream of from. It
// returns the exchange, nil if there is none. An exchange whose answer came on
// another stream does not wait for its own.
func (p *peer) noteAnswer(id json.RawMessage, from *exchange) *exchange {
	number, _ := wire.Number(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.removeAnswered(number)
	if x != nil {
		p.unnamed.settled = max(p.unnamed.settled, x.after)
		x.answered.Store(true)
		if x != from && x.leave != nil {
			x.leave()
		}
	}
	return x
}
