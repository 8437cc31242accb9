package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/upstream"
)

// A redmineConnection is a Redmine as a member. Its tools run in this process
// and are listed even if Redmine does not answer; then they return the error.
type redmineConnection struct {
	*redmine.Toolset
	toolpost.Watchers
	name   string
	log    *slog.Logger
	cancel context.CancelFunc
	tried  chan struct{} // closed after the first check
	done   chan struct{} // closed at the end

	mu     sync.Mutex
	status upstream.Status
}

func startRedmine(s *config.Server, opts *upstream.Options) (connection, error) {
	o := *s.Redmine
	if opts.Complete != nil && !o.Anonymous && o.Credentials == nil {
		o.Credentials = func(ctx context.Context) (*redmine.Options, error) {
			return config.CompleteRedmine(ctx, s.Redmine, opts.Complete)
		}
	}
	server, err := redmine.New(&o)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	tools, err := server.Tools(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	}
	r := &redmineConnection{
		Toolset: server, name: s.Name, log: opts.Logger.With("server", s.Name),
		cancel: cancel, tried: make(chan struct{}), done: make(chan struct{}),
		status: upstream.Status{Name: s.Name, State: upstream.Connecting, Transport: config.Redmine, Tools: len(tools)},
	}
	go r.check(ctx)
	return r, nil
}

// How long after a failure Redmine is asked again.
const (
	firstRetry   = time.Second
	longestRetry = 5 * time.Minute
	checkAgain   = 5 * time.Minute // after it was ready
)

// check asks whether Redmine takes the credentials: often until it does, then
// now and then. It logs each new failure.
func (r *redmineConnection) check(ctx context.Context) {
	defer close(r.done)
	first := sync.OnceFunc(func() { close(r.tried) })
	defer first()
	told, wait := "unknown", firstRetry
	for {
		began := time.Now()
		err := r.Check(ctx)
		if ctx.Err() != nil {
			return
		}
		next := wait
		if err == nil {
			next, wait = checkAgain, firstRetry
		} else {
			wait = min(2*wait, longestRetry)
		}
		r.publish(err, time.Since(began), next)
		first()
		switch now := errText(err); {
		case now == told:
		case err == nil:
			r.log.Info("server is ready", "transport", config.Redmine, "tools", r.Status().Tools)
			told = now
		default:
			r.log.Warn("server cannot be used; its tools return the reason", "err", err)
			told = now
		}
		select {
		case <-time.After(next):
		case <-ctx.Done():
			return
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (r *redmineConnection) publish(err error, took, wait time.Duration) {
	r.mu.Lock()
	s := &r.status
	s.State, s.Took, s.Err, s.Retry = upstream.Ready, took, nil, time.Time{}
	if err != nil {
		s.State, s.Err, s.Retry = upstream.Failed, fmt.Errorf("server %q: %w", r.name, err), time.Now().Add(wait)
	}
	r.mu.Unlock()
	r.Notify(toolpost.Event{})
}

// Status implements connection.
func (r *redmineConnection) Status() upstream.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Ready implements connection.
func (r *redmineConnection) Ready(ctx context.Context) error {
	select {
	case <-r.tried:
		return r.Status().Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements connection.
func (r *redmineConnection) Close() error {
	r.cancel()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.State, r.status.Retry = upstream.Closed, time.Time{}
	return nil
}
