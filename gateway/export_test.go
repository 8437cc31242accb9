package gateway

import (
	"context"

	"github.com/toolpost/toolpost/upstream"
)

// Connection lets tests stand in for an upstream.
type Connection = connection

// OpenWith is Open with another way to start upstreams.
func OpenWith(ctx context.Context, cfg *Config, opts *Options, start func(*upstream.Config, *upstream.Options) (Connection, error)) (*Gateway, error) {
	return open(ctx, cfg, opts, start)
}

// DrainTime is how long calls of a removed server may go on.
const DrainTime = drainTime

// SyntaxProblem returns what is reported of a file where its parser ends with err.
func SyntaxProblem(data string, err error) Problem {
	s := newSource("toolpost.json", []byte(data))
	s.syntax(err)
	return s.problems[0]
}
