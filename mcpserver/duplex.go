package mcpserver

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/inflight"
	"github.com/toolpost/toolpost/internal/wire"
)

// A duplex is a session over which all messages go one after the other: stdio
// or legacy SSE.
//
//	deliver ─┬▶ responses, notifications: at once, in order
//	         └▶ calls: on a goroutine, after the answer to initialize ─▶ answer ─▶ send
type duplex struct {
	*session
	write func(payload) error
	turn  chan struct{}    // full while a goroutine writes
	open  inflight.Counter // calls that are to be answered soon
	begun sync.Once        // done with the answer to initialize: changes are sent after it

	opening atomic.Bool // initialize has come
	known   milestone   // the client is known, or cannot be
	opened  milestone   // initialize is answered
}

// A milestone is reached once.
type milestone struct {
	once sync.Once
	done chan struct{}
}

func newMilestone() milestone { return milestone{done: make(chan struct{})} }

func (m *milestone) reach() { m.once.Do(func() { close(m.done) }) }

func (s *session) newDuplex(write func(payload) error) *duplex {
	s.duplex = &duplex{session: s, write: write, turn: make(chan struct{}, 1), known: newMilestone(), opened: newMilestone()}
	return s.duplex
}

// deliver takes messages that came together, and gives up what they hold when they are
// answered.
func (d *duplex) deliver(ctx context.Context, msgs []wire.Message, batch bool, held *hold) error {
	started := false
	defer func() { // also after a panic
		if !started {
			held.release()
		}
	}()
	if open := d.served.Len(); open >= maxCalls && slices.ContainsFunc(msgs, func(m wire.Message) bool { return m.IsCall() }) {
		return wire.Errorf(wire.CodeInvalidRequest, "the session has %d calls under way; wait for some of them", open)
	}
	calls, err := d.accept(ctx, msgs, batch, held)
	if err != nil || len(calls) == 0 {
		return err
	}
	started = true
	d.start(calls, batch, held)
	return nil
}

// start answers calls that came together on a goroutine.
func (d *duplex) start(calls []*request, batch bool, held *hold) {
	initializes := !batch && calls[0].Method == "initialize"
	follows := !initializes && calls[0].Method != "ping" && d.opening.Load()
	d.opening.CompareAndSwap(false, initializes)
	awaited := calls[0].Method != listenMethod // which ends with the session
	if awaited {
		d.open.Add(1)
		d.core.owed.Add(1)
	}
	go func() {
		defer held.release()
		if awaited {
			defer d.core.owed.Add(-1)
			defer d.open.Add(-1)
		}
		if follows {
			d.awaitOpened(calls)
		}
		d.serve(calls, batch)
		if initializes {
			d.known.reach()
			d.opened.reach()
		}
	}()
	if initializes { // notifications that follow are those of a client that is known
		<-d.known.done
	}
}

// awaitOpened returns when initialize is answered, on which calls that follow it
// depend, or when these are canceled.
func (d *duplex) awaitOpened(calls []*request) {
	for _, r := range calls {
		select {
		case <-d.opened.done:
		case <-r.ctx.Done():
		case <-d.done:
		}
	}
}

// serve answers calls that came together.
func (d *duplex) serve(calls []*request, batch bool) {
	out := &gatedSender{to: d}
	var response payload
	if batch {
		response = d.respondAll(calls, out)
	} else {
		response = d.respond(calls[0], out)
	}
	out.close()
	defer response.close()
	_ = d.inTurn(context.Background(), func() error { // the session has ended if it fails
		if d.peer.Load() != nil {
			// Before the client can read the response, so that it misses nothing from then
			// on. What the listener sends waits for its turn.
			d.begun.Do(func() { d.listener.open(d) })
		}
		return d.write(response)
	})
}

// send implements [sender].
func (d *duplex) send(ctx context.Context, message []byte) error {
	return d.put(ctx, inMemory(message))
}

// put sends a message.
func (d *duplex) put(ctx context.Context, message payload) error {
	return d.inTurn(ctx, func() error { return d.write(message) })
}

// inTurn runs write when it has its turn. It waits for that, but not longer than ctx or
// the session last. A client that cannot be written to ends its session.
func (d *duplex) inTurn(ctx context.Context, write func() error) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.done:
		return errEnded
	}
	defer func() { <-d.turn }()
	err := write()
	if err != nil {
		d.end(errEnded)
	}
	return err
}

// A gatedSender passes on the messages of a request, and none after its
// response.
type gatedSender struct {
	gate
	to sender
}

func (g *gatedSender) send(ctx context.Context, message []byte) error {
	return g.pass(func() error { return g.to.send(ctx, message) })
}

// A gate lets one message at a time pass, until it is closed.
type gate struct {
	mu     sync.Mutex
	closed bool
}

func (g *gate) pass(send func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errReplied
	}
	return send()
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
