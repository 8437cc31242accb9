package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/budget"
)

// Reload applies a changed configuration. It restarts only servers that differ;
// their tools remain listed until the new list is there. Removed servers end
// after the calls in progress. On error nothing changes.
func (g *Gateway) Reload(ctx context.Context, cfg *config.Config) error {
	if err := g.apply(cfg); err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	return nil
}

func (g *Gateway) apply(cfg *config.Config) error {
	g.work.Lock()
	defer g.work.Unlock()
	if err := g.check(cfg, g.added); err != nil {
		return err
	}
	before := g.approver.rules.Load()
	if err := g.approver.configure(cfg); err != nil {
		return err
	}
	if err := g.views.Configure(cfg); err != nil {
		g.approver.rules.Store(before)
		return err
	}
	g.pins.configure(cfg)
	members, gone := g.replaceMembers(cfg)
	g.chain(members)
	outputs, layers := g.outputs, g.layers // tools stay the same
	if g.cfg == nil || g.cfg.Output != cfg.Output {
		outputs = g.newOutputs(cfg)
		layers = g.serve(&g.lists, outputs)
	}
	g.mu.Lock()
	g.outputs, g.layers = outputs, layers
	g.cfg, g.members = cfg, members
	g.mu.Unlock()
	g.refresh()
	g.views.Refresh() // to other dialects
	for _, m := range gone {
		g.running.Go(func() { m.retire(g.ctx, g.logger) })
	}
	return nil
}

// replaceMembers returns the members of a configuration, and by their names those
// whose connections it no longer has.
func (g *Gateway) replaceMembers(cfg *config.Config) (members []*member, gone map[string]*member) {
	gone = map[string]*member{}
	for _, m := range g.members {
		gone[m.server.Name] = m
	}
	for i, key := range serverKeys(cfg.Servers, keysOf(g.added)...) {
		s := cfg.Servers[i]
		m := gone[s.Name]
		if l := g.link(s, gone); m == nil || m.link != l || m.key != key || !sameServer(m.server, s) {
			m = newMember(s, key, l)
			m.pins, m.shared = g.pins, g.shared
		}
		members = append(members, m)
	}
	for _, m := range g.added {
		delete(gone, m.server.Name)
		members = append(members, m)
	}
	return members, gone
}

// check reports why these servers cannot be served together. The caller holds
// work.
func (g *Gateway) check(cfg *config.Config, added []*member) error {
	servers := slices.Clone(cfg.Servers)
	for _, m := range added {
		servers = append(servers, m.server)
	}
	seen := map[string]bool{}
	for _, s := range servers {
		if seen[s.Name] {
			return fmt.Errorf("two servers are named %q; give one another name", s.Name)
		}
		seen[s.Name] = true
	}
	if g.ctx.Err() != nil {
		return errors.New("the gateway is closed")
	}
	_, err := g.options.unapplied(cfg)
	return err
}

// headStart is how long a server whose lists are stored is not started, so that these
// are served first.
const headStart = 30 * time.Millisecond

// Limits of the messages that wait to be delivered to and from servers, in bytes.
const (
	maxHeldOfServer = 64 << 20 // all processes of one server
	maxHeld         = 256 << 20
)

// link returns the previous connection of s and removes it from before, or starts
// a new one.
func (g *Gateway) link(s config.Server, before map[string]*member) *link {
	old := before[s.Name]
	if old != nil && sameConnection(old.server, s) {
		delete(before, s.Name)
		return old.link
	}
	l := newLink(func(t *toolpost.Tool) error { return g.pins.vet(s.Name, t) })
	opts := g.opts
	opts.Vet, opts.Budget = l.checkPin, budget.New(g.opts.Budget, budget.Limit{Bytes: maxHeldOfServer})
	if opts.Known, l.listed = g.memory.recall(&s); old != nil && old.known() != nil {
		opts.Known, l.listed = old.known(), true // clients have its tools
	} else if opts.Known != nil {
		opts.StartDelay = headStart
	} else if opts.Starting > 0 && s.URL != "" {
		l.listed = false // it may have to be started first, each time
	}
	l.seed = opts.Known
	var up connection
	switch {
	case s.Disabled:
	case s.Err != nil:
		l.err = fmt.Errorf("server %q: %w", s.Name, s.Err)
	case s.Redmine != nil:
		up, l.err = startRedmine(&s, &opts)
	case s.Share == config.Always:
		up, l.err = g.start(&s.Config, &opts)
	default:
		up, l.err = newPool(&s, g.start, &opts, l.checkPin)
	}
	if up != nil {
		g.connect(l, up)
	}
	if old != nil {
		l.inherit(old.link)
	}
	return l
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

// retire ends a server that is no longer wanted.
func (m *member) retire(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if err := m.close(ctx); err != nil {
		log.Warn("cannot close a server", "server", m.server.Name, "err", err)
	}
}
