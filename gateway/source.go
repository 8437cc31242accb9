package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// inProcessTransport is the transport of a toolset of this program.
const inProcessTransport upstream.Transport = "in-process"

// Add serves a toolset of this program beside the servers, as if it were a server
// with that name: its tools are called NAME__tool. If a server has that prefix,
// the toolset gets another one, which a finding reports. It stays until Close,
// also when the configuration is reloaded. If ts is a [toolpost.Toolset], its
// prompts and resources are served too, and clients are notified when it changes.
func (g *Gateway) Add(name string, ts toolpost.Toolset) error {
	g.work.Lock()
	defer g.work.Unlock()
	if name == "" {
		return errors.New("add toolset: it needs a name, which its tools are called by")
	}
	s := config.Server{Unpinned: true}
	s.Name, s.Transport = name, inProcessTransport
	l := newLink(nil)
	m := newMember(s, serverKeys([]config.Server{s}, keysOf(g.members)...)[0], l)
	m.shared = g.shared
	if err := g.checkServers(g.cfg.Servers, append(g.added[:len(g.added):len(g.added)], m)); err != nil {
		return fmt.Errorf("add toolset %q: %w", name, err)
	}
	g.attach(l, inProcess{ts, name})
	g.mu.Lock()
	g.added = append(g.added, m)
	g.members = append(g.members[:len(g.members):len(g.members)], m)
	g.mu.Unlock()
	g.refresh()
	return nil
}

func keysOf(members []*member) (keys []string) {
	for _, m := range members {
		keys = append(keys, m.key)
	}
	return keys
}

// An inProcess is a toolset of this program as a member.
type inProcess struct {
	toolpost.Toolset
	name string
}

// Tools lists the toolset. One that panics must not end the other servers.
func (c inProcess) Tools(ctx context.Context) (tools []*toolpost.Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return c.Toolset.Tools(ctx)
}

// Status lists the toolset to count its tools.
func (c inProcess) Status() upstream.Status {
	tools, err := c.Tools(context.Background())
	s := upstream.Status{Name: c.name, Transport: inProcessTransport, State: upstream.Ready, Tools: len(tools), Err: err}
	if err != nil {
		s.State = upstream.Failed
	}
	return s
}

// A sourceConnection is a server as a member whose tools run in this process. They are
// listed even if the server does not answer; then they return the error.
type sourceConnection struct {
	inProcess
	try    func(context.Context) error // returns why the server cannot be used
	checks toolpost.Base               // of what the checks change
	log    *slog.Logger
	cancel context.CancelFunc
	tried  chan struct{} // closed after the first check
	done   chan struct{} // closed at the end

	mu     sync.Mutex
	status upstream.Status
}

// startSource opens the source of a server, with what the program gives for its type.
func (g *Gateway) startSource(s *config.Server, secrets *resolver) (connection, error) {
	if g.options.OpenSource == nil {
		return nil, fmt.Errorf("server %q: this program has no tools for servers of the type %q; it gives them in Options.OpenSource of package gateway or serve", s.Name, s.Transport)
	}
	opened, err := s.Resolve(g.ctx, secrets.read)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	}
	source, err := g.options.OpenSource(opened)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	}
	try := func(context.Context) error { return nil }
	if checked, ok := source.(interface{ Check(context.Context) error }); ok {
		try = checked.Check
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &sourceConnection{
		inProcess: inProcess{source, s.Name}, try: try, log: g.logger.With("server", s.Name),
		cancel: cancel, tried: make(chan struct{}), done: make(chan struct{}),
		status: upstream.Status{Name: s.Name, State: upstream.Connecting, Transport: s.Transport},
	}
	go c.run(ctx)
	return c, nil
}

// How long after a failure a server is asked again.
const (
	firstRetry   = time.Second
	longestRetry = 5 * time.Minute
	checkAgain   = 5 * time.Minute // after it was ready
)

// run asks whether the server can be used: often until it can, then now and then. It logs
// each new failure.
func (c *sourceConnection) run(ctx context.Context) {
	defer close(c.done)
	first := sync.OnceFunc(func() { close(c.tried) })
	defer first()
	told, wait := "unknown", firstRetry
	for {
		began := time.Now()
		err := c.check(ctx)
		if ctx.Err() != nil {
			return
		}
		next := wait
		if err == nil {
			next, wait = checkAgain, firstRetry
		} else {
			wait = min(2*wait, longestRetry)
		}
		c.publish(err, time.Since(began), next)
		first()
		switch now := errText(err); {
		case now == told:
		case err == nil:
			c.log.Info("server is ready", "transport", c.status.Transport, "tools", c.Status().Tools)
			told = now
		default:
			c.log.Warn("server cannot be used; its tools return the reason", "err", err)
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

func (c *sourceConnection) publish(err error, took, wait time.Duration) {
	c.mu.Lock()
	s := &c.status
	s.State, s.Took, s.Err, s.Retry = upstream.Ready, took, nil, time.Time{}
	if err != nil {
		s.State, s.Err, s.Retry = upstream.Failed, fmt.Errorf("server %q: %w", c.name, err), time.Now().Add(wait)
	}
	c.mu.Unlock()
	c.checks.Notify(toolpost.Event{})
}

// check asks the source. One that panics must not end the other servers.
func (c *sourceConnection) check(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return c.try(ctx)
}

// Watch calls f with what the source reports, and after each check.
func (c *sourceConnection) Watch(f func(toolpost.Event)) (stop func()) {
	stopSource, stopChecks := c.inProcess.Watch(f), c.checks.Watch(f)
	return func() {
		stopSource()
		stopChecks()
	}
}

// Status implements connection.
func (c *sourceConnection) Status() upstream.Status {
	tools := c.inProcess.Status().Tools
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Tools = tools
	return s
}

// Ready implements connection.
func (c *sourceConnection) Ready(ctx context.Context) error {
	select {
	case <-c.tried:
		return c.Status().Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements connection.
func (c *sourceConnection) Close() error {
	c.cancel()
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.State, c.status.Retry = upstream.Closed, time.Time{}
	return nil
}
