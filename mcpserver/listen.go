package mcpserver

import (
	"context"

	jsonx "github.com/go-json-experiment/json"
	"github.com/toolpost/toolpost/internal/wire"
)

const (
	// listenMethod opens a stream of notifications (MCP 2026-07-28).
	listenMethod = "subscriptions/listen"

	subscriptionID = `"` + wire.MetaPrefix + `subscriptionId"`
)

// subscriptions are the changes that a client wants to be notified of.
type subscriptions struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// allow removes what the server does not have. It reports whether any is left.
func (s *subscriptions) allow(f *features) bool {
	s.Prompts = s.Prompts && f.of != nil
	s.Resources = s.Resources && f.of != nil
	if f.Subscribe == nil {
		s.URIs = nil
	}
	return s.Tools || s.Prompts || s.Resources || len(s.URIs) > 0
}

// subscribe makes a listener hear of all that s names, as far as its view has it.
func (c *core) subscribe(ctx context.Context, l *listener, v *view, s *subscriptions) error {
	for method, wanted := range map[string]bool{toolsChanged: s.Tools, promptsChanged: s.Prompts, resourcesChanged: s.Resources} {
		if wanted {
			if err := c.changes.join(l, topic{method: method}); err != nil {
				return err
			}
		}
	}
	for _, uri := range s.URIs {
		if err := c.watchers.subscribe(ctx, l, v, uri); err != nil {
			return err
		}
	}
	return nil
}

// listen serves subscriptions/listen until ctx ends, or the server.
func (c *core) listen(ctx context.Context, r *request) (payload, error) {
	var wants subscriptions
	raw := wire.Get(r.Params, "notifications")
	if !wire.IsObject(raw) || jsonx.Unmarshal(raw, &wants) != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s: notifications must be an object that names what to listen to", r.Method)
	}
	listens := wants.allow(r.view.catalog.Load().features)
	meta := `"_meta":{` + subscriptionID + `:` + string(r.ID)
	l := &listener{changes: c.changes, subscription: r.ID, client: &r.client, view: r.view, watched: c.changes.watched.Of(r.sender.quotaHolder())}
	defer func() { c.watchers.leave(l, c.changes.forget(l)) }()
	if err := c.subscribe(ctx, l, r.view, &wants); err != nil {
		return nil, err
	}
	l.look()
	l.begin()
	agreed, err := jsonx.Marshal(&wants)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%s: %v", r.Method, err)
	}
	ack := []byte(`{` + meta + `},"notifications":` + string(agreed) + `}`)
	if err := r.out.send(ctx, wire.AppendRequest(nil, nil, "notifications/subscriptions/acknowledged", ack)); err != nil {
		return nil, err
	}
	if listens {
		l.open(r.out)
		select {
		case <-ctx.Done():
		case <-c.life.Done():
		}
	}
	return inMemory(`{"resultType":"complete",` + meta + `,` + serverInfo + `:` + string(c.introduction(r.view)) + `}}`), nil
}
