package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/approval"
	"github.com/toolpost/toolpost/upstream"
)

// Direct returns a tool as a gateway of its own would serve it that starts now: by the same
// name, and with results in full. The references are those of its server, which had their
// secrets when it was started. Direct returns an error if a new gateway of the same
// configuration might have another tool by that name, or none: while a server that may have
// it too has not listed, or where names of servers collide. The user may have to approve no
// call of the tool; if a rule that was added since wants it, nobody is asked, and the handler
// returns neither a result nor an error.
func (g *Gateway) Direct(ctx context.Context, name string) (tool *toolpost.Tool, references []config.Reference, err error) {
	g.work.Lock()
	defer g.work.Unlock()
	g.mu.Lock()
	members, joined := g.members, g.joined
	g.mu.Unlock()
	server, known := joined.origins.tools[name]
	if !known {
		return nil, nil, fmt.Errorf("there is no tool %q", name)
	}
	if len(g.added) > 0 {
		return nil, nil, errors.New("the program adds tools of its own")
	}
	for _, m := range members {
		owns := m.server.Name == server
		if err := m.checkDirect(name, owns); err != nil {
			return nil, nil, err
		}
		if own := joined.origins.own[name]; owns && own != nil {
			if m.approver.mayAsk(ctx, approval.Target{Server: server, Tool: own.Name, Definition: &own.Definition}) {
				return nil, nil, errors.New("the user may have to approve a call")
			}
			references = m.server.References()
		}
	}
	var ts toolpost.Toolset = toolpost.ToolsetFunc(func(context.Context) (one []*toolpost.Tool, err error) {
		for _, t := range joined.tools {
			if t.Name == name {
				one = append(one, t)
			}
		}
		return one, nil
	})
	if g.options.Middleware != nil {
		ts = toolpost.Wrap(ts, g.options.Middleware)
	}
	set, err := toolpost.NewSet(ctx, ts)
	if err != nil {
		return nil, nil, err
	}
	return &toolpost.Tool{Definition: set.Lookup(name).Definition, Handler: callUnasked(set)}, references, nil
}

// checkDirect reports why it is not certain that a tool is this server's, or if it is, that a
// new connection would answer the same. The caller holds work.
func (m *member) checkDirect(name string, owns bool) error {
	state := m.status().State
	switch {
	case owns && state != upstream.Ready:
		return fmt.Errorf("server %q is %s", m.server.Name, state)
	case owns && m.aliases.hasAny():
		return fmt.Errorf("URIs of server %q are also those of another", m.server.Name)
	case owns, state == upstream.Disabled:
		return nil
	case !strings.HasPrefix(name, m.prefix) && !strings.HasPrefix(name, m.key+"__"):
		return nil
	case state != upstream.Ready:
		return fmt.Errorf("server %q, which may have the tool, is %s", m.server.Name, state)
	}
	for _, o := range m.offered {
		for _, wanted := range m.claimOf("tool", o.name, cleartext.Clean(o.name)).wanted {
			if wanted == name {
				return fmt.Errorf("server %q has a tool of that name too", m.server.Name)
			}
		}
	}
	return nil
}

// callUnasked returns a handler that calls tools of a set. It returns nothing if the user has
// to approve the call: nobody is asked.
func callUnasked(set *toolpost.Set) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		unasked := new(atomic.Bool)
		result, err := set.Call(context.WithValue(ctx, unaskedKey{}, unasked), call)
		if unasked.Load() {
			return nil, nil
		}
		return result, err
	}
}

// unaskedKey has the *atomic.Bool of a call about which nobody is asked, in its context. It is
// set if somebody had to be.
type unaskedKey struct{}

// isUnasked reports whether nobody is asked about a call, and notes that somebody had to be.
func isUnasked(ctx context.Context) bool {
	unasked, is := ctx.Value(unaskedKey{}).(*atomic.Bool)
	if is {
		unasked.Store(true)
	}
	return is
}
