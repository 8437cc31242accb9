package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/output"
)

// sessionLists are the lists of the sessions that have the same processes of their own:
// those of all clients, in which what these processes list takes the place of what their
// servers list. Sessions with other processes have other lists, so that nothing that
// belongs to one process, such as a subscription, is taken for another's.
// [Gateway].work guards what changes.
type sessionLists struct {
	lists
	of      string // the processes; see processKey
	events  toolpost.Base
	outputs *output.Cache    // of layers
	layers  toolpost.Toolset // over the lists
	live    *toolpost.Live
	own     map[*member]*member // the members of its processes, by those that they replace
}

// A sessionTable has the lists of the sessions that have lists of their own.
type sessionTable struct {
	of  map[string]*sessionLists // by session
	all map[*sessionLists]bool
}

func newSessionTable(of map[string]*sessionLists) *sessionTable {
	t := &sessionTable{of: of, all: map[*sessionLists]bool{}}
	for _, s := range of {
		t.all[s] = true
	}
	return t
}

// listers returns those for which pins are remembered.
func (t *sessionTable) listers() map[lister]bool {
	all := map[lister]bool{}
	for s := range t.all {
		for _, m := range s.own {
			all[m.lister()] = true
		}
	}
	return all
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

// Ready returns nil: the servers are ready or not without the session.
func (s *sessionLists) Ready(context.Context) error { return nil }

// processOf returns the process of the session, nil if it shares the server.
func (s *sessionLists) processOf(l *link) *process {
	for _, m := range s.current() {
		if m.link == l {
			return m.process
		}
	}
	return nil
}

// ownProcesses returns the processes of the sessions that have lists of their own. The
// caller holds work.
func (g *Gateway) ownProcesses() map[string]map[*member]*process {
	processes := map[string]map[*member]*process{}
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
	return processes
}

// processKey identifies processes while lists hold them. The caller holds work.
func (g *Gateway) processKey(processes map[*member]*process) string {
	var b strings.Builder
	for _, m := range g.members {
		if own := processes[m]; own != nil {
			fmt.Fprintf(&b, "%p ", own)
		}
	}
	return b.String()
}

// refreshSessions renews the lists of the sessions that have lists of their own, after
// those of all clients, and adds to a snapshot what is withheld and found only there. The
// caller holds work.
func (g *Gateway) refreshSessions(all *joinResult, snapshot *Snapshot) {
	before, processes := g.views.sessions(), g.ownProcesses()
	if len(before.of)+len(processes) == 0 {
		return
	}
	listed := before.listers()
	now := newSessionTable(g.relistSessions(before, processes, all))
	for s := range now.all {
		snapshot.add(s.joined)
	}
	if !maps.Equal(before.of, now.of) {
		g.views.setSessions(now)
	}
	for s := range before.all {
		if !now.all[s] {
			s.live.Close()
		}
	}
	list := now.listers()
	for l := range listed {
		if !list[l] {
			g.pins.forget(l)
		}
	}
}

// relistSessions returns the lists of sessions with these processes, by session.
func (g *Gateway) relistSessions(before *sessionTable, processes map[string]map[*member]*process, all *joinResult) map[string]*sessionLists {
	known := map[string]*sessionLists{}
	for s := range before.all {
		known[s.of] = s
	}
	now, failed := make(map[string]*sessionLists, len(processes)), map[string]bool{}
	done := map[string]*sessionLists{}
	for session, own := range processes {
		key := g.processKey(own)
		if done[key] == nil && !failed[key] {
			s := known[key]
			if s == nil {
				s = newSessionLists(key, before.of[session], all)
			}
			if failed[key] = !g.refreshSession(s, own); !failed[key] {
				done[key] = s
			}
		}
		if s := done[key]; s != nil {
			now[session] = s
		}
	}
	return now
}

// newSessionLists returns the lists of some processes for a session that had others
// before, or those of all clients.
func newSessionLists(of string, before *sessionLists, all *joinResult) *sessionLists {
	s := &sessionLists{of: of}
	s.joined = &joinResult{served: all.served}
	if before != nil {
		s.joined = &joinResult{served: before.joined.served}
	}
	return s
}

// refreshSession renews lists of these processes. It reports whether it could.
func (g *Gateway) refreshSession(s *sessionLists, processes map[*member]*process) (done bool) {
	g.runSafely(func() {
		if err := g.relistSession(s, processes); err != nil {
			g.logger.Error("cannot refresh the tools of a session", "err", err)
			return
		}
		done = true
	})
	return done
}

func (g *Gateway) relistSession(s *sessionLists, processes map[*member]*process) error {
	members, own := slices.Clone(g.members), make(map[*member]*member, len(processes))
	for i, m := range members {
		if p := processes[m]; p != nil {
			if own[m] = s.own[m]; own[m] == nil {
				own[m] = m.withProcess(p)
			}
			members[i] = own[m]
		}
	}
	s.own = own
	s.set(members, join(g.ctx, members, globs(g.cfg.Quiet), g.memory, s.joined.served))
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

// add adds what is withheld and found only in the lists of a session.
func (s *Snapshot) add(own *joinResult) {
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
func (g *Gateway) listsOf(r observe.Client) *lists {
	if s := g.views.session(r.Session); s != nil {
		return &s.lists
	}
	return &g.lists
}
