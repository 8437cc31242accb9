package claude

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/sessions"
)

const mirroredID = "5e551011-0000-4000-8000-000000000000"

// A flaky store calls its function at every attempt to append.
type flaky struct {
	sessions.Memory
	attempts int
	fail     func(ctx context.Context, attempt int) error
}

func (f *flaky) Append(ctx context.Context, key sessions.Key, lines []json.RawMessage) error {
	f.attempts++
	if err := f.fail(ctx, f.attempts); err != nil {
		return err
	}
	return f.Memory.Append(ctx, key, lines)
}

func frame(file string, lines ...string) *control.Mirror {
	m := &control.Mirror{File: file}
	for _, line := range lines {
		m.Lines = append(m.Lines, json.RawMessage(line))
	}
	return m
}

// TestMirror appends in order and tries again, but not after a timeout.
func TestMirror(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		fail     func(ctx context.Context, attempt int) error
		attempts int
		stored   int
		lost     error
		took     time.Duration
	}{
		"fine":    {func(context.Context, int) error { return nil }, 2, 3, nil, 0},
		"at last": {func(_ context.Context, n int) error { return map[bool]error{true: refused}[n < 3] }, 4, 3, nil, time.Second},
		"never":   {func(context.Context, int) error { return refused }, 6, 0, refused, 2 * time.Second},
		"panics":  {func(_ context.Context, n int) error { return map[bool]error{true: nil}[n != 1 || panics()] }, 3, 3, nil, 200 * time.Millisecond},
		"hangs": {func(ctx context.Context, n int) error {
			if n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}, 2, 1, context.DeadlineExceeded, appendTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &flaky{fail: c.fail}
				var lost error
				m := newMirror(t.Context(), store, func(key sessions.Key, err error) {
					if key.SessionID != mirroredID {
						t.Errorf("lines of %+v are lost", key)
					}
					lost = err
				})
				begin := time.Now()
				m.add(frame("/x/projects/-p/"+mirroredID+".jsonl", `{"n":1}`, `{"n":2}`))
				m.add(frame("/x/projects/-p/"+mirroredID+".jsonl", `{"n":3}`))
				m.close()
				if took := time.Since(begin); took != c.took || store.attempts != c.attempts || !errors.Is(lost, c.lost) {
					t.Errorf("%d attempts in %v, lost for %v; want %d in %v for %v", store.attempts, took, lost, c.attempts, c.took, c.lost)
				}
				var got []string
				for line := range store.Load(t.Context(), sessions.Key{Project: "-p", SessionID: mirroredID}) {
					got = append(got, string(line))
				}
				if len(got) != c.stored || c.stored > 0 && got[c.stored-1] != `{"n":3}` {
					t.Errorf("the store has %q, want %d lines", got, c.stored)
				}
			})
		})
	}
}

func panics() bool { panic("full") }

// TestMirrorForeign refuses files that are not transcripts.
func TestMirrorForeign(t *testing.T) {
	store := &sessions.Memory{}
	var lost []error
	m := newMirror(t.Context(), store, func(_ sessions.Key, err error) { lost = append(lost, err) })
	m.add(frame("/x/projects/../"+mirroredID+".jsonl", `{"n":1}`))
	m.flush()
	m.close()
	if found, err := store.List(t.Context(), sessions.Key{}); err != nil || len(found) > 0 || len(lost) != 1 {
		t.Errorf("the store has %v (%v), lost are %v", found, err, lost)
	}
}

// TestMirrorDeaf is closed although the store ignores its context.
func TestMirrorDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		answers := make(chan struct{})
		store := &flaky{fail: func(context.Context, int) error { <-answers; return nil }}
		var lost error
		m := newMirror(ctx, store, func(_ sessions.Key, err error) { lost = err })
		m.add(frame("/x/projects/-p/"+mirroredID+".jsonl", `{"n":1}`))
		cancel()
		begin := time.Now()
		m.flush()
		m.close()
		if took := time.Since(begin); took > appendTimeout || !errors.Is(lost, errSlowStore) {
			t.Errorf("the store was waited for %v, lost for %v", took, lost)
		}
		close(answers)
		<-m.done
	})
}

// TestMirrorHangs is closed although the store never answers.
func TestMirrorHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &flaky{fail: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		lost := 0
		m := newMirror(t.Context(), store, func(sessions.Key, error) { lost++ })
		begin := time.Now()
		for range 100 {
			m.add(frame("/x/projects/-p/"+mirroredID+".jsonl", `{"n":1}`))
		}
		m.flush()
		m.close()
		if took := time.Since(begin); took > 3*appendTimeout || lost != 100 {
			t.Errorf("the store was waited for %v, %d are lost", took, lost)
		}
	})
}

// TestMirrorTooSlow waits for a store that is too slow once, not for each line. Once the
// store has what the mirror waited for, it gets lines again.
func TestMirrorTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		store := &flaky{fail: func(context.Context, int) error { <-answers; return nil }}
		var lost []error
		m := newMirror(t.Context(), store, func(_ sessions.Key, err error) { lost = append(lost, err) })
		line := frame("/x/projects/-p/"+mirroredID+".jsonl", `{"n":1}`)
		line.Size = maxMirrored + 1
		begin := time.Now()
		for range 5 {
			m.add(line)
		}
		m.flush() // as before a result
		if took := time.Since(begin); took != flushTimeout || len(lost) != 4 || !errors.Is(lost[0], errSlowStore) {
			t.Errorf("the store was waited for %v, lost %v", took, lost)
		}
		close(answers)
		synctest.Wait()
		m.add(line)
		m.add(line)
		m.close()
		if took := time.Since(begin); took != flushTimeout || len(lost) != 4 || store.attempts != 3 {
			t.Errorf("after %v the store has %d lines, lost %v", took, store.attempts, lost)
		}
	})
}
