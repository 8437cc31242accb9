package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// maxDeclared bounds what all servers declare together. Clients get it with
// each handshake.
const maxDeclared = 16 << 10

// joinExtensions declares the extensions that the servers declare, and routes
// their methods.
func (j *joinResult) joinExtensions(members []*member) {
	x := &router{members: members}
	for _, m := range members {
		if !m.extends() {
			continue
		}
		j.features.Extend, j.features.Notified = x.handle, x.forwardNotification
		both := extension.Merge(j.features.Capabilities, m.allowedCapabilities())
		if len(both) > maxDeclared {
			j.note("", "server %s: its extensions are not declared to clients, because the servers declare more than %d bytes together", m.server.Name, maxDeclared)
			continue
		}
		j.features.Capabilities = both
	}
}

// extends reports whether the server may get methods that are not MCP's own.
func (m *member) extends() bool {
	return !m.server.Disabled && (m.server.Extensions == nil || len(m.server.Extensions) > 0) && m.features().Extend != nil
}

// allowedCapabilities returns what the server declares and the configuration lets through.
func (m *member) allowedCapabilities() json.RawMessage {
	declared := m.features().Capabilities
	if m.server.Extensions == nil {
		return declared
	}
	return extension.Keep(declared, func(name string) bool { return match(m.extensions, name) })
}

// A router sends the requests that are not MCP's own to the servers that know
// them.
type router struct{ members []*member }

// handle routes a request. Nothing is sent twice, and nothing to a server that
// was not asked for it.
func (x *router) handle(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	x = &router{reachableMembers(ctx, x.members)}
	targets := x.targets(call.Name)
	switch {
	case len(targets) == 0:
		return nil, fmt.Errorf("method %s: %w", call.Name, toolpost.ErrNotFound)
	case extension.IsOfTasks(call.Name):
		return x.handleTask(ctx, targets, call)
	}
	return x.route(ctx, targets, call)
}

func (x *router) route(ctx context.Context, targets []*member, call *toolpost.Call) (*toolpost.Result, error) {
	switch {
	case strings.HasSuffix(call.Name, "/list") && len(x.members) > 1:
		return x.list(ctx, targets, call)
	case len(targets) == 1:
		return targets[0].send(ctx, call)
	}
	m, params := x.choose(targets, call)
	if m == nil {
		return nil, invalid("servers %s offer %s, and nothing in the params says which is meant; use a name, id or uri from one of their lists, or connect to one of them alone",
			serverNames(targets), call.Name)
	}
	c := *call
	c.Params = params
	return m.send(ctx, &c)
}

// targets returns the servers that a method belongs to: those that declare it,
// otherwise the only server, otherwise those that declare what may have any
// methods.
func (x *router) targets(method string) []*member {
	var declare, open, only []*member
	for _, m := range x.members {
		if !m.server.Disabled {
			only = append(only, m)
		}
		if !m.extends() {
			continue
		}
		declared := m.allowedCapabilities()
		if extension.Of(method, declared) {
			declare = append(declare, m)
		}
		if m.server.Extensions == nil && extension.Open(declared) {
			open = append(open, m)
		}
	}
	switch {
	case len(declare) > 0:
		return declare
	case len(only) == 1 && only[0].extends() && only[0].server.Extensions == nil:
		return only
	}
	return open
}

// choose returns the server that the params name, and the params as that
// server knows them.
func (x *router) choose(targets []*member, call *toolpost.Call) (*member, json.RawMessage) {
	if uri := text(call.Params, "uri"); uri != "" {
		m, _ := resolve(targets, uri)
		return m, call.Params // send restores the uri
	}
	for _, key := range []string{"name", "id"} {
		value := text(call.Params, key)
		if m, own := namedBy(targets, value); m != nil {
			return m, wire.Set(call.Params, key, wire.Quote(own))
		}
	}
	return nil, nil
}

// namedBy returns the server whose prefix a name has, the longest one, and the
// name without it.
func namedBy(members []*member, name string) (found *member, own string) {
	for _, m := range members {
		rest, ok := strings.CutPrefix(name, m.prefixAmong(members))
		if ok && rest != "" && (found == nil || len(rest) < len(own)) {
			found, own = m, rest
		}
	}
	return found, own
}

// prefixAmong returns what the names of the server's items begin with in lists
// of several servers.
func (m *member) prefixAmong(members []*member) string {
	for _, other := range members {
		if other.link != m.link && other.prefix == m.prefix {
			return m.key + "__"
		}
	}
	return m.prefix
}

// send sends a request to the server, and returns its result as clients get it.
func (m *member) send(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	extend := m.features().Extend
	if extend == nil {
		return nil, fmt.Errorf("method %s: %w", call.Name, toolpost.ErrNotFound)
	}
	c := *call
	if own := m.aliases.restore(m.key, text(c.Params, "uri")); own != "" {
		c.Params = wire.Set(c.Params, "uri", wire.Quote(own))
	}
	result, err := m.toServer(extend, call.Name, "")(ctx, &c)
	if err != nil {
		return nil, err
	}
	if result == nil {
		result = toolpost.NewResult()
	}
	raw := hidden.EncodedOf(result).Raw
	if raw == nil { // of a toolset in this program
		if raw, err = result.MarshalJSON(); err != nil {
			return nil, err
		}
		result = toolpost.RawResult(raw)
	}
	return m.clientResult(ctx, result, nil), nil
}

// forwardNotification passes a notification to the servers that its method belongs to.
func (x *router) forwardNotification(call *toolpost.Call) {
	targets := x.targets(call.Name)
	c := *call
	if extension.IsOfTasks(call.Name) {
		t := x.find(call, text(call.Params, "taskId"))
		if t == nil {
			return
		}
		targets = slices.DeleteFunc(slices.Clone(targets), func(m *member) bool { return m.link != t.link })
		c.Params = t.restoreID(c.Params)
	}
	for _, m := range targets {
		if notified := m.features().Notified; notified != nil {
			notified(&c)
		}
	}
}

// mayNotify reports whether the configuration passes a notification of the server
// to clients.
func (m *member) mayNotify(method string) bool {
	return !m.server.Disabled && (m.server.Extensions == nil || method == wire.LogMessage || extension.Of(method, m.allowedCapabilities()))
}

func text(object json.RawMessage, name string) string { return wire.Unquote(wire.Get(object, name)) }

func serverNames(members []*member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.server.Name
	}
	return strings.Join(names, ", ")
}

func invalid(format string, args ...any) error {
	return &toolpost.ProtocolError{Code: wire.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// gather asks the server for all pages of its list.
func (m *member) gather(ctx context.Context, call *toolpost.Call) part {
	ctx, cancel := context.WithTimeout(ctx, unlistedTime)
	defer cancel()
	p := part{member: m}
	c := *call
	c.Caller = nil // the progress of several servers is not one
	size := 0
	for range maxMergedPages {
		result, err := m.send(ctx, &c)
		if err != nil {
			p.err = err
			return p
		}
		raw := hidden.EncodedOf(result).Raw
		key, array := listOf(call.Name, raw)
		if p.first == nil {
			p.first, p.list = raw, key
		}
		for item := range wire.Elements(array) {
			if size += len(item); size > largestMerged || len(p.items) >= maxMerged {
				return p
			}
			p.items = append(p.items, item)
		}
		cursor := wire.Get(raw, "nextCursor")
		if wire.Unquote(cursor) == "" {
			return p
		}
		c.Params = wire.Set(call.Params, "cursor", cursor)
	}
	return p
}
