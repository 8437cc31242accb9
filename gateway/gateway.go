// Package gateway joins servers, and toolsets of this program, into one toolset that
// follows them: it decides the names of tools, applies filters and approvals, and gives
// each client a view.
//
//	toolpost.json ── config.Load ──▶ config.Config ── Start, Reload ──▶ Gateway ── Views ──▶ mcpserver
//	                                                                       └── Snapshot
//
// A Gateway applies most keys of the configuration file by itself: servers with their
// tools and approvals, profiles, dialects, quiet and search. The others need an option,
// or the program, as package serve does it:
//
//	access, token          package serve checks the tokens of requests; nothing here does
//	limits                 Options.Limits; package serve has what applies them
//	audit                  audit.Open with cfg.Audit: its Around in Options.Around, its Observe in mcpserver
//	output                 Options.Store
//	lock, newTools         Options.Pins; without it, servers may change their tools
//	type "redmine"         Options.OpenSource; without it, such a server is not started
//	auth                   Options.Credentials; without it, a server that has the key is not started
//	${file:…}, ${cmd:…}    Options.Resolve; without it, a server that needs such a secret is not started
//
// [Start] refuses a configuration with a key on which security depends, if nothing
// applies it; the others are Findings. A program names in Options.Applied what it
// applies itself. Package serve also refuses the file of a foreign folder that the user has
// not approved: Start starts all servers.
package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/upstream"
)

// A Gateway manages its upstreams. It is their joined toolset, which follows them. All
// methods may be called concurrently.
type Gateway struct {
	ctx     context.Context // of the gateway's life
	cancel  context.CancelFunc
	logger  *slog.Logger
	options *Options
	start   starter
	opts    upstream.Options // of the links to servers
	shared
	live    *toolpost.Live
	views   *Views
	wake    signal        // something changed
	events  toolpost.Base // what servers report, as clients know it
	running sync.WaitGroup

	work     sync.Mutex // held while the gateway is changed and watchers are called
	watchers map[*func(*Snapshot)]bool

	lists     // of all clients but those with lists of their own
	cfg       *config.Config
	unapplied []toolpost.Finding // keys of cfg that nothing applies
	added     []*member          // by Add; also in members
	snapshot  *Snapshot          // guarded by mu
	pins      *pinboard          // nil if nothing is pinned
	memory    *memory
	outputs   *output.Cache    // shortens what tools return; nil if nothing does
	layers    toolpost.Toolset // what clients get
}

// A Snapshot is the state of the gateway at one moment.
type Snapshot struct {
	Status   []upstream.Status
	Withheld []WithheldTool     // tools that clients do not get until the user approves their definitions
	Findings []toolpost.Finding // name collisions, skipped tools, names that clients refuse
}

// drainTime is how long calls of a removed server may go on.
const drainTime = 30 * time.Second

// Start starts every server of cfg and returns immediately. Servers that are
// ready are served while others connect; those that fail are tried again. Only
// the values of ctx are used: Close ends the gateway.
func Start(ctx context.Context, cfg *config.Config, opts *Options) (*Gateway, error) {
	return startWith(ctx, cfg, opts, startUpstream)
}

func startWith(ctx context.Context, cfg *config.Config, opts *Options, start starter) (*Gateway, error) {
	if opts == nil {
		opts = &Options{}
	}
	g := &Gateway{logger: opts.Logger, start: start, shared: shared{tasks: newTasks(), login: opts.Login, configured: new(atomic.Pointer[configuredSteps])}, wake: newSignal(), watchers: map[*func(*Snapshot)]bool{}}
	g.options = opts
	g.approver = &approver{ask: opts.Ask}
	g.joined, g.layers = &joinResult{}, toolpost.Join()
	if g.logger == nil {
		g.logger = slog.Default()
	}
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.opts = upstream.Options{Logger: g.logger, Spool: cmp.Or(opts.Spool, os.TempDir()), Starting: opts.Starting}
	own := hidden.UpstreamOptionsOf(&g.opts)
	own.Instance, own.Budget, own.Secrets = rand.Text(), budget.New(nil, budget.Limit{Bytes: maxHeld}), secret.ValuesOf(ctx)
	if own.Secrets == nil {
		own.Secrets = secret.NewValues(secret.Hidden)
	}
	var err error
	if g.pins, err = newPinboard(g.ctx, opts.Pins, g.logger); err != nil {
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	g.memory = newMemory(opts.Catalog, g.logger)
	live, err := toolpost.NewLive(g.ctx, outermost{g})
	if err != nil {
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	g.live = live
	if g.views, err = NewViews(live, cfg, opts); err != nil {
		g.cancel()
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	g.views.gateway, g.views.servers, g.views.noted = g, &g.lists, g.wake.send
	if err := g.Reload(ctx, cfg); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.running.Go(g.follow)
	g.running.Go(func() { g.memory.follow(g.ctx) })
	if g.pins != nil && g.pins.file != nil && !g.pins.ReadOnly && !g.pins.Once {
		g.running.Go(func() { g.pins.follow(g.wake.send) })
	}
	return g, nil
}

// follow refreshes after changes, until Close.
func (g *Gateway) follow() {
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.wake:
			g.runSafely(func() {
				g.work.Lock()
				defer g.work.Unlock()
				g.refresh()
			})
		}
	}
}

// runSafely runs a part of a refresh. Whatever a server lists that makes it panic,
// the other servers go on.
func (g *Gateway) runSafely(part func()) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("panic", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	part()
}

// refresh joins the current lists of the servers and calls the watchers. The
// caller holds work.
func (g *Gateway) refresh() {
	s := &Snapshot{Status: g.Status()} // first: a server that is reported as ready has its tools listed
	g.pins.reload()
	j := join(g.ctx, g.members, globs(g.cfg.Quiet), g.memory, g.joined.served)
	j.noteUnmatchedQuiet(g.members, g.cfg)
	g.set(g.members, j)
	if err := g.live.Refresh(g.ctx); err != nil { // join lets nothing through that a Set refuses
		g.logger.Error("cannot refresh the tools", "err", err)
	}
	s.Withheld = slices.Clip(j.withheld)
	s.Findings = append(s.Findings, g.cfg.Findings...)
	for _, m := range g.members {
		if m.key != m.server.Name {
			s.Findings = append(s.Findings, toolpost.Finding{Message: fmt.Sprintf("server %q is called %q in tool names", m.server.Name, m.key)})
		}
	}
	s.Findings = slices.Concat(s.Findings, g.unapplied, j.findings)
	g.refreshSessions(j, s)
	if why := g.pins.problem(); why != "" {
		s.Findings = append(s.Findings, toolpost.Finding{Message: why})
	}
	s.Findings = append(s.Findings, g.views.findings()...)
	s.Findings = append(s.Findings, g.live.Set().Findings()...)
	g.mu.Lock()
	g.snapshot = s
	g.mu.Unlock()
	for _, m := range g.members {
		g.renew(m)
		g.memory.note(m)
	}
	g.runSafely(func() { g.views.changes.Notify(toolpost.Event{}) })
	for f := range g.watchers {
		g.runSafely(func() { (*f)(s) })
	}
}

// Tools returns the tools of all servers, as clients without a profile or dialect know them.
func (g *Gateway) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return g.live.Tools(ctx) }

// Features returns the prompts and resources of all servers.
func (g *Gateway) Features() *toolpost.Features { return g.live.Features() }

// Watch implements [toolpost.Toolset].
func (g *Gateway) Watch(f func(toolpost.Event)) (stop func()) { return g.live.Watch(f) }

// Ready waits until the lists of every server are known, or have been waited for once. A
// server whose lists are stored is not waited for; see AwaitServers.
func (g *Gateway) Ready(ctx context.Context) error {
	return g.await(ctx, func(m *member) bool { return !m.listed })
}

// AwaitServers waits until every server has connected or failed once, or until ctx
// ends. It does not wait for servers that start on demand.
func (g *Gateway) AwaitServers(ctx context.Context) error {
	return g.await(ctx, func(*member) bool { return true })
}

// await waits until each of some servers has connected or failed once.
func (g *Gateway) await(ctx context.Context, some func(*member) bool) error {
	for _, m := range g.current() {
		if m.up != nil && some(m) {
			_ = m.up.Ready(ctx) // its status has the error
		}
	}
	g.work.Lock()
	defer g.work.Unlock()
	if ctx.Err() != nil {
		for _, m := range g.members {
			g.memory.note(m) // the time that it had
		}
		return fmt.Errorf("wait for servers: %w", context.Cause(ctx))
	}
	g.refresh()
	return nil
}

// Instances returns the value of the header Toolpost-Instance: the id of this
// gateway and those of the gateways behind its servers. An HTTP server for the
// gateway sends this header, so that a gateway does not become its own
// upstream.
func (g *Gateway) Instances() string {
	all := hidden.UpstreamOptionsOf(&g.opts).Instance
	for _, m := range g.current() {
		if up, ok := m.up.(interface{ Instances() []string }); ok {
			for _, behind := range up.Instances() {
				all += " " + behind
			}
		}
	}
	return all
}

// Live returns the Live of the joined toolset, which calls its tools.
func (g *Gateway) Live() *toolpost.Live { return g.live }

// Views returns the joined toolset as each client receives it.
func (g *Gateway) Views() *Views { return g.views }

// Status returns the state of every server, in the order of the configuration.
func (g *Gateway) Status() []upstream.Status {
	members := g.current()
	all := make([]upstream.Status, len(members))
	for i, m := range members {
		all[i] = m.status()
		all[i].Required = m.server.Required && !m.server.Disabled
	}
	return all
}

// Snapshot returns the state after the last change.
func (g *Gateway) Snapshot() *Snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.snapshot
}

// WatchSnapshot calls f now and after every change of a status, list or feature, until
// stop is called. F must return quickly. It must not call stop, and of the
// methods of g only Live, Views and Status.
func (g *Gateway) WatchSnapshot(f func(*Snapshot)) (stop func()) {
	g.work.Lock()
	defer g.work.Unlock()
	g.watchers[&f] = true
	f(g.snapshot)
	return func() {
		g.work.Lock()
		defer g.work.Unlock()
		delete(g.watchers, &f)
	}
}

// Close ends all servers in parallel. Calls in progress fail.
func (g *Gateway) Close() error {
	g.work.Lock() // a Reload under way comes first
	members := g.current()
	if g.ctx.Err() != nil {
		members = nil // closed before
	}
	g.cancel()
	g.work.Unlock()
	_ = g.views.Close() // never fails
	errs := make([]error, len(members))
	for i, m := range members {
		g.running.Go(func() { errs[i] = m.close(g.ctx) })
	}
	g.running.Wait()
	return errors.Join(errs...)
}

// A signal wakes a goroutine that receives from it. Signals that are sent before
// it receives count as one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default:
	}
}
