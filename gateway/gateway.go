// Package gateway joins servers, and toolsets of this program, into one toolset
// that follows them.
//
//	toolpost.json ── config.Load ──▶ config.Config ── Open, Reload ──▶ Gateway ── Live, Views ──▶ mcpserver
//	                                                                      └── Watch ──▶ Snapshot
//
// A Gateway applies most keys of the configuration file by itself: servers with their
// tools and approvals, profiles, dialects, quiet and search. The others need an option,
// or the program, as package serve does it:
//
//	access, token          package serve checks the tokens of requests; nothing here does
//	limits                 Options.Admit
//	audit                  Options.Middleware, and the Observe of mcpserver
//	output                 Options.Store
//	lock, newTools         Options.Pins; without it, servers may change their tools
//	auth                   Options.Credentials; without it, a server that has the key is not started
//	${file:…}, ${cmd:…}    Options.Complete; without it, a server that needs such a secret is not started
//
// [Open] refuses a configuration with a key on which security depends, if nothing
// applies it; the others are Findings. A program names in Options.Applied what it
// applies itself. Package serve also refuses the file of a foreign folder that the user has
// not approved: Open starts all servers.
package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/upstream"
)

// Options are the optional parts of [Open].
type Options struct {
	Logger  *slog.Logger
	Name    string // Name, Profile and Dialect are those of [ViewOptions]
	Profile string
	Dialect string
	Adapted func(*dialect.Adapted) // the Report of [ViewOptions]

	// Store keeps the outputs that clients are shown only in part, as
	// [config.Config].Output defines. If it is nil, all outputs are passed on in full.
	Store store.Store

	// Spool is the folder for long results until they are passed on, or are in
	// Store; [os.TempDir] if empty.
	Spool string

	Pins *Pins // nil lets servers change the definitions of their tools

	// Catalog stores what servers list, so that the next gateway lists it before
	// they have connected. Nil remembers until the gateway is closed.
	Catalog *Catalog

	// Middleware runs around every call of a tool, get of a prompt, read of a
	// resource, completion and request of an extension, such as an audit log. Call.Name is the name that
	// clients use, and the result is the server's whole one. Nil does nothing.
	Middleware func(next toolpost.Handler) toolpost.Handler

	// Ask asks the user whether a call may run that needs an approval. Nil asks the
	// caller, with an elicitation.
	Ask func(ctx context.Context, question string) (bool, error)

	// Admit runs every request to a server before an approval rule decides about it, and
	// with that before the user is asked. It is the place for limits. It runs next once,
	// or returns why not. Nil runs next.
	Admit Around

	// Around runs every request to a server: of a tool, prompt, resource, completion
	// or extension. The call has the server's own names, and Around may change its
	// Params. It runs next once, or returns why not. Nil runs next. A client's
	// request is observed by the option Observe of mcpserver.
	Around Around

	// Credentials returns the [upstream.Config].Wrap of a server over HTTP, such as
	// the one that adds the token of a login. The server's own Wrap, if it has one,
	// is in the configuration that it gets. Nil adds none.
	Credentials func(*upstream.Config) func(base *http.Transport) http.RoundTripper

	// Login logs in to a server over HTTP for a call that needs it; see [LoginFunc]. It
	// is called for calls of clients that declared that they can show the page of a
	// login (URL mode elicitation). Nil leaves such calls with their error.
	Login LoginFunc

	// Starting is how long a server at an address that cannot be reached counts as one
	// that starts; see [upstream.Options].
	Starting time.Duration

	// Complete reads the secrets that values of servers refer to; see
	// [config.Reference]. With nil, servers that have such a value fail.
	Complete config.Completer

	// Applied names the keys of the configuration file that the program applies itself:
	// access, audit, limits, token, newTools, lock, output. Open refuses a configuration
	// that sets one of the first five if nothing applies it.
	Applied []string

	// Secrets are the secrets that are known in this process; see [upstream.Options].
	// Those of each server are added when it starts. It may be nil.
	Secrets *secret.Values
}

// An Around runs a request to a server, or refuses it; see [Options].
type Around func(ctx context.Context, to *observe.Target, call *toolpost.Call, next toolpost.Handler) (*toolpost.Result, error)

// Arounds returns an Around that runs each of the functions around the next one. It
// is nil if there is none.
func Arounds(all ...Around) Around {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	first, rest := all[0], Arounds(all[1:]...)
	return func(ctx context.Context, to *observe.Target, call *toolpost.Call, next toolpost.Handler) (*toolpost.Result, error) {
		return first(ctx, to, call, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return rest(ctx, to, call, next)
		})
	}
}

// A Gateway manages its upstreams and their joined toolset.
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
	wake    signal            // something changed
	events  toolpost.Watchers // what servers report, as clients know it
	running sync.WaitGroup

	work     sync.Mutex // held while the gateway is changed and watchers are called
	watchers map[*func(*Snapshot)]bool

	lists    // of all clients but those with lists of their own
	cfg      *config.Config
	added    []*member // by Add; also in members
	snapshot *Snapshot // guarded by mu
	pins     *pinboard // nil if nothing is pinned
	memory   *memory
	outputs  *output.Cache   // shortens what tools return; nil if nothing does
	layers   toolpost.Source // what clients get
}

// A Snapshot is the state of the gateway at one moment.
type Snapshot struct {
	Status   []upstream.Status
	Withheld []WithheldTool     // tools that clients do not get until the user approves their definitions
	Findings []toolpost.Finding // name collisions, skipped tools, names that clients refuse
}

// drainTime is how long calls of a removed server may go on.
const drainTime = 30 * time.Second

// Open starts every server of cfg and returns immediately. Servers that are
// ready are served while others connect; those that fail are tried again. Only
// the values of ctx are used: Close ends the gateway.
func Open(ctx context.Context, cfg *config.Config, opts *Options) (*Gateway, error) {
	return open(ctx, cfg, opts, startUpstream)
}

func open(ctx context.Context, cfg *config.Config, opts *Options, start starter) (*Gateway, error) {
	if opts == nil {
		opts = &Options{}
	}
	g := &Gateway{logger: opts.Logger, start: start, shared: shared{tasks: newTasks(), admit: opts.Admit, around: opts.Around, login: opts.Login}, wake: newSignal(), watchers: map[*func(*Snapshot)]bool{}}
	g.options = opts
	g.approver = &approver{ask: opts.Ask}
	g.joined, g.layers = &joined{}, toolpost.Join()
	if g.logger == nil {
		g.logger = slog.Default()
	}
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.opts = upstream.Options{Logger: g.logger, Instance: rand.Text(), Spool: cmp.Or(opts.Spool, os.TempDir()), Complete: orNoSecrets(opts.Complete), Secrets: opts.Secrets, Credentials: opts.Credentials, Starting: opts.Starting, Budget: budget.New(nil, budget.Limit{Bytes: maxHeld})}
	var err error
	if g.pins, err = newPinboard(g.ctx, opts.Pins, g.logger); err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	g.memory = newMemory(opts.Catalog, g.logger)
	live, err := toolpost.NewLive(g.ctx, outermost{g})
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	g.live = live
	viewed := &ViewOptions{Logger: g.logger, Name: opts.Name, Profile: opts.Profile, Dialect: opts.Dialect, Report: opts.Adapted}
	if g.views, err = NewViews(live, cfg, viewed); err != nil {
		g.cancel()
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	g.views.servers, g.views.noted = &g.lists, g.wake.send
	if err := g.Reload(ctx, cfg); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.running.Go(g.follow)
	g.running.Go(func() { g.memory.follow(g.ctx) })
	if g.pins != nil && g.pins.file != nil && !g.pins.ReadOnly {
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
			g.safely(func() {
				g.work.Lock()
				defer g.work.Unlock()
				g.refresh()
			})
		}
	}
}

// safely runs a part of a refresh. Whatever a server lists that makes it panic,
// the other servers go on.
func (g *Gateway) safely(part func()) {
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
	unapplied, _ := g.options.unapplied(g.cfg) // an error was returned before
	s.Findings = slices.Concat(s.Findings, unapplied, j.findings)
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
	for f := range g.watchers {
		g.safely(func() { (*f)(s) })
	}
}

// Ready waits until every server has connected or failed once, or until ctx
// ends.
func (g *Gateway) Ready(ctx context.Context) error {
	return g.await(ctx, func(*member) bool { return true })
}

// await waits until each of some servers has connected or failed once.
func (g *Gateway) await(ctx context.Context, some func(*member) bool) error {
	for _, m := range g.current() {
		if m.up != nil && some(m) {
			_ = m.up.Ready(ctx) // its status has the error
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("wait for servers: %w", context.Cause(ctx))
	}
	g.work.Lock()
	defer g.work.Unlock()
	g.refresh()
	return nil
}

// RootsChanged notifies the servers that the roots of the client with this
// [toolpost.Call.Session] have changed.
func (g *Gateway) RootsChanged(session string) {
	for _, m := range g.current() {
		if up, ok := m.up.(interface{ RootsChanged(session string) }); ok {
			up.RootsChanged(session)
		}
	}
}

// Live returns the joined toolset, which is kept up to date.
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

// Watch calls f now and after every change of a status, list or feature, until
// stop is called. F must return quickly. It must not call stop, and of the
// methods of g only Live, Views and Status.
func (g *Gateway) Watch(f func(*Snapshot)) (stop func()) {
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

// sameConnection reports whether b can use a's connection.
func sameConnection(a, b config.Server) bool {
	if (a.Wrap == nil) != (b.Wrap == nil) {
		return false
	}
	a.Wrap, b.Wrap = nil, nil // functions cannot be compared
	return reflect.DeepEqual(a.Config, b.Config) && reflect.DeepEqual(a.Redmine, b.Redmine) && cmp.Or(a.Share, config.Auto) == cmp.Or(b.Share, config.Auto) && a.Idle == b.Idle && a.Disabled == b.Disabled && a.Err == nil && b.Err == nil
}

// sameServer reports whether two entries with the same connection say the same.
func sameServer(a, b config.Server) bool {
	a.Wrap, b.Wrap = nil, nil // functions cannot be compared
	return reflect.DeepEqual(a, b)
}
