package gateway

import (
	"context"
	"io"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/inflight"
	"github.com/toolpost/toolpost/upstream"
)

// A connection is what the gateway needs of an upstream.
type connection interface {
	toolpost.Toolset
	Status() upstream.Status
}

// A starter starts the connection to a server.
type starter func(*upstream.Config, *upstream.Options) (connection, error)

func startUpstream(cfg *upstream.Config, opts *upstream.Options) (connection, error) {
	u, err := upstream.Start(cfg, opts)
	if err != nil {
		return nil, err
	}
	return u, nil
}

// A member is one server of a gateway. It is immutable but for its parts.
type member struct {
	server config.Server
	key    string // the server in tool names
	prefix string
	pins   *pinboard // nil if nothing is pinned
	shared
	*link
	process *process // that it lists, of a session that has its own; nil for what the link lists

	allow, deny, extensions *regexp.Regexp
	outputs                 []*regexp.Regexp // the globs of server.Outputs
	layerState
}

// shared is what all members have in common.
type shared struct {
	tasks *tasks
	login func(context.Context, *config.Server, *toolpost.Call, time.Time) error // Options.Login

	approver   *approver
	configured *atomic.Pointer[configuredSteps]
}

// A layerState is what the layers of a member make of its tools. It is guarded by
// [Gateway].work.
type layerState struct {
	layers   toolpost.Toolset
	offered  []offer[*toolpost.Tool] // by the last listing that did not fail
	findings []toolpost.Finding      // of the last listing
	withheld []withheldTool          // tools that the last listing withheld
	denied   map[string]string       // why the approval rules deny tools of the last listing, by the server's names without hidden characters

	suspicions map[string]*suspicion // definitions of the last listing that look like attacks, by the server's name

	own    map[*toolpost.Tool]*toolpost.Tool // tools of the last listing as the server has them, by what the configuration has made of them
	hidden map[string]bool                   // the tools whose definitions have lost something, by the server's name
}

// A link is the connection of a member; it outlives changes of the member
// that do not concern it.
type link struct {
	up       connection // nil if there is none
	stop     func()     // ends watching it
	err      error      // why there is none
	checkPin pinCheck
	calls    inflight.Counter // under way
	seed     *upstream.Known  // what it was started with
	listed   bool             // clients need not wait for its lists
	started  time.Time

	mu      sync.Mutex
	watched map[string]bool // resources that are subscribed to, by URI; false if only at the link before
	linked  linkedURIs
	aliases aliases
}

// A pinCheck returns the error of a call whose server says something else about
// the tool than the one that clients were shown.
type pinCheck func(*toolpost.Tool) error

func newLink(checkPin pinCheck) *link {
	return &link{checkPin: checkPin, started: time.Now(), watched: map[string]bool{}}
}

func newMember(s config.Server, key string, l *link) *member {
	m := &member{server: s, key: key, prefix: key + "__", link: l, allow: globs(s.Allow), deny: globs(s.Deny), extensions: globs(s.Extensions)}
	if s.Prefix != nil {
		m.prefix = *s.Prefix
	}
	for _, o := range s.Outputs {
		m.outputs = append(m.outputs, globs([]string{o.Tools}))
	}
	m.hidden, m.suspicions = map[string]bool{}, map[string]*suspicion{}
	m.layers = m.chain()
	return m
}

// withProcess returns a member that lists what a process lists.
func (m *member) withProcess(own *process) *member {
	c := newMember(m.server, m.key, m.link)
	c.pins, c.process = m.pins, own
	c.shared = m.shared
	return c
}

// Prefixes returns, for each server that has a prefix and is not disabled, the
// prefix of its tools' names.
func Prefixes(c *config.Config) map[string]string {
	prefixes := map[string]string{}
	for i, key := range serverKeys(c.Servers) {
		if m := newMember(c.Servers[i], key, nil); m.prefix != "" && !m.server.Disabled {
			prefixes[m.server.Name] = m.prefix
		}
	}
	return prefixes
}

func (m *member) status() upstream.Status {
	switch {
	case m.server.Disabled:
		return upstream.Status{Name: m.server.Name, State: upstream.Disabled, Transport: m.server.Transport}
	case m.up == nil:
		return upstream.Status{Name: m.server.Name, State: upstream.Failed, Transport: m.server.Transport, Err: m.err}
	case m.process != nil:
		return m.process.Status()
	}
	return m.up.Status()
}

// transport returns how the server is reached. One whose configuration does not say
// so is reached over HTTP or SSE, which is http here.
func (m *member) transport() string {
	switch c := &m.server.Config; {
	case c.Transport == inProcessTransport, m.server.Source != nil:
		return ""
	case c.Transport != "":
		return string(c.Transport)
	case c.Command != "":
		return string(upstream.Stdio)
	}
	return string(upstream.HTTP)
}

// A lister is a server whose tools are compared with its pins, or the process of a
// session: what processes list may differ.
type lister struct {
	server  string
	process *process
}

func (m *member) lister() lister { return lister{m.server.Name, m.process} }

// claimOf returns the claim of an item of the server.
func (m *member) claimOf(kind, own, clean string) claim {
	full := m.key + "__" + clean
	return claim{
		owner:  owner{kind, m.server.Name, own},
		wanted: []string{m.prefix + clean, full, full + "_" + shortHash(m.server.Name+"\x00"+own)},
		pure:   m.prefix == m.key+"__",
	}
}

// outputLimit returns the limit of a tool's outputs: 0 for that of the file, -1
// for none.
func (m *member) outputLimit(tool string) int {
	for i, l := range m.server.Outputs {
		if match(m.outputs[i], tool) {
			return l.Chars
		}
	}
	return 0
}

// tools lists the server's tools, under its own names.
func (m *member) tools(ctx context.Context) ([]*toolpost.Tool, error) {
	if m.up == nil {
		return nil, nil
	}
	return m.listing().Tools(ctx)
}

// listing returns what the member lists: that of its process if it has one.
func (m *member) listing() toolpost.Toolset {
	if m.process != nil {
		return m.process.source
	}
	return m.up
}

func (m *member) features() *toolpost.Features {
	if m.process == nil {
		return m.link.features()
	}
	if f := m.process.source.Features(); f != nil {
		return f
	}
	return &toolpost.Features{}
}

// inherit subscribes again to what is watched at the link before, once the
// server is ready.
func (l *link) inherit(before *link) {
	before.mu.Lock()
	defer before.mu.Unlock()
	for uri := range before.watched {
		l.watched[uri] = false
	}
}

// known returns what the server listed last, nil if that is not known.
func (l *link) known() *upstream.Known {
	if up, ok := l.up.(interface{ Known() *upstream.Known }); ok {
		return up.Known()
	}
	return nil
}

func (l *link) features() *toolpost.Features {
	if l.up != nil {
		if f := l.up.Features(); f != nil {
			return f
		}
	}
	return &toolpost.Features{}
}

// isConnecting reports whether the server has not connected yet, so that what it
// offers beside tools is unknown. A source of this process is complete from the start.
func (m *member) isConnecting() bool {
	if m.up == nil || m.server.Source != nil || m.status().State == upstream.Ready {
		return false
	}
	f := m.listing().Features()
	return f == nil || f.Incomplete
}

// watch notes a subscription, or its end.
func (l *link) watch(uri string, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on {
		l.watched[uri] = true
	} else {
		delete(l.watched, uri)
	}
}

// dueSubscriptions returns the server's function for subscriptions, and the subscriptions to
// send to the server now. It returns each of them once.
func (l *link) dueSubscriptions() (subscribe func(ctx context.Context, uri string, on bool) error, uris []string) {
	subscribe = l.features().Subscribe
	if subscribe == nil || l.up.Status().State != upstream.Ready {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for uri, told := range l.watched {
		if !told {
			l.watched[uri] = true
			uris = append(uris, uri)
		}
	}
	return subscribe, uris
}

// close ends the connection, after the calls under way or when ctx is done.
func (l *link) close(ctx context.Context) error {
	if l.up == nil {
		return nil
	}
	select {
	case <-l.calls.Idle():
	case <-ctx.Done():
	}
	l.stop()
	return end(l.up)
}

// end ends a connection. A toolset of the program goes on.
func end(up connection) error {
	if c, ok := up.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// refreshFor asks the server for its lists again, or the process of a session.
func (l *link) refreshFor(ctx context.Context, session string, begins bool) bool {
	if p, ok := l.up.(*pool); ok {
		if own := p.processOfSession(session); own != nil {
			return (&link{up: own.connection}).refresh(ctx, begins)
		}
	}
	return l.refresh(ctx, begins)
}

// refresh asks the server for its lists again, see [upstream.Upstream.Refresh].
func (l *link) refresh(ctx context.Context, begins bool) bool {
	up, ok := l.up.(interface {
		Refresh(ctx context.Context, begins bool) bool
	})
	return ok && up.Refresh(ctx, begins)
}

// retire ends a server that is no longer wanted.
func (m *member) retire(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if err := m.close(ctx); err != nil {
		log.Warn("cannot close a server", "server", m.server.Name, "err", err)
	}
}
