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
	server, what string // in the error
	limit        time.Duration
	last         time.Time // progress does not count after it
	timer        *time.Timer
	cancel       context.CancelCauseFunc
}

// newDeadline returns a context that is canceled when the limit has passed without
// progress. The deadline must be stopped.
func newDeadline(ctx context.Context, limit time.Duration, server, what string) (context.Context, *deadline) {
	d := &deadline{server: server, what: what, limit: limit, last: time.Now().Add(max(longestCall, limit) - limit)}
	ctx, d.cancel = context.WithCancelCause(ctx)
	d.timer = time.AfterFunc(limit, d.expire)
	return ctx, d
}

func (d *deadline) expire() {
	d.cancel(&toolpost.UnavailableError{
		Timeout: true, Text: fmt.Sprintf("server %q did not answer %s within %v; the call was cancelled", d.server, d.what, d.limit),
	})
}

func (d *deadline) stop() {
	d.timer.Stop()
	d.cancel(nil)
}

// extend begins the limit again, unless it has passed.
func (d *deadline) extend() {
	if d != nil && time.Now().Before(d.last) && d.timer.Stop() {
		d.timer.Reset(d.limit)
	}
}
