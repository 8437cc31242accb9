package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

// Restart ends all processes and connections of one server and starts it again. It returns
// the state of the server when it has connected or failed, or when ctx ends; then the server
// goes on starting. Its tools stay listed, and its calls under way fail as if it were lost.
// Those of other servers go on.
func (g *Gateway) Restart(ctx context.Context, server string) (upstream.Status, error) {
	m, err := g.restart(server)
	if err != nil {
		return upstream.Status{}, fmt.Errorf("restart: %w", err)
	}
	for {
		if m.up != nil {
			_ = m.up.Ready(ctx) // its status has the error
		}
		next, err := g.afterRestart(server)
		if err != nil || next == m || ctx.Err() != nil {
			return m.status(), err
		}
		m = next // it was restarted once more, or its entry has changed
	}
}

// afterRestart returns the member that serves a server now. Its tools are listed.
func (g *Gateway) afterRestart(server string) (*member, error) {
	g.work.Lock() // a change that has ended the old member is complete
	defer g.work.Unlock()
	if g.ctx.Err() == nil {
		g.refresh()
	}
	i := slices.IndexFunc(g.members, func(m *member) bool { return m.server.Name == server })
	if i < 0 {
		return nil, fmt.Errorf("restart: server %q was removed from the configuration", server)
	}
	return g.members[i], nil
}

// restart replaces a member. Its old processes end first: some hold what the new one needs.
func (g *Gateway) restart(server string) (*member, error) {
	g.work.Lock()
	defer g.work.Unlock()
	if err := g.checkServers(nil, nil); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(g.members, func(m *member) bool { return m.server.Name == server })
	if i < 0 {
		return nil, unknownServer(server, g.members)
	}
	before := g.members[i]
	switch {
	case before.server.Disabled:
		return nil, fmt.Errorf("server %q is disabled in the configuration", server)
	case slices.Contains(g.added, before):
		return nil, fmt.Errorf("the tools of %q are those of this program", server)
	}
	ended, cancel := context.WithCancel(g.ctx)
	cancel() // calls under way are not waited for
	if err := before.close(ended); err != nil {
		g.logger.Warn("cannot close a server", "server", server, "err", err)
	}
	m := g.memberOf(&serverPlan{server: before.server, key: before.key, before: before, step: starts})
	g.mu.Lock()
	g.members = slices.Clone(g.members)
	g.members[i] = m
	g.mu.Unlock()
	g.refresh()
	return m, nil
}

// unknownServer is the error for a server that is not there; it suggests a similar name.
func unknownServer(name string, members []*member) error {
	var names []string
	for _, m := range members {
		names = append(names, m.server.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no server %q; did you mean %q?", name, near)
	}
	return fmt.Errorf(`there is no server %q; "toolpost status" lists them`, name)
}
