package grep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	err error // io.EOF at the end
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
	blocks := (size + blockSize - 1) / blockSize
	for range min(int64(runtime.GOMAXPROCS(0)), maxWorkers, blocks) - 1 {
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
	n.Matches = cmp.Or(n.Matches, 100)
	if n.First {
		n.Matches = min(n.Matches, 1)
	}
	n.Bytes = cmp.Or(max(n.Bytes, 0), 64<<10)
	n.Line = min(cmp.Or(max(n.Line, 0), 500), n.Bytes)
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
	for s.searchBlock(w) {
	}
	w.stop = nil
}

// searchBlock searches one block, and reports whether there may be more.
func (s *search) searchBlock(w *worker) bool {
	n, b, err := s.take(w)
	done, err := b.search(w, err)
	if !done {
		return false
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	broken := err != nil && err != io.EOF
	if !s.await(n, broken) {
		return false
	}
	s.collector.block(&b, w)
	s.full.Store(s.done)
	s.stop.Store(s.enough() || broken)
	s.turn++
	s.merged.Broadcast()
	s.err = cmp.Or(s.err, err)
	return err == nil && !s.stop.Load()
}

// await waits for the blocks before n, if they have to be merged before it, as
// they have for what they found to be in front of an error. It returns false if
// the search is over.
func (s *search) await(n int, broken bool) bool {
	for s.turn < n && (broken || s.needsOrder()) && !s.stop.Load() {
		s.merged.Wait()
	}
	return !s.stop.Load()
}

// needsOrder reports whether blocks have to be merged in order.
func (s *search) needsOrder() bool { return !s.done || s.limits.First }

// enough reports whether the search is over before the end of its source.
func (s *search) enough() bool { return s.done && s.limits.First && s.result.Matches > 0 }

func (s *search) take(w *worker) (int, block, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.stop.Load() {
		return -1, block{}, nil
	}
	n := s.taken
	s.taken++
	w.keep = !s.full.Load()
	b, err := s.source.next(w, &s.limits)
	return n, b, err
}

// outcome returns the result. That ctx is over does not count if everything
// was searched before.
func (s *search) outcome(ctx context.Context) (*Result, error) {
	r, err := &s.result, s.err
	if err == io.EOF {
		err = nil
	}
	r.Cut = s.cutNotice()
	if s.enough() || s.err != nil && (s.err != io.EOF || s.turn == s.taken) {
		return r, err
	}
	why := "the time ran out"
	if cause := context.Cause(ctx); !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "cancelled"
		err = errors.Join(err, fmt.Errorf("search: %w", cause))
	}
	why = fmt.Sprintf("%s after %d bytes", why, r.Read)
	if r.Cut != "" {
		why += "; " + r.Cut
	}
	r.Cut = why
	return r, err
}
