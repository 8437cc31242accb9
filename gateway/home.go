package gateway

import (
	"context"

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
