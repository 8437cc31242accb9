package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// A process is one process of a pool, or one connection. Its pool's mutex guards all
// that changes.
type process struct {
	connection
	source toolpost.Toolset // what the connection lists, with handlers of the pool
	stop   func()           // ends watching the connection

	first    clientKey       // that used it
	used     bool            // by a client
	several  bool            // other clients than the first used it too
	visited  bool            // by sessions
	sessions map[string]bool // those that use it and have not ended
	differs  comparison      // with what home lists

	listsShown bool // its sessions get its lists
	spent      bool // it gets no calls of clients any more
	calls      int
	last       time.Time // end of the last call
	idle       *time.Timer
}

// isSettled reports whether the server has answered all calls of clients.
func (own *process) isSettled() bool {
	up, ok := own.connection.(interface{ Settled() bool })
	return !ok || up.Settled()
}

func (own *process) known() *upstream.Known { return (&link{up: own.connection}).known() }

// A processNote is where a call notes which process served it; see [link.noteProcess].
type processNote struct{ process *process }

type (
	servedKey    struct{}
	preferredKey struct{}
)

// noteProcess returns a context in which a pool notes the process of a call. Only of
// clients without sessions it would not be known otherwise.
func (l *link) noteProcess(ctx context.Context, call *toolpost.Call) context.Context {
	if _, ok := l.up.(*pool); ok && isStateless(call) {
		return context.WithValue(ctx, servedKey{}, &processNote{})
	}
	return ctx
}

// processOf returns the process that serves, or has served, a call: nil if the server
// has only one.
func (l *link) processOf(ctx context.Context, call *toolpost.Call) *process {
	if s, ok := ctx.Value(servedKey{}).(*processNote); ok && s.process != nil {
		return s.process
	}
	if p, ok := l.up.(*pool); ok {
		return p.processOf(call)
	}
	return nil
}

// newProcess starts a process. Its client is the only one that will use it, nil if that
// is not known. The caller holds the mutex.
func (p *pool) newProcess(opts upstream.Options, client *hidden.Introduction) (*process, error) {
	own := &process{sessions: map[string]bool{}}
	more := hidden.UpstreamOptionsOf(&opts)
	more.Client, more.OneClient = client, func(refused bool) { p.noteAsks(own, refused) }
	up, err := p.start(&p.server.Config, &opts)
	if err != nil {
		return nil, err
	}
	own.connection = up
	known := map[*toolpost.Tool]*toolpost.Tool{} // of the last listing, so that tools stay the same
	tools := func(listed []*toolpost.Tool) ([]*toolpost.Tool, error) {
		now := make(map[*toolpost.Tool]*toolpost.Tool, len(listed))
		shown := make([]*toolpost.Tool, len(listed))
		for i, t := range listed {
			if shown[i] = known[t]; shown[i] == nil {
				shown[i] = p.tool(own, t)
			}
			now[t] = shown[i]
		}
		known = now
		return shown, nil
	}
	features := func(f *toolpost.Features) *toolpost.Features { return p.features(own, f) }
	own.source = toolpost.Layer(up, tools, features)
	own.idle = time.AfterFunc(p.idle, func() { p.endIdle(own) })
	own.stop = up.Watch(func(e toolpost.Event) { p.event(own, e) })
	return own, nil
}

// tool returns t, as a process lists it, with a handler that runs calls in the process
// of their client.
func (p *pool) tool(lister *process, t *toolpost.Tool) *toolpost.Tool {
	if t == nil || t.Handler == nil {
		return t
	}
	c, h := *t, t.Handler
	c.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		own, err := p.lease(ctx, call)
		if err != nil {
			return nil, err
		}
		defer p.release(own)
		if own == lister {
			return h(ctx, call)
		}
		return callWhenReady(ctx, own.connection, call, p.checkPin)
	}
	return &c
}

// callTime is how long a call waits for a process that was started for its session.
const callTime = 30 * time.Second

// callWhenReady calls a tool of a process that was started for the client of the call.
// A tool that is not known to exist there waits for what the process lists.
func callWhenReady(ctx context.Context, up connection, call *toolpost.Call, checkPin pinCheck) (*toolpost.Result, error) {
	t := findTool(ctx, up, call.Name)
	if t == nil {
		within, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		_ = up.Ready(within) // the status below has the reason if the server is not ready
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if t = findTool(ctx, up, call.Name); t == nil {
			return nil, missingToolError(up.Status(), call.Name, within.Err() != nil)
		}
	}
	if err := checkPin(t); err != nil {
		return nil, err
	}
	return t.Handler(ctx, call)
}

func findTool(ctx context.Context, up connection, name string) *toolpost.Tool {
	tools, _ := up.Tools(ctx) // its status has the error
	for _, t := range tools {
		if t != nil && t.Name == name {
			return t
		}
	}
	return nil
}

// missingToolError returns the reason why the process of a client has no tool of a name.
func missingToolError(s upstream.Status, tool string, late bool) error {
	switch {
	case s.Err != nil:
		_, login := errors.AsType[*upstream.LoginError](s.Err)
		return &toolpost.UnavailableError{Text: s.Err.Error(), Login: login}
	case s.State != upstream.Ready && late:
		return &toolpost.UnavailableError{Timeout: true, Text: fmt.Sprintf("server %q has not answered within %v; it is still %s. The call was not carried out; call again later", s.Name, callTime, s.State)}
	}
	return toolpost.Failed.Errorf("server %q has no tool %q in the process of this session, so it cannot be called here; use another tool", s.Name, tool)
}

// features returns what a process lists with such handlers.
func (p *pool) features(lister *process, listed *toolpost.Features) *toolpost.Features {
	f := *listed
	f.Prompts, f.Resources = nil, nil
	for _, item := range listed.Prompts {
		c := *item
		c.Get = p.routeFeature(lister, c.Get, func(f *toolpost.Features) toolpost.Handler { return promptOf(f, item.Name).Get })
		c.Complete = p.routeFeature(lister, c.Complete, func(f *toolpost.Features) toolpost.Handler { return promptOf(f, item.Name).Complete })
		f.Prompts = append(f.Prompts, &c)
	}
	for _, item := range listed.Resources {
		c := *item
		c.Read = p.routeFeature(lister, c.Read, func(f *toolpost.Features) toolpost.Handler { return resourceOf(f, item).Read })
		c.Complete = p.routeFeature(lister, c.Complete, func(f *toolpost.Features) toolpost.Handler { return resourceOf(f, item).Complete })
		f.Resources = append(f.Resources, &c)
	}
	f.ReadUnlisted = p.routeFeature(lister, f.ReadUnlisted, func(f *toolpost.Features) toolpost.Handler { return f.ReadUnlisted })
	f.Extend = p.routeFeature(lister, f.Extend, func(f *toolpost.Features) toolpost.Handler { return f.Extend })
	if f.Notified != nil {
		f.Notified = p.forwardNotification
	}
	if f.Subscribe != nil {
		f.Subscribe = func(ctx context.Context, uri string, on bool) error { return p.subscribe(ctx, lister, uri, on) }
	}
	return &f
}

// routeFeature returns a handler that does what h does, in the process of the client.
func (p *pool) routeFeature(lister *process, h toolpost.Handler, find func(*toolpost.Features) toolpost.Handler) toolpost.Handler {
	if h == nil {
		return nil
	}
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		own, err := p.lease(ctx, call)
		if err != nil {
			return nil, err
		}
		defer p.release(own)
		if own == lister {
			return h(ctx, call)
		}
		h := find(featuresOf(own))
		if h == nil {
			if err := own.Ready(ctx); err != nil {
				return nil, err
			}
			h = find(featuresOf(own))
		}
		if h == nil {
			return nil, fmt.Errorf("%s: %w", call.Name, toolpost.ErrNotFound)
		}
		return h(ctx, call)
	}
}

func featuresOf(own *process) *toolpost.Features {
	if f := own.connection.Features(); f != nil {
		return f
	}
	return &toolpost.Features{}
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

// lease returns the process in which a call runs, until release.
func (p *pool) lease(ctx context.Context, call *toolpost.Call) (*process, error) {
	own, err := p.acquire(ctx, call)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, toolpost.Failed.Errorf("server %q: %v", p.server.Name, err)
	}
	if isStateless(call) {
		if s, ok := ctx.Value(servedKey{}).(*processNote); ok {
			s.process = own
		}
	}
	return own, nil
}

// forwardNotification passes a notification of a client to its process, if it has one.
func (p *pool) forwardNotification(call *toolpost.Call) {
	if own := p.processOf(call); own != nil {
		if f := featuresOf(own); f.Notified != nil {
			f.Notified(call)
		}
	}
}

// subscribe begins or ends updates of a resource, in the process that lists it. One that
// takes the place of home subscribes again.
func (p *pool) subscribe(ctx context.Context, lister *process, uri string, on bool) error {
	p.mu.Lock()
	shared := p.isHome(lister) || !p.runs(lister)
	if shared {
		lister = p.home
	}
	p.mu.Unlock()
	subscribe := featuresOf(lister).Subscribe
	if subscribe == nil {
		return fmt.Errorf("watch resource %s: %w", uri, toolpost.ErrNotFound)
	}
	if err := subscribe(ctx, uri, on); err != nil || !shared {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.watched[uri] = true
	} else {
		delete(p.watched, uri)
	}
	return nil
}
