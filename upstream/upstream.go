package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
)

// Options are the optional parts of [Start].
type Options struct {
	Logger *slog.Logger // slog.Default() if nil

	// Spool is the folder for results above 2 MiB. Long texts of results above
	// 64 KiB are handed to [toolpost.Call.Keep]; without it, a result stays there
	// until its content is requested, or it is passed on. Empty keeps all in memory.
	Spool string

	// Known is what the server listed last, nil if that is not known. It is listed
	// until the server has listed itself.
	Known *Known

	// OnDemand leaves the server alone until a request needs it. Until then its State is
	// Waiting, what is Known is listed, and Ready does not wait for it.
	OnDemand bool

	// Resolve is called before the server is started or connected to. It returns the Args,
	// Env, Headers and Wrap to use in the place of those of the [Config], such as with
	// passwords of a keyring. While it returns the same pointer, the connections to a server
	// over HTTP are used again. Nil takes the Config as it is.
	Resolve func(ctx context.Context) (*Config, error)

	// Starting is how long, after Start, a server at an address that cannot be reached
	// counts as one that starts: Ready and calls wait for it, and it is tried again
	// without longer and longer pauses. If there is a Known list, or if this is 0, the
	// first attempt decides what Ready and calls wait for.
	Starting time.Duration

	Backoff  time.Duration // before the first new attempt to connect, then doubled up to 30 s; 0.5 s if 0
	Patience time.Duration // how long a call waits for a server that is away; 5 s if 0. For the first connection it waits six times as long
	Grace    time.Duration // how long a child may take for each step of its end; 2 s if 0

	ofGateway hidden.UpstreamOptions
}

var _ = hidden.ShareUpstream(func(options any) *hidden.UpstreamOptions { return &options.(*Options).ofGateway })

// An Upstream is one MCP server, connected in the background and connected
// again when it is lost. It is a [toolpost.Toolset].
type Upstream struct {
	cfg    Config
	opts   Options
	log    *slog.Logger
	dial   *dialer
	watch  *watch
	events toolpost.Base
	lifecycle

	mu      sync.Mutex
	now     view
	changed chan struct{} // closed when now changes

	calls   atomic.Int64 // under way
	refresh refresh
}

// A lifecycle ends an upstream, and wakes it when a call needs the server.
type lifecycle struct {
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{} // closed when everything has ended
	nudge  chan struct{} // a call wants the server now
}

// A view is an upstream at one moment.
type view struct {
	status   Status
	attempts int  // how many attempts to connect have begun
	tried    bool // the first attempt has ended
	session  *session
	listing  *listing // the last one; it outlives its session
}

// A State is where an upstream is in its life.
type State string

// States of an upstream.
const (
	Waiting    State = "waiting" // for a request, see [Options].OnDemand
	Connecting State = "connecting"
	Installing State = "installing" // its command installs packages before it starts
	Ready      State = "ready"
	Failed     State = "failed"       // it is tried again at Status.Retry
	NeedsLogin State = "login needed" // it is tried again at Status.Retry; see [LoginError]
	Closed     State = "closed"
	Disabled   State = "disabled" // by the configuration of a gateway
)

// A Status is what is known about an upstream at one moment.
type Status struct {
	Name      string
	State     State
	Transport Transport
	Package   string // what the command installs before it starts: the argument of npx, uvx and the like
	Version   string // MCP protocol version
	Server    string // name and version the server gave
	Tools     int
	Took      time.Duration // of the last connect and listing
	Err       error         // why it is not ready; says what to do
	Output    string        // the first line that it wrote and that is not MCP, while it has not answered
	Retry     time.Time     // when it is tried again
	Connects  int           // how often it has become ready
	Known     bool          // it is Waiting, and has what it listed last
	Required  bool          // its gateway is ready only while it is; set by the gateway
	Skipped   []toolpost.Finding
}

// Reason returns Err as a text that does not name the server, "" if there is none.
func (s Status) Reason() string {
	switch {
	case s.Err == nil && s.Output != "":
		return "it has not answered yet" + strayOutput(s.Output)
	case s.Err == nil:
		return ""
	}
	return strings.TrimPrefix(s.Err.Error(), fmt.Sprintf("server %q: ", s.Name))
}

// Start begins to connect to the server and returns at once. Close ends it.
func Start(cfg *Config, opts *Options) (*Upstream, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("open upstream %q: %w", cfg.Name, err)
	}
	u := &Upstream{
		cfg:       cfg.withDefaults(),
		lifecycle: lifecycle{done: make(chan struct{}), nudge: make(chan struct{}, 1)},
		changed:   make(chan struct{}),
	}
	if opts != nil {
		u.opts = *opts
	}
	u.watch = &watch{uris: map[string]bool{}, agreed: make(chan struct{}), changed: make(chan struct{}, 1), event: u.events.Notify}
	u.opts.Backoff = orDefault(u.opts.Backoff, 500*time.Millisecond)
	u.opts.Patience = orDefault(u.opts.Patience, 5*time.Second)
	u.opts.Grace = orDefault(u.opts.Grace, 2*time.Second)
	if u.log = u.opts.Logger; u.log == nil {
		u.log = slog.Default()
	}
	secrets := secretsOf(&u.cfg, u.opts.ofGateway.Secrets)
	u.log = slog.New(secret.NewHandler(u.log.With("server", u.cfg.Name).Handler(), secrets)) // the name is not hidden
	u.dial = newDialer(&u.cfg, &u.opts, u.log, secrets)
	u.dial.slow, u.dial.stray, u.dial.watch = u.noteSlowInstall, u.noteStray, u.watch
	u.now = view{status: Status{Name: u.cfg.Name, State: Connecting, Transport: u.dial.transport}, listing: &listing{features: &toolpost.Features{Proxy: toolpost.Proxy{Incomplete: true}}}}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	if k := u.opts.Known; k != nil {
		u.now.adopt(u.recall(k))
	}
	if u.opts.OnDemand {
		u.now.status.State, u.now.status.Known = Waiting, u.opts.Known != nil
	}
	go u.run()
	return u, nil
}

// Ready waits until the first attempt to connect has ended, unless the server waits for a
// request. It returns why the server is not ready.
func (u *Upstream) Ready(ctx context.Context) error {
	for {
		v, changed := u.view()
		if v.tried || v.status.State == Waiting {
			return v.status.Err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Status returns the current state.
func (u *Upstream) Status() Status {
	v, _ := u.view()
	v.status.Package = u.cfg.installed()
	return v.status
}

// Tools returns the tools of the last listing; while the server is away its
// tools stay, and their calls wait a little for it and then say what is wrong.
func (u *Upstream) Tools(context.Context) ([]*toolpost.Tool, error) {
	v, _ := u.view()
	return v.listing.tools, nil
}

// Features returns the prompts, resources and instructions of the last listing;
// they are Incomplete before the first, unless [Options].Known has them.
func (u *Upstream) Features() *toolpost.Features {
	v, _ := u.view()
	return v.listing.features
}

// Watch calls f with every event until stop is called, also when only the Status
// has changed. A notification, of an extension or a log message outside of calls,
// names the Session of the only client that has made calls over the connection, and
// none if no client or several have. F must return soon.
func (u *Upstream) Watch(f func(toolpost.Event)) (stop func()) { return u.events.Watch(f) }

// Close ends the session and the server's process group.
func (u *Upstream) Close() error {
	u.cancel()
	<-u.done
	return nil
}

func (u *Upstream) view() (view, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now, u.changed
}

// publish changes the view and wakes everybody who waits for it.
func (u *Upstream) publish(change func(*view)) {
	u.mu.Lock()
	change(&u.now)
	close(u.changed)
	u.changed = make(chan struct{})
	u.mu.Unlock()
	if u.ctx.Err() == nil {
		u.events.Notify(toolpost.Event{})
	}
}
