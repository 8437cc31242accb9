package gateway

import (
	"context"
	"sync"
	"time"
)

// How long a client waits for lists that may have changed.
const (
	beginRefresh = time.Second     // when it begins
	callRefresh  = 5 * time.Second // when it calls a tool that is not known
)

// Relist asks servers for their lists again that may have changed without a
// notification: the server with the prefix of a tool that is not known, or if tool is
// empty all whose changes would not be noticed. Each is asked at most once a minute, and
// none that is not in the profile of the client. Relist returns when their lists are
// served, or after a short time. It reports whether any was asked.
func (g *Gateway) Relist(ctx context.Context, r Client, tool string) bool {
	c := g.views.chooser.Load()
	key, err := c.viewOf(r, g.logger)
	if err != nil {
		return false // the client has no tools at all
	}
	p := c.profiles[key.profile]
	members, limit := g.current(), beginRefresh
	if tool != "" {
		of := namedServer(members, tool)
		if of == nil || p != nil && !p.has(tool, of.server.Name) {
			return false
		}
		members, limit = []*member{of}, callRefresh
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asked := make([]bool, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		if p == nil || p.admits(m.server.Name) {
			all.Go(func() { asked[i] = m.refreshFor(ctx, r.Session, tool == "") })
		}
	}
	all.Wait()
	for _, one := range asked {
		if one {
			g.work.Lock()
			defer g.work.Unlock()
			g.refresh()
			return true
		}
	}
	return false
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
