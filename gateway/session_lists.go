package gateway

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
)

// lists are what some members offer, joined at one moment.
type lists struct {
	mu      sync.Mutex
	members []*member
	joined  *joined
}

func (l *lists) current() []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.members
}

func (l *lists) set(members []*member, j *joined) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members, l.joined = members, j
}

// sessionLists are the lists of one session that has a process of its own: those of all
// clients, in which what that process lists takes the place of what its server lists.
// [Gateway].work guards what changes.
type sessionLists struct {
	lists
	events  toolpost.Watchers
	outputs *output.Cache   // of layers
	layers  toolpost.Source // over the lists
	live    *toolpost.Live
	own     map[*member]*member // the members of its processes, by those that they replace
}

// Tools lists what the session gets, before its profile and dialect.
func (s *sessionLists) Tools(ctx context.Context) ([]*toolpost.Tool, error) {
	return s.layers.Tools(ctx)
}

// Features returns what the session gets beside tools.
func (s *sessionLists) Features() *toolpost.Features { return s.layers.Features() }

// Watch calls f with the events of the session's processes, and of the servers that it
// shares.
func (s *sessionLists) Watch(f func(toolpost.Event)) (stop func()) { return s.events.Watch(f) }

// processOf returns the process of the session, nil if it shares the server.
func (s *sessionLists) processOf(l *link) *process {
	for _, m := range s.current() {
		if m.link == l {
			return m.process
		}
	}
	return nil
}

// withProcess returns a member that lists what a process lists.
func (m *member) withProcess(own *process) *member {
	c := newMember(m.server, m.key, m.link)
	c.pins, c.shared, c.process = m.pins, m.shared, own
	return c
}

// refreshSessions renews the lists of the sessions that have lists of their own, after
// those of all clients, and adds to a snapshot what is withheld and found only there. The
// caller holds work.
func (g *Gateway) refreshSessions(all *joined, snapshot *Snapshot) {
	before, processes := g.views.sessions(), map[string]map[*member]*process{}
	for _, m := range g.members {
		p, ok := m.up.(*pool)
		if !ok {
			continue
		}
		for session, own := range p.ownLists() {
			if processes[session] == nil {
				processes[session] = map[*member]*process{}
			}
			processes[session][m] = own
		}
	}
	if len(before)+len(processes) == 0 {
		return
	}
	now := make(map[string]*sessionLists, len(processes))
	for session, own := range processes {
		g.safely(func() {
			s := before[session]
			if s == nil {
				s = &sessionLists{}
			}
			if err := g.refreshSession(s, own, all); err != nil {
				g.logger.Error("cannot refresh the tools of a session", "err", err)
				return
			}
			now[session] = s
			snapshot.add(s.joined)
		})
	}
	if !maps.Equal(before, now) {
		g.views.setSessions(now)
	}
	for session, s := range before {
		if now[session] == nil {
			s.live.Close()
			g.forgetPins(s.own, nil)
		}
	}
}

// refreshSession renews the lists of one session, which has these processes.
func (g *Gateway) refreshSession(s *sessionLists, processes map[*member]*process, all *joined) error {
	members, own := slices.Clone(g.members), make(map[*member]*member, len(processes))
	for i, m := range members {
		if p := processes[m]; p != nil {
			if own[m] = s.own[m]; own[m] == nil || own[m].process != p {
				own[m] = m.withProcess(p)
			}
			members[i] = own[m]
		}
	}
	g.chain(slices.Collect(maps.Values(own)))
	g.forgetPins(s.own, own)
	s.own = own
	served := all.served
	if s.joined != nil {
		served = s.joined.served
	}
	s.set(members, join(g.ctx, members, globs(g.cfg.Quiet), g.memory, served))
	if s.layers == nil || s.outputs != g.outputs {
		s.outputs = g.outputs
		s.layers = g.serve(&s.lists, s.outputs)
	}
	if s.live != nil {
		return s.live.Refresh(g.ctx)
	}
	var err error
	s.live, err = toolpost.NewLive(g.ctx, s)
	return err
}

// forgetPins forgets what processes listed that a session does not have any more.
func (g *Gateway) forgetPins(before, now map[*member]*member) {
	for m, c := range before {
		if now[m] == nil || now[m].process != c.process {
			g.pins.forget(c.lister())
		}
	}
}

// add adds what is withheld and found only in the lists of a session.
func (s *Snapshot) add(own *joined) {
	for _, w := range own.withheld {
		if !slices.ContainsFunc(s.Withheld, func(o WithheldTool) bool { return o.Server == w.Server && o.Tool == w.Tool }) {
			s.Withheld = append(s.Withheld, w)
		}
	}
	known := make(map[toolpost.Finding]bool, len(s.Findings))
	for _, f := range s.Findings {
		known[f] = true
	}
	for _, f := range own.findings {
		if !known[f] {
			s.Findings = append(s.Findings, f)
		}
	}
}

// listsOf returns the lists that a client gets, before its profile and dialect.
func (g *Gateway) listsOf(r Client) *lists {
	if s := g.views.session(r.Session); s != nil {
		return &s.lists
	}
	return &g.lists
}

// notifyClients passes on an event of a process to the clients that get its lists. The
// process is nil if the server has only one.
func (g *Gateway) notifyClients(l *link, own *process, e toolpost.Event) {
	if p, ok := l.up.(*pool); ok && own == p.lister() {
		own = nil
	}
	if own == nil {
		g.events.Notify(e)
	}
	for _, s := range g.views.sessions() {
		if s.processOf(l) == own {
			s.events.Notify(e)
		}
	}
}

// notifySession passes on an event to one session.
func (g *Gateway) notifySession(session string, e toolpost.Event) {
	if s := g.views.session(session); s != nil {
		s.events.Notify(e)
		return
	}
	g.events.Notify(e)
}
