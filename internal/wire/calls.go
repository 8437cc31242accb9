package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
)

// Calls are the requests that one side of a connection has sent and whose
// answers it waits for. The zero value is ready.
type Calls struct {
	mu    sync.Mutex
	last  int64
	open  map[int64]*Pending
	ended error // why there are no more answers
}

// A Pending is a request that waits for its answer.
type Pending struct {
	ID     json.RawMessage
	number int64
	calls  *Calls
	answer chan answer
	taken  bool     // the answer, so that the request is forgotten already
	digits [20]byte // of ID
}

// An answer is what came of a request.
type answer struct {
	message *Message
	err     error
}

// Begin registers a request, before it is sent. End must follow.
func (c *Calls) Begin() (*Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return nil, c.ended
	}
	if c.open == nil {
		c.open = map[int64]*Pending{}
	}
	c.last++
	p := &Pending{number: c.last, calls: c, answer: make(chan answer, 1)}
	p.ID = strconv.AppendInt(p.digits[:0], c.last, 10)
	c.open[c.last] = p
	return p, nil
}

// Number returns the id as a number. Later requests have greater ones.
func (p *Pending) Number() int64 { return p.number }

// End forgets the request: a later answer is unexpected. An
// answer that arrived and was not taken is closed, if it has files.
func (p *Pending) End() {
	if p.taken {
		return
	}
	p.calls.mu.Lock()
	delete(p.calls.open, p.number)
	p.calls.mu.Unlock()
	select {
	case a := <-p.answer:
		if held, ok := a.err.(interface{ Close() }); ok {
			held.Close()
		}
	default:
	}
}

// Wait returns the answer. It returns the cause of ctx, or the error of Close,
// if that comes first.
func (p *Pending) Wait(ctx context.Context) (*Message, error) {
	select {
	case a := <-p.answer:
		p.taken = true
		return a.message, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Answer hands a response to the request that it answers. It reports whether
// there is one.
func (c *Calls) Answer(m *Message) bool { return c.deliver(m.ID, answer{message: m}) }

// Fail ends the request with an id, because its answer cannot be read. It
// reports whether there is one.
func (c *Calls) Fail(id []byte, err error) bool { return c.deliver(id, answer{err: err}) }

func (c *Calls) deliver(id []byte, a answer) bool {
	number, ok := Number(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.open[number]
	if !ok || p == nil {
		return false
	}
	delete(c.open, number)
	p.answer <- a
	return true
}

// Close ends all requests, and those that follow, with an error. The first
// error counts.
func (c *Calls) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = err
	for _, p := range c.open {
		p.answer <- answer{err: err}
	}
	c.open = nil
}

// Number returns the number of an id that one side chose, however the other
// side wrote it: some peers return it as a string, or with a fraction of zero.
func Number(raw []byte) (number int64, ok bool) {
	text := string(raw)
	if len(raw) > 1 && raw[0] == '"' {
		text = Unquote(raw)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return number, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Served are the requests of the other side that are under way, so that
// notifications/cancelled finds them. The zero value is ready.
type Served struct {
	mu    sync.Mutex
	open  map[string]*context.CancelCauseFunc
	ended error // why no more requests are served
}

// Begin registers a request and returns its context. The function end cancels
// the context and forgets the request; it must be called, and may be called
// more than once. Begin returns an [Error] if a request with the id is under
// way, and the error of Close after it.
func (s *Served) Begin(ctx context.Context, id json.RawMessage) (_ context.Context, end context.CancelCauseFunc, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return nil, nil, s.ended
	}
	key := string(id)
	if s.open[key] != nil {
		return nil, nil, Errorf(CodeInvalidRequest, "the id %s is in use", id)
	}
	if s.open == nil {
		s.open = map[string]*context.CancelCauseFunc{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.open[key] = &cancel
	return ctx, func(cause error) {
		s.mu.Lock()
		if s.open[key] == &cancel {
			delete(s.open, key)
		}
		s.mu.Unlock()
		cancel(cause)
	}, nil
}

// Cancel ends the context of a request with a cause. It reports whether the
// request was under way.
func (s *Served) Cancel(id json.RawMessage, cause error) bool {
	if bytes.IndexByte(id, '\\') >= 0 { // ids are compared by their bytes
		id = Quote(Unquote(id))
	}
	s.mu.Lock()
	cancel := s.open[string(id)]
	s.mu.Unlock()
	if cancel != nil {
		(*cancel)(cause)
	}
	return cancel != nil
}

// Close ends the contexts of all requests with a cause, and refuses those that
// follow.
func (s *Served) Close(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = cause
	}
	for _, cancel := range s.open {
		(*cancel)(cause) // the requests themselves end later
	}
}

// Len returns how many requests are under way.
func (s *Served) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}
