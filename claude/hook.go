package claude

import (
	"context"
	"encoding/json"
)

// A Hook is called at an event of the CLI.
type Hook struct{}

func (o *Options) hook(ctx context.Context, request json.RawMessage) func() (any, error) { return nil }
