package upstream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/toolpost/toolpost"
)

// Options are the optional parts of [Start].
type Options struct {
	Logger *slog.Logger

	// Changed is called when the state or a list changed: Status, Tools or
	// Features then tell the new one. It must return soon.
	Changed func()

	// ResourceUpdated is called when a subscribed resource changed.
	ResourceUpdated func(uri string)
}

// An Upstream is one MCP server, connected in the background and connected
// again when it is lost. It is a [toolpost.Toolset].
type Upstream struct{}

// A State is where an upstream is in its life.
type State string

// States of an upstream.
const (
	Connecting State = "connecting"
	Ready      State = "ready"
	Failed     State = "failed" // it is tried again at Status.Retry
	Closed     State = "closed"
)

// A Status is what is known about an upstream at one moment.
type Status struct {
	Name      string
	State     State
	Transport Transport
	Version   string // MCP protocol version
	Server    string // name and version the server gave
	Tools     int
	Took      time.Duration // of the last connect and listing
	Err       error         // why it is not ready; says what to do
	Retry     time.Time     // when it is tried again
	Skipped   []toolpost.Finding
}

// Start begins to connect to the server and returns at once. Close ends it.
func Start(cfg *Config, opts *Options) (*Upstream, error) { return nil, errors.ErrUnsupported }

// Ready waits until the first attempt to connect has ended, well or not.
func (u *Upstream) Ready(ctx context.Context) error { return nil }

// Status tells the current state.
func (u *Upstream) Status() Status { return Status{} }

// Tools returns the tools of the last listing; while the server is away its
// tools stay, and their calls wait a little for it and then say what is wrong.
func (u *Upstream) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return nil, nil }

// Features returns the prompts, resources and instructions of the last listing.
func (u *Upstream) Features() *toolpost.Features { return &toolpost.Features{} }

// Close ends the session and the server's process group.
func (u *Upstream) Close() error { return nil }
