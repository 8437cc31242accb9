package claude

import (
	"context"
	"encoding/json"
)

// A Permission decides whether a tool may run. An error denies it, with its
// text for the model.
type Permission func(ctx context.Context, request *PermissionRequest) (*Decision, error)

// A PermissionRequest is a call that nobody has allowed yet.
type PermissionRequest struct{}

// A Decision is the answer to a PermissionRequest.
type Decision struct{}

func (o *Options) permit(ctx context.Context, request json.RawMessage) func() (any, error) {
	return nil
}
