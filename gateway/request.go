package gateway

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// Methods of the requests that go to servers; those of extensions have their own.
const (
	callTool     = "tools/call"
	getPrompt    = "prompts/get"
	readResource = "resources/read"
	complete     = "completion/complete"
)

// toServer returns a handler that calls h as the server knows the request: with its
// own name, unless name is empty, and with its own ids of the client's tasks.
// Requests are counted while they run. All requests to a server pass here.
func (m *member) toServer(h toolpost.Handler, method, name string) toolpost.Handler {
	to := observe.Target{Method: method}
	if method == getPrompt {
		to.Name = name
	}
	return m.toTarget(h, to, name)
}

// callServer is toServer for a tool.
func (m *member) callServer(t *toolpost.Tool) toolpost.Handler {
	return m.toTarget(t.Handler, observe.Target{Method: callTool, Name: t.Name, Definition: &t.Definition}, t.Name)
}

func (m *member) toTarget(h toolpost.Handler, target observe.Target, name string) toolpost.Handler {
	if h == nil {
		return nil
	}
	h = m.withLogin(h)
	target.Server, target.Transport = m.server.Name, m.transport()
	to := &target
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		m.calls.Add(1)
		defer m.calls.Add(-1)
		observe.From(ctx).SetTarget(to)
		inner := *call
		inner.Name = cmp.Or(name, call.Name)
		var err error
		if inner.Params, err = m.related(call); err != nil {
			return nil, err
		}
		result, err := m.exchange(ctx, to, &inner, h)
		noteUnavailable(ctx, err)
		if name != "" && err == nil {
			m.linked.addLinks(result)
		}
		return result, err
	}
}

// noteUnavailable records in the observed request that the server did not answer.
func noteUnavailable(ctx context.Context, err error) {
	unavailable, ok := errors.AsType[*toolpost.UnavailableError](err)
	switch {
	case !ok:
	case unavailable.Timeout:
		observe.From(ctx).Note(observe.Timeout)
	default:
		observe.From(ctx).Note(observe.Unavailable)
	}
}

// transport returns how the server is reached. One whose configuration does not say
// so is reached over HTTP or SSE, which is http here.
func (m *member) transport() string {
	switch c := &m.server.Config; {
	case c.Transport == InProcess, m.server.Redmine != nil:
		return ""
	case c.Transport != "":
		return string(c.Transport)
	case c.Command != "":
		return string(upstream.Stdio)
	}
	return string(upstream.HTTP)
}

// exchange runs h if limits admit the request and then the approval rules let it, and
// around it whatever runs around requests.
func (m *member) exchange(ctx context.Context, to *observe.Target, call *toolpost.Call, h toolpost.Handler) (*toolpost.Result, error) {
	approved := func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if err := m.approve(ctx, to, call); err != nil {
			return nil, err
		}
		if m.around == nil {
			return h(ctx, call)
		}
		return m.around(ctx, to, call, h)
	}
	if m.admit == nil {
		return approved(ctx, call)
	}
	return m.admit(ctx, to, call, approved)
}
