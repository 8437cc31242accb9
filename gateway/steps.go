package gateway

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

// configuredSteps are the steps of requests to servers that a configuration wants.
type configuredSteps struct {
	admit, limit Around // nil where nothing is limited
	approves     bool   // some calls may be denied, or need an approval, now or after they waited for a limit
	around       []Around

	approving *configuredSteps // the same, but approves; for the calls of a profile
}

// configureSteps sets the steps for the requests that begin from now on. Once some calls
// were decided by a rule or came by a profile, all are looked at: those of a profile that is
// gone are denied. The caller holds work.
func (g *Gateway) configureSteps(p *plan) {
	next, before := &configuredSteps{around: g.options.Around}, g.configured.Load()
	if g.options.Limits != nil {
		next.admit, next.limit = g.options.Limits(p.cfg)
	}
	next.approves = len(p.rules.file)+len(p.rules.profiles) > 0 || next.admit != nil || before != nil && before.approves
	if next.approving = next; !next.approves {
		approving := *next
		approving.approves = true
		next.approving = &approving
	}
	g.configured.Store(next)
}

// steps returns the steps of every request to the server, in order. Limits refuse a request
// before anyone is asked to approve it, and Options.Around sees approved requests only. A
// setting that is not configured adds no step.
func (m *member) steps(c *configuredSteps) (all []Around) {
	if c.admit != nil {
		all = append(all, c.admit)
	}
	if c.approves {
		all = append(all, m.approved)
	}
	if c.limit != nil {
		all = append(all, c.limit)
	}
	all = append(all, c.around...)
	if m.login != nil && m.server.URL != "" {
		all = append(all, m.loggedIn)
	}
	return all
}

// composedSteps are the steps of the requests to one target, as a handler. They are composed
// again after another configuration was applied.
type composedSteps struct{ last atomic.Pointer[stepsHandler] }

type stepsHandler struct {
	steps   *configuredSteps
	handler toolpost.Handler
}

// handler returns the handler that runs the steps, and then h.
func (s *composedSteps) handler(ctx context.Context, m *member, to *observe.Target, h toolpost.Handler) toolpost.Handler {
	c := m.configured.Load()
	if ctx.Value(profileKey{}) != nil { // views may have profiles that the gateway does not know
		c = c.approving
	}
	if last := s.last.Load(); last != nil && last.steps == c {
		return last.handler
	}
	for _, around := range slices.Backward(m.steps(c)) {
		h = around(to, h)
	}
	s.last.Store(&stepsHandler{c, h})
	return h
}
