package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/budget"
)

// A relay delivers messages in the background, without holding up the connection
// that they come from. They arrive in order, unless several are delivered at a time.
// Those of a relay that is full are dropped.
type relay struct {
	limit   budget.Limit // maxQueue if it is zero
	workers int          // how many messages are delivered at a time; one if it is 0

	mu      sync.Mutex
	queue   []delivery
	held    budget.Limit  // of the queue and what is being delivered
	running int           // goroutines that deliver
	idle    chan struct{} // nil, or closed when all is delivered
}

// A delivery is a message on its way.
type delivery struct {
	method string
	params json.RawMessage // or the whole message, if it is an answer
	room   budget.Room     // that it shares with other relays; nil for none
	size   int             // bytes that it counts
	until  time.Time       // after which it is of no use; zero for no limit
	done   func()          // called when it was delivered, or given up; may be nil
}

// Limits of a relay. One message always has room in it.
const (
	maxQueue      = 1000    // messages
	maxQueueBytes = 4 << 20 // bytes of them
)

// queueOverhead is how many bytes a message takes beside its own.
const queueOverhead = 128

// add takes a message. The params are copied: they are part of what the other side
// sent, which may be much larger. It reports whether there is room for the message.
func (r *relay) add(deliver func(delivery), d delivery) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.size = len(d.method) + len(d.params) + queueOverhead
	limit := cmp.Or(r.limit, budget.Limit{Number: maxQueue, Bytes: maxQueueBytes})
	if r.held.Number > 0 && (r.held.Number >= limit.Number || r.held.Bytes+d.size > limit.Bytes) {
		return false
	}
	if d.room != nil && !d.room.Take(d.size) {
		return false
	}
	d.params = bytes.Clone(d.params)
	r.held.Number++
	r.held.Bytes += d.size
	r.queue = append(r.queue, d)
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	if r.running < max(r.workers, 1) {
		r.running++
		go r.run(deliver)
	}
	return true
}

func (r *relay) run(deliver func(delivery)) {
	for d, ok := r.next(); ok; d, ok = r.next() {
		deliver(d)
		r.release(d)
	}
}

// next returns the next message. There is none if the goroutine ends.
func (r *relay) next() (d delivery, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		if r.running--; r.running == 0 {
			close(r.idle)
			r.idle = nil
		}
		return d, false
	}
	d, r.queue[0] = r.queue[0], delivery{} // the array must not keep it
	r.queue = r.queue[1:]
	return d, true
}

func (r *relay) release(d delivery) {
	r.mu.Lock()
	r.held.Number--
	r.held.Bytes -= d.size
	r.mu.Unlock()
	if d.room != nil {
		d.room.Give(d.size)
	}
	if d.done != nil {
		d.done()
	}
}

// wait returns when all that was added is delivered, or ctx is done.
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
