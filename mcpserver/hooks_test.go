package mcpserver_test

import (
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

// hooks are Views made of functions, each of which may be nil. Without view, newServerOf
// serves all clients the same.
type hooks struct {
	view         func(observe.Client) (*toolpost.Live, error)
	profile      func(*toolpost.Live) string
	missing      func(client observe.Client, tool string) error
	relist       func(ctx context.Context, client observe.Client, tool string) bool
	sessionEnded func(session string)
	rootsChanged func(session string)
	changes      toolpost.Base
}

func (h *hooks) View(c observe.Client) (*toolpost.Live, error) { return h.view(c) }

func (h *hooks) Profile(view *toolpost.Live) string {
	if h.profile == nil {
		return ""
	}
	return h.profile(view)
}

func (h *hooks) Missing(c observe.Client, tool string) error {
	if h.missing == nil {
		return nil
	}
	return h.missing(c, tool)
}

func (h *hooks) Relist(ctx context.Context, c observe.Client, tool string) bool {
	return h.relist != nil && h.relist(ctx, c, tool)
}

func (h *hooks) SessionEnded(session string) {
	if h.sessionEnded != nil {
		h.sessionEnded(session)
	}
}

func (h *hooks) RootsChanged(session string) {
	if h.rootsChanged != nil {
		h.rootsChanged(session)
	}
}

func (h *hooks) Watch(changed func()) (stop func()) {
	return h.changes.Watch(func(toolpost.Event) { changed() })
}

// changed reports that view returns something else.
func (h *hooks) changed() { h.changes.Notify(toolpost.Event{}) }
