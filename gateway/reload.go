package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/upstream"
)

// Reload applies a changed configuration. It restarts only servers that differ;
// their tools remain listed until the new list is there. Removed servers end
// after the calls in progress. On error nothing changes.
func (g *Gateway) Reload(ctx context.Context, cfg *config.Config) error {
	g.work.Lock()
	defer g.work.Unlock()
	p, err := g.plan(cfg)
	if err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	g.carryOut(p)
	g.refresh()
	g.views.Refresh() // to other dialects
	for _, m := range p.ended {
		g.running.Go(func() { m.retire(g.ctx, g.logger) })
	}
	return nil
}

// A plan is all that a configuration changes. It is complete before anything changes:
// what is wrong with the configuration is an error of the plan.
type plan struct {
	cfg       *config.Config
	unapplied []toolpost.Finding // keys that nothing applies
	chooser   *viewChooser
	rules     *approvalRules
	servers   []serverPlan // of the configuration, in its order
	ended     []*member    // whose connections nothing uses any more
	outputs   *output.Cache
	layers    toolpost.Toolset
}

// A serverPlan is what a plan has for one server.
type serverPlan struct {
	server config.Server
	key    string
	before *member // the server of that name so far; nil if it is new
	step   step
}

// A step is what becomes of a server.
type step int

const (
	stays   step = iota // it is configured as before
	changes             // it keeps its connection, and has other settings
	starts              // it gets a connection; the one that it had ends
)

// plan compares a configuration with what is served. The caller holds work.
func (g *Gateway) plan(cfg *config.Config) (p *plan, err error) {
	if err := g.checkServers(cfg.Servers, g.added); err != nil {
		return nil, err
	}
	p = &plan{cfg: cfg, outputs: g.outputs, layers: g.layers}
	if p.unapplied, err = g.options.findUnapplied(cfg); err != nil {
		return nil, err
	}
	if p.chooser, err = newViewChooser(cfg, &g.views.opts, g.views.chooser.Load()); err != nil {
		return nil, err
	}
	if p.rules, err = newApprovalRules(cfg.Approvals, p.chooser.profiles); err != nil {
		return nil, err
	}
	p.servers, p.ended = g.compare(cfg.Servers)
	if g.cfg == nil || g.cfg.Output != cfg.Output { // otherwise tools stay the same
		p.outputs = g.newOutputs(cfg.Output)
		p.layers = g.serve(&g.lists, p.outputs)
	}
	return p, nil
}

// checkServers reports why servers cannot be served together with those that were added.
func (g *Gateway) checkServers(servers []config.Server, added []*member) error {
	if g.ctx.Err() != nil {
		return errors.New("the gateway is closed")
	}
	all := slices.Clone(servers)
	for _, m := range added {
		all = append(all, m.server)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			return fmt.Errorf("two servers are named %q; give one another name", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// compare returns what becomes of each server, and the members of which no connection
// is left.
func (g *Gateway) compare(servers []config.Server) (all []serverPlan, ended []*member) {
	before := map[string]*member{}
	for _, m := range g.members {
		before[m.server.Name] = m
	}
	for _, m := range g.added {
		delete(before, m.server.Name)
	}
	for i, key := range serverKeys(servers, keysOf(g.added)...) {
		p := serverPlan{server: servers[i], key: key, before: before[servers[i].Name]}
		switch old := p.before; {
		case old == nil || !sameConnection(old.server, p.server):
			p.step = starts
		case old.key != key || !sameSettings(old.server, p.server):
			p.step = changes
		}
		if p.step != starts {
			delete(before, p.server.Name)
		}
		all = append(all, p)
	}
	return all, slices.Collect(maps.Values(before))
}

// sameConnection reports whether b can use a's connection.
func sameConnection(a, b config.Server) bool {
	if (a.Wrap == nil) != (b.Wrap == nil) {
		return false
	}
	a.Wrap, b.Wrap = nil, nil // functions cannot be compared
	return reflect.DeepEqual(a.Config, b.Config) && reflect.DeepEqual(a.Auth, b.Auth) && reflect.DeepEqual(a.Source, b.Source) && cmp.Or(a.Share, shareAuto) == cmp.Or(b.Share, shareAuto) && a.Idle == b.Idle && a.Disabled == b.Disabled && a.Err == nil && b.Err == nil
}

// sameSettings reports whether two entries with the same connection say the same.
func sameSettings(a, b config.Server) bool {
	a.Wrap, b.Wrap = nil, nil // functions cannot be compared
	return reflect.DeepEqual(a, b)
}

// carryOut does what is planned. Clients get it with the next refresh. The caller holds
// work.
func (g *Gateway) carryOut(p *plan) {
	g.approver.rules.Store(p.rules)
	g.configureSteps(p)
	g.views.use(p.chooser)
	g.pins.configure(p.cfg)
	members := make([]*member, 0, len(p.servers)+len(g.added))
	for i := range p.servers {
		members = append(members, g.memberOf(&p.servers[i]))
	}
	members = append(members, g.added...)
	g.mu.Lock()
	g.outputs, g.layers = p.outputs, p.layers
	g.cfg, g.unapplied, g.members = p.cfg, p.unapplied, members
	g.mu.Unlock()
}

// memberOf returns the member that a server is from now on.
func (g *Gateway) memberOf(p *serverPlan) (m *member) {
	switch p.step {
	case stays:
		return p.before
	case changes:
		m = newMember(p.server, p.key, p.before.link)
	default:
		m = newMember(p.server, p.key, g.connect(p.server, p.before))
	}
	m.pins = g.pins
	m.shared = g.shared
	return m
}

// headStart is how long a server whose lists are stored is not started, so that these
// are served first.
const headStart = 30 * time.Millisecond

// Limits of the messages that wait to be delivered to and from servers, in bytes.
const (
	maxHeldOfServer = 64 << 20 // all processes of one server
	maxHeld         = 256 << 20
)

// connect starts the connection of a server. Until it has listed, what the member before
// listed counts.
func (g *Gateway) connect(s config.Server, before *member) *link {
	l := newLink(func(t *toolpost.Tool) error { return g.pins.vet(s.Name, t) })
	opts := g.linkOptions(l, &s, before)
	secrets := g.newResolver(&s)
	opts.Resolve = secrets.resolve
	report := g.options.reportOf(s.Name)
	var up connection
	switch {
	case s.Disabled:
	case s.Err != nil:
		l.err = fmt.Errorf("server %q: %w", s.Name, s.Err)
	case s.Source != nil:
		up, l.err = g.startSource(&s, secrets)
	case s.Auth != nil && s.Auth.Type != oauth.NoLogin && s.Wrap == nil && g.options.Credentials == nil:
		l.err = fmt.Errorf("server %q: it has an Auth, and nothing logs in: set Options.Credentials, or remove the Auth and send a token in Headers", s.Name)
	case report != nil && before == nil:
		up, l.err = g.startReported(&s.Config, opts, report)
	case s.Share == shareAlways:
		up, l.err = g.start(&s.Config, &opts)
	default:
		up, l.err = newPool(&s, g.start, &opts, l.checkPin)
	}
	if up != nil {
		g.attach(l, up)
	}
	if before != nil {
		l.inherit(before.link)
	}
	return l
}

// linkOptions returns how a link is started, and notes with it what clients have of the
// server until then.
func (g *Gateway) linkOptions(l *link, s *config.Server, before *member) upstream.Options {
	opts := g.opts
	own := hidden.UpstreamOptionsOf(&opts)
	own.Vet = func(t any) error { return l.checkPin(t.(*toolpost.Tool)) }
	own.Budget = budget.New(own.Budget, budget.Limit{Bytes: maxHeldOfServer})
	if opts.Known, l.listed = g.memory.recall(s); before != nil && before.known() != nil {
		opts.Known, l.listed = before.known(), true // clients have its tools
	} else if opts.Known != nil {
		own.StartDelay = headStart
	} else if opts.Starting > 0 && s.URL != "" {
		l.listed = false // it may have to be started first, each time
	}
	if before == nil && g.options.OnDemand != nil && g.options.OnDemand(s.Name, opts.Known != nil || g.memory.isSlow(s.Name)) {
		opts.OnDemand = true
	}
	l.seed = opts.Known
	return opts
}

// renew subscribes again to what was watched before a server was restarted.
// The caller holds work.
func (g *Gateway) renew(m *member) {
	if g.ctx.Err() != nil {
		return
	}
	subscribe, uris := m.dueSubscriptions()
	for _, uri := range uris {
		g.running.Go(func() {
			if err := subscribe(g.ctx, uri, true); err != nil {
				g.logger.Warn("no longer watching a resource", "server", m.server.Name, "uri", uri, "err", err)
			}
		})
	}
}
