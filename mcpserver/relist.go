package mcpserver

import (
	"context"

	"github.com/toolpost/toolpost/observe"
)

// relist has lists brought up to date that may have changed unseen, see
// [Views]. It reports whether they are others now.
func (c *core) relist(ctx context.Context, client observe.Client, v *view, tool string) bool {
	if c.opts.Views == nil {
		return false
	}
	before := v.live.Set()
	return c.opts.Views.Relist(ctx, client, tool) && v.live.Refresh(ctx) == nil && v.live.Set() != before
}
