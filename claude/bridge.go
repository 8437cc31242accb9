package claude

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost/claude/message"
)

// tools are the servers of one session.
type tools struct{}

// openTools opens a session on each server of the options. Ctx is that of all
// calls.
func openTools(ctx context.Context, o *Options) (*tools, error) { return nil, nil }

// connect gives the servers the way to the CLI.
func (t *tools) connect(c *conn) {}

// names are those of the servers.
func (t *tools) names() []string { return nil }

// manifests are what the servers would answer to initialize and tools/list, by
// server, for the first control request.
func (t *tools) manifests() map[string]any { return nil }

// allowed are the tools that may run without being asked for, under the CLI's
// names.
func (t *tools) allowed() []string { return nil }

// receive is the responder for mcp_message.
func (t *tools) receive(ctx context.Context, request json.RawMessage) func() (any, error) { return nil }

// arrived compares the tools that the CLI has with those that it was given.
func (t *tools) arrived(init *message.Init) error { return nil }

func (t *tools) close() {}
