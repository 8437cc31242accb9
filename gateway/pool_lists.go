package gateway

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// To the gateway, a pool is the process that lists.

var _ connection = (*pool)(nil)

func (p *pool) lister() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.home
}

// Tools returns what home lists.
func (p *pool) Tools(ctx context.Context) ([]*toolpost.Tool, error) {
	return p.lister().source.Tools(ctx)
}

// Features returns what home offers beside tools.
func (p *pool) Features() *toolpost.Features { return p.lister().source.Features() }

// Ready waits until home has connected or failed once.
func (p *pool) Ready(ctx context.Context) error { return p.lister().Ready(ctx) }

// Watch calls f with the events of home, whichever process that is.
func (p *pool) Watch(f func(toolpost.Event)) (stop func()) { return p.events.Watch(f) }

// Status is that of home.
func (p *pool) Status() upstream.Status { return p.lister().Status() }

// Instances implements what [Gateway.Instances] looks for.
func (p *pool) Instances() []string {
	if up, ok := p.lister().connection.(interface{ Instances() []string }); ok {
		return up.Instances()
	}
	return nil
}

// Refresh has the process that lists asked again.
func (p *pool) Refresh(ctx context.Context, begins bool) bool {
	return (&link{up: p.lister().connection}).refresh(ctx, begins)
}

// Known is that of home, with what the pool knows of the server.
func (p *pool) Known() *upstream.Known {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known()
}

// known is [pool.Known] while the mutex is held.
func (p *pool) known() *upstream.Known {
	k := p.home.known()
	if k == nil || k.Asks == p.asks {
		return k
	}
	if p.notedOf != k || p.noted.Asks != p.asks {
		c := *k
		c.Asks = p.asks
		p.noted, p.notedOf = &c, k
	}
	return p.noted
}

// The lists of a process that is not home are for its sessions only. The sessions get
// them if home lists something else, or if they can subscribe to resources, so that they
// subscribe to those of their process. Otherwise they share the lists of all clients.

// maxSessions is how many sessions of one process are remembered: a program may never
// report that they have ended. A session that is forgotten gets a process again with its
// next call.
const maxSessions = 10_000

// enter records that the client of a call uses a process. The mutex is held.
func (p *pool) enter(own *process, call *toolpost.Call) {
	if isStateless(call) || own.sessions[call.Session] {
		return
	}
	for other := range p.each {
		p.leave(other, call.Session)
	}
	for session := range own.sessions { // any
		if len(own.sessions) < maxSessions {
			break
		}
		p.leave(own, session)
		maps.DeleteFunc(p.bound, func(key clientKey, _ *process) bool { return key.session == session })
	}
	own.sessions[call.Session] = true
	if p.hasOwnLists(own) {
		p.events.Notify(toolpost.Event{})
	}
}

// leave records that a session does not use a process any more. The mutex is held.
func (p *pool) leave(own *process, session string) {
	if own.sessions[session] && own.listsShown {
		p.events.Notify(toolpost.Event{})
	}
	delete(own.sessions, session)
}

// ownLists returns the processes whose sessions get their lists, by session.
func (p *pool) ownLists() map[string]*process {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[string]*process{}
	for own := range p.each {
		if own.listsShown = p.hasOwnLists(own); own.listsShown {
			for session := range own.sessions {
				found[session] = own
			}
		}
	}
	return found
}

// hasOwnLists reports whether the sessions of a process get its lists. The mutex is held.
func (p *pool) hasOwnLists(own *process) bool {
	return p.all[own] && len(own.sessions) > 0 && (featuresOf(own).Subscribe != nil || own.differs.compare(own.known(), p.home.known()))
}

// sessionsOf returns the sessions that use a process.
func (p *pool) sessionsOf(own *process) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(own.sessions))
}

// processOfSession returns the process of a session, nil if it shares that of all
// clients.
func (p *pool) processOfSession(session string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	for own := range p.all {
		if own.sessions[session] {
			return own
		}
	}
	return nil
}

// A comparison is whether two processes list the same, as it was found last.
type comparison struct {
	a, b   *upstream.Known
	differ bool
}

// compare reports whether b is something else than a. Nothing is known of a process
// before it has listed for the first time.
func (c *comparison) compare(a, b *upstream.Known) (differ bool) {
	if a == nil || a == b {
		return false
	}
	if c.a != a || c.b != b {
		*c = comparison{a, b, b == nil || a.Instructions != b.Instructions || !bytes.Equal(a.Capabilities, b.Capabilities) ||
			!maps.EqualFunc(a.Lists, b.Lists, func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) })}
	}
	return c.differ
}
