package mcpserver

import (
	"context"

	"github.com/toolpost/toolpost/observe"
)

// relist has lists brought up to date that may have changed unseen, see
// [Options].Relist. It reports whether they are others now.
func (c *core) relist(ctx context.Context, client observe.Client, v *view, tool string) bool {
	if c.opts.Relist == nil {
		return false
	}
	before := v.live.Set()
	return c.opts.Relist(ctx, client, tool) && v.live.Refresh(ctx) == nil && v.live.Set() != before
}
