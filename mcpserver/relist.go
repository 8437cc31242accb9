package mcpserver

import (
	"context"
	"errors"

	"github.com/toolpost/toolpost"
)

// relist has lists brought up to date that may have changed unseen, see
// [Options].Relist. It reports whether they are others now.
func (c *core) relist(ctx context.Context, client Client, v *view, tool string) bool {
	if c.opts.Relist == nil {
		return false
	}
	before := v.live.Set()
	return c.opts.Relist(ctx, client, tool) && v.live.Refresh(ctx) == nil && v.live.Set() != before
}

// callListed calls a tool of the Set of a client. A tool that is not in the Set may have
// been added unseen.
func (c *core) callListed(ctx context.Context, r *request, call *toolpost.Call) (*toolpost.Set, *toolpost.Result, error) {
	ctx = toolpost.Logger.With(ctx, c.log)
	set := r.view.live.Set()
	result, err := set.Call(ctx, call)
	if errors.Is(err, toolpost.ErrNotFound) && set.Lookup(call.Name) == nil && c.relist(ctx, r.client, r.view, call.Name) {
		set = r.view.live.Set()
		result, err = set.Call(ctx, call)
	}
	return set, result, err
}
