// Package serve is a safe endpoint over a gateway, which is "toolpost serve" without its
// command line: it checks tokens and logins of callers, answers probes, and follows
// changes of the configuration.
//
//	toolpost.json ── Load ──▶ config.Config ── Open ──▶ Endpoint ── Serve, ServeStdio ──▶ clients
//	                                                       └──▶ View: what people see
//
//	request ─▶ Host and Origin ─▶ token, login or Authenticate ─▶ profile ─▶ mcpserver ─▶ gateway
//
// An Endpoint applies every key of the configuration file: besides what the gateway applies
// by itself, access and the tokens of profiles, limits, the audit log, pins, stored outputs,
// secrets, and logins. It decides who may call before it listens, and refuses to listen
// beyond this machine without a token. It follows the file: what the user has not approved
// waits. It answers probes at /healthz and /readyz, and its owner at /status.
//
// The owner's token, approvals, secrets, named tokens and logins are those of the commands
// "toolpost token", "trust", "secret" and "login".
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/policy/limit"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/serve/internal/monitor"
	"github.com/toolpost/toolpost/telemetry"
	"github.com/toolpost/toolpost/upstream"
)

// An Endpoint serves a gateway, or a toolset of this program. It is safe for concurrent
// use.
type Endpoint struct {
	options  Options
	running  context.Context // of requests and of all that runs until Close
	waiting  context.Context // ends before, so that nobody waits for servers any more
	log      *slog.Logger    // without known secrets
	listener *listener       // nil for Stdio
	admin    *listener       // of metrics; nil if there are none
	access   *access
	mcp      *mcpserver.Server
	live     *toolpost.Live
	views    *gateway.Views
	gateway  *gateway.Gateway         // nil for OpenTools
	status   func() []upstream.Status // of gateway
	snapshot func() *gateway.Snapshot // of gateway

	monitor   *monitor.Monitor   // what "toolpost top" shows
	observers []observe.Observer // of clients' requests, the outermost first
	around    []gateway.Around   // of requests to servers, the outermost first
	metrics   *telemetry.Metrics // nil unless they are served
	limits    *limit.Limits      // of requests to servers; nil for OpenTools
	audited   *audit.Options     // which calls are recorded; nil for none
	recorder  Recorder           // nil if nothing is recorded
	run       *owner.Run         // as the user's commands find it; may be nil
	applied   atomic.Value       // the fingerprint of the configuration that is served; "" if a part of it is not
	secrets   *owner.Secrets     // it has the known secrets, which are hidden in all that is written

	endWaiting context.CancelFunc
	closing    sync.Once
	closer     []func() error // last first
}

// Open listens, decides who may call, and starts the servers of a configuration. It returns
// before they have connected. Serve or ServeStdio answers clients, and Close ends all. If
// ctx is done, Open does not wait for secrets any longer; after it, only the values of ctx
// are used. A change of the configuration's file replaces what the program has set in cfg,
// but for the audit log, which stays as it was opened.
func Open(ctx context.Context, cfg *config.Config, opts *Options) (*Endpoint, error) {
	return open(ctx, cfg, opts, func(e *Endpoint) error { return e.openServers(ctx, cfg) })
}

// OpenTools is Open for a toolset of this program in the place of a configuration.
func OpenTools(ctx context.Context, tools toolpost.Toolset, opts *Options) (*Endpoint, error) {
	return open(ctx, nil, opts, func(e *Endpoint) error { return e.openTools(tools) })
}

func open(ctx context.Context, cfg *config.Config, opts *Options, start func(*Endpoint) error) (*Endpoint, error) {
	e := newEndpoint(ctx, opts)
	if err := e.open(cfg, start); err != nil {
		_ = e.Close() // it logs its error
		return nil, err
	}
	return e, nil
}

func newEndpoint(ctx context.Context, opts *Options) *Endpoint {
	e := &Endpoint{secrets: owner.NewSecrets()}
	if opts != nil {
		e.options = *opts
	}
	o := &e.options
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	e.monitor = monitor.New(e.secrets.Known)
	e.observers = append(e.observers, e.monitor.Observe)
	e.log = slog.New(secret.NewHandler(e.monitor.Log(o.Logger.Handler()), e.secrets.Known))
	if o.View == nil {
		o.View = NewLogView(e.log)
	}
	// The signal that asks the endpoint to stop does not cut off requests under way.
	running := new(dep.Scope).Open(dep.Logger.With(context.WithoutCancel(ctx), e.log), dep.PerProcess)
	e.running = running
	e.waiting, e.endWaiting = context.WithCancel(running)
	e.closer = append(e.closer, running.Close)
	return e
}

func (e *Endpoint) open(cfg *config.Config, start func(*Endpoint) error) (err error) {
	if !e.options.Stdio {
		if e.listener, err = listen(cmp.Or(e.options.Addr, owner.DefaultAddress)); err != nil {
			return err
		}
		e.closer = append(e.closer, func() error { _ = e.listener.Close(); return nil }) // the server may have closed it
	}
	if err := e.startTelemetry(); err != nil {
		return err
	}
	if err := errors.Join(e.openAudit(cfg), e.openRecorder(cfg)); err != nil {
		return err
	}
	if err := start(e); err != nil {
		return err
	}
	if !e.options.Stdio && e.options.Authenticate == nil {
		e.followTokens() // before a listener asks who may call
	}
	return e.serveAdmin()
}

// openTools serves a toolset of this program.
func (e *Endpoint) openTools(tools toolpost.Toolset) (err error) {
	live, isLive := tools.(*toolpost.Live)
	if !isLive {
		if live, err = toolpost.NewLive(e.running, tools); err != nil {
			return err
		}
		e.closer = append(e.closer, func() error { live.Close(); return nil })
	}
	access, err := e.options.decide(e.listener, cmp.Or(e.options.Risk, riskOf(live)))
	if err != nil {
		return err
	}
	e.admit(access)
	if access.token == "" && !access.always {
		if live, err = toolpost.NewLive(e.running, toolpost.Layer(live, e.withholdChanging, nil)); err != nil {
			return err
		}
		e.closer = append(e.closer, func() error { live.Close(); return nil })
	}
	e.live = live
	if e.views, err = gateway.NewViews(live, nil, &gateway.Options{Logger: e.log, Name: e.options.Name, Profile: e.options.Profile, Dialect: e.options.Dialect, Adapted: e.adaptationReporter()}); err != nil {
		return wrapUsage(err)
	}
	e.closer = append(e.closer, e.views.Close)
	e.addCacheBytes(e.options.Outputs)
	if err := e.start(live, e.serverOptions(e.options.Name)); err != nil {
		return err
	}
	e.options.View.Serving(e.Access())
	e.options.View.Settled()
	return nil
}

// riskOf describes what callers could do with tools beyond reading, "" if nothing.
func riskOf(live *toolpost.Live) string {
	tools, _ := live.Set().Tools(context.Background()) // a Set never fails
	if slices.ContainsFunc(tools, mayChange) {
		return "change what these tools change"
	}
	return ""
}

// mayChange reports whether a tool is not read-only.
func mayChange(t *toolpost.Tool) bool {
	return t.Annotations.ReadOnly == nil || !*t.Annotations.ReadOnly
}

// withholdChanging leaves out tools that are not read-only. When it was decided that
// clients need no token, there were none.
func (e *Endpoint) withholdChanging(tools []*toolpost.Tool) (reading []*toolpost.Tool, err error) {
	var withheld []string
	for _, t := range tools {
		if mayChange(t) {
			withheld = append(withheld, t.Name)
		} else {
			reading = append(reading, t)
		}
	}
	if len(withheld) > 0 {
		e.log.Warn("tools that are not read-only are withheld: they came after it was decided that clients need no token; start again, or require one", "tools", withheld)
	}
	return reading, nil
}

// openServers serves the servers of a configuration.
func (e *Endpoint) openServers(ctx context.Context, cfg *config.Config) error {
	e.secrets.Learn(cfg)
	e.applied.Store(e.fingerprint(cfg)) // before functions are added to it
	ready, err := cfg.ResolveCallers(ctx, e.secrets.Resolve)
	if err != nil {
		return err
	}
	access, err := e.options.decideLogin(e.listener, ready)
	if err != nil {
		return err
	}
	e.admit(access)
	e.access.useProfiles(ready)
	go func() { _, _ = dialect.NewBook(nil) }() // the first client needs the dialects: read them while servers start
	if e.gateway, err = gateway.Start(secret.WithValues(e.running, e.secrets.Known), cfg, e.gatewayOptions(cfg)); err != nil {
		return wrapUsage(err)
	}
	e.closer = append(e.closer, e.gateway.Close)
	e.live, e.views, e.status, e.snapshot = e.gateway.Live(), e.gateway.Views(), e.gateway.Status, e.gateway.Snapshot
	e.recordLists()
	options := e.serverOptions(cmp.Or(e.options.Name, cfg.Name))
	options.Bridge = e.options.Bridge
	if err := e.start(e.gateway, options); err != nil {
		return err
	}
	e.noteRun(cfg)
	e.options.View.Serving(e.Access())
	e.follow(cfg)
	return nil
}

// bridgeStart is how long a bridge waits for its server to be started. Clients that
// connect to it wait as long; see [mcpserver.Options].
const bridgeStart = 20 * time.Second

// gatewayOptions have the gateway apply all keys of the configuration, with what belongs
// to the user.
func (e *Endpoint) gatewayOptions(cfg *config.Config) *gateway.Options {
	owner.UseToken(cfg)
	e.limits = limit.New(limit.Options{})
	e.around = append([]gateway.Around{e.newBreaker()}, e.around...) // a refused call is not a request to a server
	kept, spool := owner.OutputStore(e.log)
	e.addCacheBytes(kept)
	logins := owner.Logins(e.log)
	logins.Secrets = e.secrets.Known
	command := e.options.LoginCommand
	if command == nil {
		command = owner.LoginCommand(cfg.File, cfg.File != "")
	}
	o := &gateway.Options{
		Logger:     e.log,
		Name:       e.options.Name,
		Profile:    e.options.Profile,
		Dialect:    e.options.Dialect,
		Adapted:    e.adaptationReporter(),
		Store:      kept,
		Spool:      spool,
		OpenSource: e.options.OpenSource,
		Pins:       owner.Pins(cfg),
		Limits:     owner.Limits(e.limits),
		Around:     e.around,
		Middleware: e.recordMiddleware(),

		Credentials: owner.Credentials(logins, command),
		Login:       e.loginFor(logins),
		Resolve:     e.secrets.Resolve,
		Applied:     []string{"access", "audit", "limits", "token", "lock"},
	}
	if !e.options.Fresh {
		o.Catalog = owner.Catalog(cfg, e.log)
	}
	if e.options.Bridge {
		o.Starting = bridgeStart
	}
	return o
}

// reportedViews are views whose clients the program is notified of.
type reportedViews struct {
	*gateway.Views
	connected    func(observe.Client)
	sessionEnded func(session string)
}

func (v *reportedViews) View(c observe.Client) (*toolpost.Live, error) {
	if v.connected != nil {
		v.connected(c)
	}
	return v.Views.View(c)
}

func (v *reportedViews) SessionEnded(session string) {
	v.Views.SessionEnded(session)
	if v.sessionEnded != nil {
		v.sessionEnded(session)
	}
}

func (e *Endpoint) serverOptions(name string) *mcpserver.Options {
	o := &e.options
	return &mcpserver.Options{
		Name:     name,
		Version:  o.Version,
		Logger:   e.log,
		Views:    &reportedViews{e.views, o.Connected, o.SessionEnded},
		Limits:   o.Limits,
		Observe:  observe.All(e.observers...),
		Identity: identity,
		Hosts:    slices.Concat(e.listener.hosts(), e.access.hosts(), o.Hosts),
		Origins:  o.Origins,
	}
}

// start creates the MCP server.
func (e *Endpoint) start(ts toolpost.Toolset, options *mcpserver.Options) (err error) {
	if e.mcp, err = mcpserver.New(e.running, ts, options); err == nil {
		e.closer = append(e.closer, e.mcp.Close)
	}
	return err
}

// follow passes changes on: to the view, and from the file.
func (e *Endpoint) follow(cfg *config.Config) {
	stop := e.gateway.WatchSnapshot(func(snapshot *gateway.Snapshot) {
		e.options.View.Updated(snapshot)
	})
	e.closer = append(e.closer, func() error { stop(); return nil })
	go func() {
		if e.gateway.AwaitServers(e.waiting) == nil {
			e.options.View.Settled()
		}
	}()
	if cfg.File != "" {
		e.reloadOnChange(cfg)
	}
}

// Gateway returns the gateway, to which a program adds toolsets of its own. Open has decided
// before who may call: set Options.Risk or RequireToken if they can change something. It is
// nil for OpenTools.
func (e *Endpoint) Gateway() *gateway.Gateway { return e.gateway }

// Serve answers clients over HTTP until ctx is done. Then calls under way have a moment to
// end.
func (e *Endpoint) Serve(ctx context.Context) error {
	if e.listener == nil {
		return errors.New("serve: the endpoint was opened with Stdio; call ServeStdio")
	}
	return e.serveHTTP(ctx)
}

// ServeStdio answers the one client that writes to in and reads from out, until in ends or
// ctx is done.
func (e *Endpoint) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	session, cancel := context.WithCancel(e.running)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if err := e.mcp.ServeStdio(session, in, out); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve standard input and output: %w", err)
	}
	return nil
}

// Close ends the sessions, the servers, and all that the endpoint has opened. It logs what
// cannot be closed cleanly, and returns it.
func (e *Endpoint) Close() (err error) {
	e.closing.Do(func() {
		e.endWaiting()
		for i := len(e.closer) - 1; i >= 0; i-- {
			if failed := e.closer[i](); failed != nil {
				e.log.Warn("cannot close cleanly", "err", failed)
				err = errors.Join(err, failed)
			}
		}
	})
	return err
}
