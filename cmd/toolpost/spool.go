package main

import (
	"io"
	"sync"
	"time"
)

// A spool passes on what is written to it, and lets no writer wait: whoever
// does not read our log must not hold up the calls that are logged.
type spool struct {
	to   io.Writer
	lost func(writes int) // reports how many writes had no room

	mu      sync.Mutex
	change  *sync.Cond
	waiting []byte
	dropped int
	ended   bool
	done    chan struct{} // closed once all is written
}

const (
	maxWaiting = 1 << 20
	lastWords  = time.Second // for what waits at the end
)

func newSpool(to io.Writer, lost func(writes int)) *spool {
	s := &spool{to: to, lost: lost, done: make(chan struct{})}
	s.change = sync.NewCond(&s.mu)
	go s.pass()
	return s
}

// Write takes all of p, or drops it.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting)+len(p) > maxWaiting {
		s.dropped++
	} else {
		s.waiting = append(s.waiting, p...)
	}
	s.change.Signal()
	return len(p), nil
}

func (s *spool) pass() {
	defer close(s.done)
	for {
		p, dropped := s.next()
		if len(p) == 0 && dropped == 0 {
			return
		}
		_, _ = s.to.Write(p) // there is no other place to report the error
		if dropped > 0 {
			s.lost(dropped)
		}
	}
}

// next waits for something to write; there is nothing at the end.
func (s *spool) next() (p []byte, dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 && s.dropped == 0 && !s.ended {
		s.change.Wait()
	}
	p, dropped = s.waiting, s.dropped
	s.waiting, s.dropped = nil, 0
	return p, dropped
}

// Close waits a moment for what is not written yet.
func (s *spool) Close() error {
	s.mu.Lock()
	s.ended = true
	s.change.Signal()
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-time.After(lastWords):
	}
	return nil
}
