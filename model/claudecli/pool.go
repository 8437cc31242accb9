package claudecli

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// errModelClosed reports a request to a closed model.
var errModelClosed = errors.New("the model is closed; create another with New")

// A pool contains the sessions of a model: those that a stream uses, and those
// that wait for the next request of their conversation.
type pool struct {
	most    int
	keepFor time.Duration

	mu      sync.Mutex
	closed  bool
	used    []*session
	waiting []*session // the one that waits longest comes first
	ending  sync.WaitGroup
}

func newPool(most int, keepFor time.Duration) *pool { return &pool{most: most, keepFor: keepFor} }

// start adds a session that a stream uses.
func (p *pool) start(s *session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errModelClosed
	}
	p.used = append(p.used, s)
	return nil
}

// take returns the waiting session that the conversation continues, nil if there
// is none. It ends a session whose calls the conversation answers although it
// is not the same any more.
func (p *pool) take(c *conversation) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range slices.Clone(p.waiting) {
		switch {
		case c.continues(s):
			p.remove(s)
			p.used = append(p.used, s)
			return s
		case c.answers(s.calls):
			p.remove(s)
			p.endLater(s)
		}
	}
	return nil
}

// keep lets a session wait. The one that waits longest ends if there are too
// many.
func (p *pool) keep(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = without(p.used, s)
	if p.closed { // close has ended it
		return
	}
	p.waiting = append(p.waiting, s)
	s.timer = time.AfterFunc(p.keepFor, func() { p.expire(s) })
	if len(p.waiting) > p.most {
		oldest := p.waiting[0]
		p.remove(oldest)
		p.endLater(oldest)
	}
}

// expire ends a session that has waited too long.
func (p *pool) expire(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.waiting, s) {
		p.remove(s)
		p.endLater(s)
	}
}

// remove takes a session out of those that wait. The caller holds the lock.
func (p *pool) remove(s *session) {
	s.timer.Stop()
	p.waiting = without(p.waiting, s)
}

// endLater ends a session while the caller, who holds the lock, goes on.
func (p *pool) endLater(s *session) {
	p.ending.Go(func() { _ = s.end() }) // no caller waits for its error
}

// drop ends a session that a stream used.
func (p *pool) drop(s *session) {
	_ = s.end() // the stream reports why
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = without(p.used, s)
}

// close ends all sessions and waits for them.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	all := slices.Concat(p.waiting, p.used)
	for _, s := range p.waiting {
		s.timer.Stop()
	}
	p.waiting = nil
	p.mu.Unlock()
	errs := make([]error, len(all))
	var ends sync.WaitGroup
	for i, s := range all {
		ends.Go(func() { errs[i] = s.end() })
	}
	ends.Wait()
	p.ending.Wait()
	return errors.Join(errs...)
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func without(all []*session, s *session) []*session {
	return slices.DeleteFunc(all, func(other *session) bool { return other == s })
}
