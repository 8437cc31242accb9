package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
)

const (
	// defaultCallTimeout keeps a call whose server never answers from keeping its
	// memory and its place for ever. It is long, since few servers report progress,
	// and most clients have shorter limits of their own.
	defaultCallTimeout = 30 * time.Minute
	// longestCall limits a call that reports progress without end.
	longestCall = 24 * time.Hour
)

// A deadline is the time limit of a call. Progress of the call begins it again.
type deadline struct {
	timer *time.Timer
	limit time.Duration
	last  time.Time // progress does not count after it
}

// newDeadline returns a context that is canceled when the limit has passed without
// progress. Stop must be called.
func newDeadline(ctx context.Context, limit time.Duration, server, what string) (own context.Context, d *deadline, stop func()) {
	own, cancel := context.WithCancelCause(ctx)
	d = &deadline{limit: limit, last: time.Now().Add(max(longestCall, limit) - limit)}
	d.timer = time.AfterFunc(limit, func() {
		cancel(&toolpost.UnavailableError{
			Timeout: true, Text: fmt.Sprintf("server %q did not answer %s within %v; the call was cancelled", server, what, limit),
		})
	})
	return own, d, func() {
		d.timer.Stop()
		cancel(nil)
	}
}

// extend begins the limit again, unless it has passed.
func (d *deadline) extend() {
	if d != nil && time.Now().Before(d.last) && d.timer.Stop() {
		d.timer.Reset(d.limit)
	}
}
