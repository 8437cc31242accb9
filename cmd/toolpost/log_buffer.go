package main

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// A logBuffer writes its input to another writer in the background. Its writers never
// wait: a slow reader of the log must not block the calls that are logged.
type logBuffer struct {
	to   io.Writer
	lost func(writes int) // reports how many writes had no room

	more chan struct{} // holds one value if there is something to write
	end  chan struct{} // closed by Close
	done chan struct{} // closed once all is written
	once sync.Once

	mu      sync.Mutex
	waiting []byte
	spare   []byte // what was waiting before, and is written
	dropped int
}

const (
	maxWaiting = 1 << 20
	maxSpare   = 32 << 10
	lastWords  = time.Second           // for what waits at the end
	together   = 10 * time.Millisecond // what is logged meanwhile is written at once
)

func newLogBuffer(to io.Writer, lost func(writes int)) *logBuffer {
	s := &logBuffer{to: to, lost: lost, more: make(chan struct{}, 1), end: make(chan struct{}), done: make(chan struct{})}
	go s.pass()
	return s
}

// Write takes all of p, or drops it.
func (s *logBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting)+len(p) > maxWaiting {
		s.dropped++
	} else {
		s.waiting = append(s.waiting, p...)
	}
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *logBuffer) pass() {
	defer close(s.done)
	for ended := false; !ended; {
		select {
		case <-s.more:
		case <-s.end:
			ended = true
		}
		s.mu.Lock()
		p, dropped := s.waiting, s.dropped
		s.waiting, s.spare, s.dropped = s.spare, nil, 0
		s.mu.Unlock()
		if len(p) > 0 {
			_, _ = s.to.Write(p) // there is no other place to report the error
		}
		if cap(p) <= maxSpare {
			s.mu.Lock()
			s.spare = p[:0]
			s.mu.Unlock()
		}
		if dropped > 0 {
			s.lost(dropped)
		}
		select {
		case <-time.After(together):
		case <-s.end:
		}
	}
}

// Close waits a moment for what is not written yet.
func (s *logBuffer) Close() error {
	s.once.Do(func() { close(s.end) })
	select {
	case <-s.done:
	case <-time.After(lastWords):
	}
	return nil
}

func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		options.ReplaceAttr = nameUnit
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// nameUnit makes a duration a number of milliseconds whose name says so. JSON would have
// nanoseconds.
func nameUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"Ms", float64(a.Value.Duration())/float64(time.Millisecond))
	}
	return a
}
