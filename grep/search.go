package grep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxWorkers bounds the memory of one search.
const maxWorkers = 4

// A search has its workers take blocks from a source and give what they found
// to the collector, in the order of the blocks.
type search struct {
	pattern *Pattern
	limits  Limits
	stop    atomic.Bool // the context or the search is over
	full    atomic.Bool // no more lines are wanted, only their number

	reading sync.Mutex
	source  source
	taken   int // blocks

	merging sync.Mutex
	merged  sync.Cond // a block was
	turn    int       // the next block to merge
	collector
	err error
}

func (p *Pattern) search(ctx context.Context, src source, size int64, l *Limits) (*Result, error) {
	s := &search{pattern: p, limits: limits(l), source: src}
	s.merged.L = &s.merging
	s.collector = collector{limits: &s.limits, room: s.limits.Bytes, number: 1}
	s.done = s.limits.Matches < 0
	s.full.Store(s.done)
	defer context.AfterFunc(ctx, s.end)()
	if ctx.Err() != nil {
		s.end()
	}
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, int((size+blockSize-1)/blockSize)) - 1 {
		all.Go(s.work)
	}
	s.work()
	all.Wait()
	return s.outcome(ctx)
}

func limits(l *Limits) Limits {
	if l == nil {
		l = &Limits{}
	}
	n := *l
	if n.Matches == 0 {
		n.Matches = 100
	}
	if n.First {
		n.Matches = min(n.Matches, 1)
	}
	if n.Bytes <= 0 {
		n.Bytes = 64 << 10
	}
	if n.Line <= 0 {
		n.Line = 500
	}
	n.Line = min(n.Line, n.Bytes)
	n.Before, n.After = max(n.Before, 0), max(n.After, 0)
	return n
}

// end stops the search.
func (s *search) end() {
	s.merging.Lock()
	defer s.merging.Unlock()
	s.stop.Store(true)
	s.merged.Broadcast()
}

func (s *search) work() {
	w := s.pattern.workers.Get().(*worker)
	defer s.pattern.workers.Put(w)
	w.begin(&s.stop)
	for s.one(w) {
	}
	w.stop = nil
}

// one searches one block, and tells whether there may be more.
func (s *search) one(w *worker) bool {
	n, b, err := s.take(w)
	if b.long == nil && !w.block(b.data, !s.full.Load()) {
		return false
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	for s.turn != n && (!s.full.Load() || s.limits.First) && !s.stop.Load() {
		s.merged.Wait()
	}
	if s.stop.Load() {
		return false
	}
	s.collector.block(&b, w)
	if s.full.Store(s.done); s.done && s.limits.First && s.result.Matches > 0 {
		s.stop.Store(true)
	}
	s.turn++
	s.merged.Broadcast()
	s.err = errors.Join(s.err, err)
	return b.size > 0 && s.err == nil && !s.stop.Load()
}

func (s *search) take(w *worker) (int, block, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stop.Load() {
		return -1, block{}, nil
	}
	n := s.taken
	s.taken++
	b, err := s.source.next(w, &s.limits)
	return n, b, err
}

// outcome returns the result. The end of ctx only counts if it came before
// that of the search.
func (s *search) outcome(ctx context.Context) (*Result, error) {
	r := &s.result
	switch {
	case s.limits.First && r.Matches > 0:
	case s.stop.Load():
		r.Cut = fmt.Sprintf("the time ran out after %d bytes", r.Read)
		if err := context.Cause(ctx); !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			r.Cut = fmt.Sprintf("cancelled after %d bytes", r.Read)
			s.err = errors.Join(s.err, fmt.Errorf("search after %d bytes: %w", r.Read, err))
		}
	}
	if text := s.cut(); text != "" && r.Cut != "" {
		r.Cut += "; " + text
	} else {
		r.Cut += text
	}
	return r, s.err
}
