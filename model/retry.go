package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions are the optional parts of [Retry].
type RetryOptions struct {
	Attempts int           // how often a request is sent; 6 if 0
	Time     time.Duration // no request is sent later than this after the first one; 10 minutes if 0
	Delay    time.Duration // before the second request, then doubled; 1 second if 0

	// MaxDelay is the longest wait before one request; 2 minutes if 0. If the
	// provider requests a longer one, Retry gives up at once.
	MaxDelay time.Duration
}

// overloadFactor is how much longer an overloaded provider is left alone than
// one that failed otherwise: requests of all its users make the overload worse.
const overloadFactor = 4

// Retry returns m with requests that are sent again after a temporary error,
// also one in the middle of a stream. Before it waits, the stream yields a Delta
// with Restart set. A provider that requests a wait gets it; otherwise the waits
// grow, and have a random part, so that many sessions do not return together.
// An error after the last attempt remains an [*Error] and says why Retry gave up.
func Retry(m Model, opts *RetryOptions) Model {
	if opts == nil {
		opts = &RetryOptions{}
	}
	return &retry{m, RetryOptions{
		Attempts: cmp.Or(max(opts.Attempts, 0), 6),
		Time:     cmp.Or(max(opts.Time, 0), 10*time.Minute),
		Delay:    cmp.Or(max(opts.Delay, 0), time.Second),
		MaxDelay: cmp.Or(max(opts.MaxDelay, 0), 2*time.Minute),
	}}
}

// A retry is a model whose requests are sent again.
type retry struct {
	Model
	opts RetryOptions
}

// Retries reports whether a model sends requests again by itself: one of [Retry], or
// one with a method Retries that says so.
func Retries(m Model) bool {
	r, ok := m.(interface{ Retries() bool })
	return ok && r.Retries()
}

// Retries implements what [Retries] asks.
func (m *retry) Retries() bool { return true }

// Stream implements [Model].
func (m *retry) Stream(ctx context.Context, r *Request) iter.Seq2[*Delta, error] {
	return func(yield func(*Delta, error) bool) {
		start := time.Now()
		for attempt := 1; ; attempt++ {
			err, ended := forward(ctx, m.Model, r, yield)
			if ended {
				return
			}
			failure, _ := errors.AsType[*Error](err)
			if failure == nil || !failure.Temporary() || ctx.Err() != nil {
				yield(nil, err)
				return
			}
			wait, why := m.wait(failure, attempt, time.Since(start))
			if why != "" {
				yield(nil, failure.explain(why))
				return
			}
			next := fmt.Sprintf("request %d of %d follows in %v", attempt+1, m.opts.Attempts, wait.Round(100*time.Millisecond))
			if !yield(&Delta{Restart: failure.explain(next)}, nil) {
				return
			}
			select {
			case <-ctx.Done():
				yield(nil, fmt.Errorf("wait to send the request again after %q: %w", failure, context.Cause(ctx)))
				return
			case <-time.After(wait):
			}
		}
	}
}

// forward yields the stream of one request up to its response or its error. It
// returns the error instead of yielding it, and whether the consumer has all
// that it wants.
func forward(ctx context.Context, m Model, r *Request, yield func(*Delta, error) bool) (err error, ended bool) {
	for d, err := range m.Stream(ctx, r) {
		switch {
		case err != nil:
			return err, false
		case d == nil:
		case !yield(d, nil), d.Response != nil:
			return nil, true
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err, false
	}
	return &Error{Origin: m.Origin(), Kind: KindConnection, Text: "the stream ended without a response"}, false
}

// wait returns how long to wait before the next request, or why there is none.
func (m *retry) wait(e *Error, attempt int, elapsed time.Duration) (wait time.Duration, gaveUp string) {
	if attempt >= m.opts.Attempts {
		return 0, fmt.Sprintf("gave up after %d requests in %v", attempt, elapsed.Round(time.Second))
	}
	if e.RetryAfter > m.opts.MaxDelay {
		return 0, fmt.Sprintf("gave up: the provider requests a wait of %v, and the longest is %v; send the request again then, or use another model",
			e.RetryAfter, m.opts.MaxDelay)
	}
	wait = m.backoff(e, attempt)
	if elapsed+wait > m.opts.Time {
		return 0, fmt.Sprintf("gave up after %d requests in %v: the next one would be later than %v after the first",
			attempt, elapsed.Round(time.Second), m.opts.Time)
	}
	return wait, ""
}

// backoff returns the wait that the provider requests and up to one Delay more.
// Otherwise it returns a random time between half of the growing delay and all
// of it.
func (m *retry) backoff(e *Error, attempt int) time.Duration {
	if e.RetryAfter > 0 && e.Kind == KindRateLimit {
		return e.RetryAfter + rand.N(m.opts.Delay)
	}
	delay := min(m.opts.Delay, m.opts.MaxDelay)
	if e.Kind == KindOverloaded {
		delay = min(delay, m.opts.MaxDelay/overloadFactor) * overloadFactor
	}
	for range attempt - 1 {
		delay += min(delay, m.opts.MaxDelay-delay)
	}
	return max(delay/2, e.RetryAfter) + rand.N(delay/2+1)
}

// explain returns e with a note at the end of its text.
func (e *Error) explain(note string) *Error {
	explained := *e
	if explained.Err = errors.New(note); e.Err != nil {
		explained.Err = fmt.Errorf("%w; %s", e.Err, note)
	}
	return &explained
}
