package gateway

import (
	"context"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// Connection lets tests stand in for an upstream.
type Connection = connection

// StartWith is Start with another way to start upstreams.
func StartWith(ctx context.Context, cfg *config.Config, opts *Options, start func(*upstream.Config, *upstream.Options) (Connection, error)) (*Gateway, error) {
	return startWith(ctx, cfg, opts, start)
}

// DrainTime is how long calls of a removed server may go on.
const DrainTime = drainTime

// RememberedSessions is how many sessions the pools remember.
func (g *Gateway) RememberedSessions() (n int) {
	for _, m := range g.current() {
		p := m.up.(*pool)
		p.mu.Lock()
		n += len(p.bound)
		for own := range p.each {
			n = max(n, len(own.sessions))
		}
		p.mu.Unlock()
	}
	return n
}
