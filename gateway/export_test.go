package gateway

import (
	"context"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// Connection lets tests stand in for an upstream.
type Connection = connection

// OpenWith is Open with another way to start upstreams.
func OpenWith(ctx context.Context, cfg *config.Config, opts *Options, start func(*upstream.Config, *upstream.Options) (Connection, error)) (*Gateway, error) {
	return open(ctx, cfg, opts, start)
}

// DrainTime is how long calls of a removed server may go on.
const DrainTime = drainTime
