package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// Limits of the processes that one server has for sessions or clients.
const (
	mostProcesses = 32
	idleProcess   = 30 * time.Minute // without a call, unless the configuration sets another time
)

// A pool is a server with a process for each client session, or for each client.
// One more process lists what the server offers.
type pool struct {
	toolpost.Source // what lists offers, with handlers of the pool
	lists           connection
	server          *config.Server
	idle            time.Duration
	events          toolpost.Watchers // of the notifications of the other processes
	start           func() (connection, error)
	checkPin        pinCheck

	mu       sync.Mutex
	sessions map[toolpost.Owner]*process
	closed   bool
	closing  sync.WaitGroup
}

// A process serves one session or client.
type process struct {
	connection
	calls int
	used  time.Time
	idle  *time.Timer
}

// processOf identifies the process that runs a call. A client that is not known
// has one for each session.
func processOf(s *config.Server, call *toolpost.Call) toolpost.Owner {
	if s.Share == config.PerClient && call.Party != "" {
		return toolpost.Owner{Party: call.Party}
	}
	return clientOf(call)
}

// newPool starts the process that lists.
func newPool(s *config.Server, start starter, opts *upstream.Options, checkPin pinCheck) (connection, error) {
	lists, err := start(&s.Config, opts)
	if err != nil {
		return nil, err
	}
	p := &pool{lists: lists, server: s, idle: cmp.Or(s.Idle, idleProcess), sessions: map[toolpost.Owner]*process{}, checkPin: checkPin}
	own := *opts
	own.Known, own.StartDelay = nil, 0 // a call waits for the process of its session
	p.start = func() (connection, error) {
		up, err := start(&s.Config, &own)
		if err == nil {
			up.Watch(func(e toolpost.Event) {
				if e.Notification != nil {
					p.events.Notify(e)
				}
			})
		}
		return up, err
	}
	p.Source = toolpost.Layer(toolpost.Map(lists, p.tool), nil, p.features)
	return p, nil
}

// Status is that of the process that lists.
func (p *pool) Status() upstream.Status { return p.lists.Status() }

// Known is that of the process that lists.
func (p *pool) Known() *upstream.Known {
	return (&link{up: p.lists}).known()
}

// Watch calls f with the events of the process that lists, and with the
// notifications of all processes.
func (p *pool) Watch(f func(toolpost.Event)) (stop func()) {
	lists, others := p.lists.Watch(f), p.events.Watch(f)
	return func() { lists(); others() }
}

// tool returns t with a handler that runs calls in the process of their session.
func (p *pool) tool(t *toolpost.Tool) *toolpost.Tool {
	t.Handler = p.handler(func(ctx context.Context, up connection, call *toolpost.Call) (*toolpost.Result, error) {
		return callWhenReady(ctx, up, call, p.checkPin)
	})
	return t
}

// features returns what is listed with such handlers.
func (p *pool) features(listed *toolpost.Features) *toolpost.Features {
	f := *listed
	f.Prompts, f.Resources = nil, nil
	for _, item := range listed.Prompts {
		c := *item
		c.Get = p.featured(c.Get, func(f *toolpost.Features) toolpost.Handler { return promptOf(f, item.Name).Get })
		c.Complete = p.featured(c.Complete, func(f *toolpost.Features) toolpost.Handler { return promptOf(f, item.Name).Complete })
		f.Prompts = append(f.Prompts, &c)
	}
	for _, item := range listed.Resources {
		c := *item
		c.Read = p.featured(c.Read, func(f *toolpost.Features) toolpost.Handler { return resourceOf(f, item).Read })
		c.Complete = p.featured(c.Complete, func(f *toolpost.Features) toolpost.Handler { return resourceOf(f, item).Complete })
		f.Resources = append(f.Resources, &c)
	}
	f.Extend = p.featured(f.Extend, func(f *toolpost.Features) toolpost.Handler { return f.Extend })
	f.Notified = p.notified
	return &f
}

// notified passes a notification to the process of its session, if it has one.
func (p *pool) notified(call *toolpost.Call) {
	p.mu.Lock()
	own := p.sessions[processOf(p.server, call)]
	p.mu.Unlock()
	if own == nil {
		return
	}
	if f := own.Features(); f != nil && f.Notified != nil {
		f.Notified(call)
	}
}

func promptOf(f *toolpost.Features, name string) *toolpost.Prompt {
	for _, p := range f.Prompts {
		if p.Name == name {
			return p
		}
	}
	return &toolpost.Prompt{}
}

func resourceOf(f *toolpost.Features, like *toolpost.Resource) *toolpost.Resource {
	for _, r := range f.Resources {
		if r.URI == like.URI && r.Template == like.Template {
			return r
		}
	}
	return &toolpost.Resource{}
}

// featured returns a handler that does what h does, in the process of the session.
func (p *pool) featured(h toolpost.Handler, find func(*toolpost.Features) toolpost.Handler) toolpost.Handler {
	if h == nil {
		return nil
	}
	return p.handler(func(ctx context.Context, up connection, call *toolpost.Call) (*toolpost.Result, error) {
		if err := up.Ready(ctx); err != nil {
			return nil, err
		}
		h := find(up.Features())
		if h == nil {
			return nil, fmt.Errorf("%s: %w", call.Name, toolpost.ErrNotFound)
		}
		return h(ctx, call)
	})
}

// handler runs calls in the process of their session.
func (p *pool) handler(run func(context.Context, connection, *toolpost.Call) (*toolpost.Result, error)) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		own, err := p.acquire(ctx, call)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, toolpost.Failed("server %q: %v", p.server.Name, err)
		}
		defer p.release(own)
		return run(ctx, own, call)
	}
}

// acquire returns the process of the call's session, until release. The context of a
// call has ended when its session has, so that no process is started that nothing ends.
func (p *pool) acquire(ctx context.Context, call *toolpost.Call) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.closed:
		return nil, errors.New("it was closed")
	}
	key := processOf(p.server, call)
	own := p.sessions[key]
	if own == nil {
		if len(p.sessions) >= mostProcesses && !p.endOldest() {
			return nil, fmt.Errorf("it runs %d processes, as its share is %q, which is the limit, and all have calls under way; call again later", mostProcesses, p.server.Share)
		}
		up, err := p.start()
		if err != nil {
			return nil, err
		}
		own = &process{connection: up}
		own.idle = time.AfterFunc(p.idle, func() { p.endIdle(key, own) })
		p.sessions[key] = own
	}
	own.calls++
	own.idle.Stop()
	return own, nil
}

func (p *pool) release(own *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own.used = time.Now()
	if own.calls--; own.calls == 0 && !p.closed {
		own.idle.Reset(p.idle)
	}
}

func (p *pool) endIdle(key toolpost.Owner, own *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if own.calls == 0 && p.sessions[key] == own {
		p.end(key)
	}
}

// endOldest ends the process that was used least recently, unless all have
// calls under way. The caller holds the mutex.
func (p *pool) endOldest() bool {
	oldest, found := toolpost.Owner{}, false
	for key, own := range p.sessions {
		if own.calls == 0 && (!found || own.used.Before(p.sessions[oldest].used)) {
			oldest, found = key, true
		}
	}
	if found {
		p.end(oldest)
	}
	return found
}

// end ends the process of a session. The caller holds the mutex.
func (p *pool) end(key toolpost.Owner) {
	own := p.sessions[key]
	if own == nil {
		return
	}
	delete(p.sessions, key)
	own.idle.Stop()
	p.closing.Go(func() { _ = end(own.connection) }) // never fails
}

// SessionEnded ends the process of a session. Those of clients end when they are
// idle.
func (p *pool) SessionEnded(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.end(toolpost.Owner{Session: session})
	}
}

// RootsChanged implements what [Gateway.RootsChanged] looks for.
func (p *pool) RootsChanged(session string) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.sessions))
	p.mu.Unlock()
	for _, own := range all { // each knows whether it is that of this session
		if up, ok := own.connection.(interface{ RootsChanged(session string) }); ok {
			up.RootsChanged(session)
		}
	}
}

// Close ends all processes.
func (p *pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for key := range p.sessions {
		p.end(key)
	}
	p.mu.Unlock()
	err := end(p.lists)
	p.closing.Wait()
	return err
}

// SessionEnded releases what servers hold for a client's session.
func (g *Gateway) SessionEnded(session string) {
	g.tasks.forget(toolpost.Owner{Session: session})
	for _, m := range g.current() {
		if up, ok := m.up.(interface{ SessionEnded(session string) }); ok {
			up.SessionEnded(session)
		}
	}
}
