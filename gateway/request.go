package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
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
	target.Server, target.Transport = m.server.Name, m.transport()
	to, composed := &target, &composedSteps{}
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		m.calls.Add(1)
		defer m.calls.Add(-1)
		observe.From(ctx).SetTarget(to)
		inner := *call
		inner.Name = cmp.Or(name, call.Name)
		var err error
		if inner.Params, err = m.restoreRelatedTask(call); err != nil {
			return nil, err
		}
		result, err := composed.handler(ctx, m, to, h)(ctx, &inner)
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

// restoreRelatedTask returns the params of a call with the task that it belongs to as the
// server knows it. Of another client's task, the server would take what it asks
// and answers for that client.
func (m *member) restoreRelatedTask(call *toolpost.Call) (json.RawMessage, error) {
	if !m.tasks.hasAny() {
		return call.Params, nil
	}
	meta := wire.Get(call.Params, "_meta")
	related := wire.Get(meta, relatedTask)
	id := text(related, "taskId")
	if related == nil || id == "" {
		return call.Params, nil
	}
	t := m.tasks.find(call, id)
	if t == nil || t.link != m.link {
		return nil, unknownTask(id)
	}
	return wire.Set(call.Params, "_meta", wire.Set(meta, relatedTask, t.restoreID(related))), nil
}

// maxLogins bounds how often a call is repeated after its login: the server may be
// connected again only by the second time.
const maxLogins = 3

// loggedIn runs a request, and if that needs a login, once more after the login. A
// refused request was not carried out.
func (m *member) loggedIn(_ *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		began := time.Now()
		result, err := next(ctx, call)
		if !needsLogin(err) || ctx.Err() != nil || !call.CallerSupports("elicitation.url") || m.login(ctx, &m.server, call, began) != nil {
			return result, err
		}
		for tries := 0; tries < maxLogins && needsLogin(err) && ctx.Err() == nil; tries++ {
			result, err = next(ctx, call)
		}
		return result, err
	}
}

func needsLogin(err error) bool {
	unavailable, ok := errors.AsType[*toolpost.UnavailableError](err)
	return ok && unavailable.Login
}

// toClient returns a handler whose results have the URIs and task ids that
// clients know.
func (m *member) toClient(h toolpost.Handler, tool bool) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if tool {
			ctx = m.noteProcess(ctx, call)
		}
		result, err := h(ctx, call)
		if err != nil || result == nil {
			return result, err
		}
		if !tool {
			call = nil
		}
		return m.clientResult(ctx, result, call), nil
	}
}

// clientResult returns a result with the ids and URIs that clients know.
// Tool is the call of a tool, nil if the result is another one: that creates no
// task, because it may only repeat what the client sent.
func (m *member) clientResult(ctx context.Context, result *toolpost.Result, tool *toolpost.Call) *toolpost.Result {
	raw := hidden.EncodedOf(result).Raw
	if o := hidden.EncodedOf(result).Long; o != nil && m.aliases.hasAny() {
		if !o.More {
			return m.renamed(result)
		}
		raw, _ = o.Load() // encoding the result returns the same error
	}
	if len(raw) == 0 {
		return result
	}
	shown := raw
	if tool != nil {
		shown = m.tasks.remember(ctx, m, tool, raw)
	}
	shown = m.aliases.show(m.key, shown)
	if len(shown) == len(raw) && &shown[0] == &raw[0] {
		return result
	}
	return toolpost.RawResult(shown).WithOutputRef(result.OutputRef())
}

// renamed returns a result that may be in a file, and stays there, with the URIs that
// clients know.
func (m *member) renamed(result *toolpost.Result) *toolpost.Result {
	e := hidden.EncodedOf(result)
	e.Long.Rename(func(uri string) string { return m.aliases.clientURI(m.key, uri) })
	if meta := m.aliases.show(m.key, e.Scan.ResultMeta); !bytes.Equal(meta, e.Scan.ResultMeta) {
		found := *e.Scan
		found.ResultMeta = meta
		e.Scan = &found
		return hidden.NewResult(e).(*toolpost.Result).WithOutputRef(result.OutputRef())
	}
	return result
}

// read returns what reads a resource by the URI that clients know.
func (m *member) read(r *toolpost.Resource) toolpost.Handler {
	if r.Template || !m.aliases.has(r.URI) {
		return m.toClient(m.toServer(r.Read, readResource, ""), false)
	}
	return m.toClient(m.toServer(r.Read, readResource, r.URI), false)
}
