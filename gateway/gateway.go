// Package gateway joins many upstreams into one live toolset.
package gateway

import (
	"context"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A Config is what toolpost.json says.
type Config struct {
	Servers []Server // in the order of the file
	Quiet   []string // tools whose calls are not logged at info level
}

// A Server is one upstream of a Config.
type Server struct {
	upstream.Config
	Disabled bool
	Prefix   *string // before every tool's name; nil means Name + "__"
}

// Options are the optional parts of [Open].
type Options struct {
	Logger          *slog.Logger
	ResourceUpdated func(uri string)
}

// A Gateway keeps its upstreams and their joined toolset.
type Gateway struct{}

// Open starts every server of cfg and returns at once; servers that are ready
// serve while others connect, and those that fail are tried again.
func Open(ctx context.Context, cfg *Config, opts *Options) (*Gateway, error) { return nil, nil }

// Ready waits until every server has connected or failed once, or ctx is done.
func (g *Gateway) Ready(ctx context.Context) error { return nil }

// Live returns the joined toolset, kept up to date.
func (g *Gateway) Live() *toolpost.Live { return nil }

// Reload applies a changed configuration: only servers that differ are restarted.
func (g *Gateway) Reload(ctx context.Context, cfg *Config) error { return nil }

// Status tells the state of every server, in the order of the configuration.
func (g *Gateway) Status() []upstream.Status { return nil }

// Watch calls f now and after every change of a status, list or feature, until stop.
func (g *Gateway) Watch(f func(*Snapshot)) (stop func()) { return func() {} }

// A Snapshot is the gateway at one moment.
type Snapshot struct {
	Status   []upstream.Status
	Features *toolpost.Features
	Findings []toolpost.Finding // collisions, skipped tools, names that clients refuse
}

// Close ends every server, in parallel.
func (g *Gateway) Close() error { return nil }
