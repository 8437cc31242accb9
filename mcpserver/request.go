package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost"
)

// A request is one call of a method that this package answers itself,
// whatever transport it came by.
type request struct {
	message
	peer
	view  *shown
	whose identity
	token json.RawMessage // of progress; nil if the client wants none
	link  link
}

// A link is the way back to the client while its request is open.
type link interface {
	// notify sends a notification that belongs to the request.
	notify(ctx context.Context, method string, params json.RawMessage) error
	// log does so for notifications/message, if the client wants the level.
	log(ctx context.Context, level string, params json.RawMessage) error
	// ask sends a request to the client, in versions that allow it.
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// notify passes on what a handler has to tell.
func (r *request) notify(ctx context.Context, method string, params json.RawMessage) error {
	if !isObject(params) {
		params = json.RawMessage("{}")
	}
	switch method {
	case "notifications/progress":
		if r.token == nil {
			return nil
		}
		return r.link.notify(ctx, method, put(params, "progressToken", r.token))
	case "notifications/message":
		level := get(params, "level")
		if len(level) < 2 {
			return nil
		}
		return r.link.log(ctx, string(level[1:len(level)-1]), params)
	}
	return r.link.notify(ctx, method, params)
}

// A session caller answers handlers of a request whose session can be asked.
type sessionCaller struct{ *request }

var _ toolpost.Caller = sessionCaller{}

// Notify implements [toolpost.Caller].
func (c sessionCaller) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return c.notify(ctx, method, params)
}

// Request implements [toolpost.Caller].
func (c sessionCaller) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := c.require(method); err != nil {
		return nil, err
	}
	return c.link.ask(ctx, method, params)
}

// Methods answered here. The MCP library serves the others.
const (
	listTools     = "tools/list"
	callTool      = "tools/call"
	listPrompts   = "prompts/list"
	getPrompt     = "prompts/get"
	listResources = "resources/list"
	listTemplates = "resources/templates/list"
	readResource  = "resources/read"
	complete      = "completion/complete"
)

// listenMethod opens a stream of notifications (MCP 2026-07-28).
const listenMethod = "subscriptions/listen"

// ours reports whether this package answers a method.
func ours(method string) bool {
	switch method {
	case listTools, callTool, listPrompts, getPrompt, listResources, listTemplates, readResource, complete:
		return true
	}
	return false
}

// standard reports whether a method of the session era exists.
func standard(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
		"server/discover", listenMethod, "notifications/initialized", "notifications/cancelled",
		"notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return ours(method)
}

// named reports whether the request is for one tool, prompt or resource.
func (m *message) named() bool {
	return m.method == callTool || m.method == getPrompt || m.method == readResource
}
