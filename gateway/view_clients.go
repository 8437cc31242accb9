package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// Missing returns the reason why a client has no tool of this name: it is
// withheld, or its server is not ready: the one with the prefix of the name, or the
// only one. It returns nil if there is another reason, and says nothing about tools
// and servers that are not in the profile of the client.
func (v *Views) Missing(r observe.Client, tool string) error {
	if v.gateway == nil {
		return nil
	}
	c := v.chooser.Load()
	key, err := c.viewOf(r, v.opts.Logger)
	if err != nil {
		return nil // the client has no tools at all
	}
	p := c.profiles[key.profile]
	lists := v.gateway.listsOf(r)
	if why := lists.withheldFrom(tool, p); why != nil {
		return why
	}
	of := namedServer(lists.current(), tool)
	if of == nil || p != nil && !p.has(tool, of.server.Name) {
		return nil
	}
	switch s := of.status(); {
	case s.State == upstream.Ready:
		return nil
	case s.State == upstream.Disabled:
		return fmt.Errorf("server %q is disabled in the configuration", s.Name)
	case s.Err != nil:
		return fmt.Errorf("%w\nToolpost connects again by itself; call again later", s.Err)
	default:
		return fmt.Errorf("server %q is still %s; call again later", s.Name, s.State)
	}
}

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
func (v *Views) Relist(ctx context.Context, r observe.Client, tool string) bool {
	g := v.gateway
	if g == nil {
		return false
	}
	c := v.chooser.Load()
	key, err := c.viewOf(r, v.opts.Logger)
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

// SessionEnded releases what servers hold for a client's session.
func (v *Views) SessionEnded(session string) {
	if v.gateway == nil {
		return
	}
	v.gateway.tasks.forget(clientKey{session: session})
	for _, m := range v.gateway.current() {
		if up, ok := m.up.(interface{ SessionEnded(session string) }); ok {
			up.SessionEnded(session)
		}
	}
}

// RootsChanged notifies the servers that the roots of the client with this
// [toolpost.Call.Session] have changed.
func (v *Views) RootsChanged(session string) {
	if v.gateway == nil {
		return
	}
	for _, m := range v.gateway.current() {
		if up, ok := m.up.(interface{ RootsChanged(session string) }); ok {
			up.RootsChanged(session)
		}
	}
}
