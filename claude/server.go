package claude

import (
	"context"

	"github.com/toolpost/toolpost"
)

// A Server is a toolset that is served to the CLI inside this process. It may be
// used in many sessions at once.
type Server struct{}

// ServerOptions are the optional parts of NewServer.
type ServerOptions struct{}

// NewServer adapts a toolset for the CLI. Its tools are called
// mcp__NAME__TOOL there; name is "tools" if empty. Tools that the CLI would not
// take are a *ToolsRefusedError.
func NewServer(ctx context.Context, name string, ts toolpost.Toolset, opts *ServerOptions) (*Server, error) {
	return nil, nil
}
