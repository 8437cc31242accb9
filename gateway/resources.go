package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

const (
	maxAliases    = 10_000
	maxAliasDepth = 32
)

// aliases are the URIs of a server that another server has too. Clients know
// scheme://rest of such a server as scheme://key/rest, where key names the
// server.
type aliases struct {
	mu   sync.RWMutex
	uris map[string]bool
}

// alias returns the other name of a URI, "" if it can have none.
func alias(key, uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || scheme == "" || len(uri) > maxLinkedURI {
		return ""
	}
	return scheme + "://" + key + "/" + rest
}

// add gives a URI of the server another name, and returns it.
func (a *aliases) add(key, uri string) string {
	other := alias(key, uri)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case other == "" || len(a.uris) >= maxAliases && !a.uris[uri]:
		return ""
	case a.uris == nil:
		a.uris = map[string]bool{}
	}
	a.uris[uri] = true
	return other
}

func (a *aliases) has(uri string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.uris[uri]
}

// hasAny reports whether a URI of the server has another name.
func (a *aliases) hasAny() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.uris) > 0
}

// clientURI returns the name of a URI that clients know.
func (a *aliases) clientURI(key, uri string) string {
	if a.has(uri) {
		return alias(key, uri)
	}
	return uri
}

// restore returns the URI that an alias stands for, "" if uri is not an alias.
func (a *aliases) restore(key, uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	rest, ok := strings.CutPrefix(rest, key+"/")
	if own := scheme + "://" + rest; ok && a.has(own) {
		return own
	}
	return ""
}

// show returns JSON with the URIs that clients know: in the members that name
// resources. Their data stays unchanged.
func (a *aliases) show(key string, raw json.RawMessage) json.RawMessage {
	if !a.hasAny() {
		return raw
	}
	return a.showIn(key, "", raw, 0)
}

func (a *aliases) showIn(key, name string, raw json.RawMessage, depth int) json.RawMessage {
	switch {
	case depth > maxAliasDepth || len(raw) == 0 || slices.Contains(wire.DataMembers, name):
	case raw[0] == '"' && slices.Contains(wire.URIMembers, name):
		if uri := wire.Unquote(raw); a.has(uri) {
			return wire.Quote(alias(key, uri))
		}
	case raw[0] == '{':
		return wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage { return a.showIn(key, name, value, depth+1) })
	case raw[0] == '[':
		return editElements(raw, func(item json.RawMessage) json.RawMessage { return a.showIn(key, "", item, depth+1) })
	}
	return raw
}

// editElements returns an array with its elements changed: f returns another
// value, the same, or nil to remove the element. Without a change it is the
// array itself.
func editElements(array json.RawMessage, f func(json.RawMessage) json.RawMessage) json.RawMessage {
	changed, b := false, append(make([]byte, 0, len(array)), '[')
	for item := range wire.Elements(array) {
		edited := f(item)
		changed = changed || edited == nil || len(edited) != len(item) || &edited[0] != &item[0]
		if edited == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, edited...)
	}
	if !changed {
		return array
	}
	return append(b, ']')
}

// resolve returns the server that a URI of clients belongs to, and the URI as
// that server knows it. The server is nil if none is known to have it.
func resolve(members []*member, uri string) (*member, string) {
	for _, m := range members {
		if slices.ContainsFunc(m.features().Resources, func(r *toolpost.Resource) bool { return !r.Template && r.URI == uri && !m.aliases.has(uri) }) {
			return m, uri
		}
	}
	for _, m := range members {
		if own := m.aliases.restore(m.key, uri); own != "" {
			return m, own
		}
	}
	return serverOf(members, uri), uri
}

// claimResources gives the resources of servers other names where the URIs are
// those of servers before them.
func claimResources(members []*member) {
	first := map[string]*member{}
	for _, m := range members {
		for _, r := range m.features().Resources {
			if r.Template || !safeURI(r.URI) {
				continue
			}
			if before := first[r.URI]; before == nil {
				first[r.URI] = m
			} else if before.link != m.link {
				m.aliases.add(m.key, r.URI)
			}
		}
	}
}

// Limits of the resources that are remembered because a server's results link to
// them.
const (
	maxLinked    = 1000
	maxLinkedURI = 2 << 10
)

// unlistedTime limits how long one server is asked for a resource that it may
// not have.
const unlistedTime = 10 * time.Second

// linkedURIs holds the URIs of resources that a server need not list: those that
// its results link to, and those that it has read. The oldest are forgotten.
type linkedURIs struct {
	mu    sync.Mutex
	uris  map[string]bool
	order []string
}

func (l *linkedURIs) add(uri string) {
	if uri == "" || len(uri) > maxLinkedURI {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uris[uri] {
		return
	}
	if l.uris == nil {
		l.uris = map[string]bool{}
	}
	if len(l.order) == maxLinked {
		delete(l.uris, l.order[0])
		l.order = append(l.order[:0], l.order[1:]...)
	}
	l.uris[uri] = true
	l.order = append(l.order, uri)
}

func (l *linkedURIs) has(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uris[uri]
}

// addLinks adds the resources that a tool's result names. Most results name
// none, and are not decoded.
func (l *linkedURIs) addLinks(r *toolpost.Result) {
	if r == nil {
		return
	}
	if o := hidden.EncodedOf(r).Long; o != nil {
		for _, u := range o.URIs {
			if u.Content {
				l.add(u.Text)
			}
		}
		return
	}
	if found := hidden.EncodedOf(r).Scan; found != nil && !found.Links {
		return
	}
	for _, p := range r.Parts() {
		if p.Type == "resource_link" || p.Type == "resource" {
			l.add(p.URI)
		}
	}
}

// serverOf returns the server that reads and subscriptions of the URI go to: the
// first that lists it, else the first that has a template for it, else the
// first that is known to have it. Nil means that no server is known to have it.
func serverOf(members []*member, uri string) *member {
	for _, template := range []bool{false, true} {
		for _, m := range members {
			for _, r := range m.features().Resources {
				if r.Template == template && r.Matches(uri) {
					return m
				}
			}
		}
	}
	for _, m := range members {
		if m.linked.has(uri) {
			return m
		}
	}
	return nil
}

// subscribe asks the server that owns the URI.
func subscribe(ctx context.Context, members []*member, uri string, on bool) error {
	m, own := resolve(members, uri)
	if m == nil {
		return fmt.Errorf("watch resource %s: %w", uri, toolpost.ErrNotFound)
	}
	f := m.features()
	if f.Subscribe == nil {
		return fmt.Errorf("watch resource %s: its server %q does not offer subscriptions: %w", uri, m.server.Name, toolpost.ErrNotFound)
	}
	err := f.Subscribe(ctx, own, on)
	if m.process == nil { // that of a session ends with its subscriptions
		m.watch(own, on && err == nil)
	}
	return err
}

// readUnlisted reads a resource that no server lists from the server that owns
// it. If none does, the servers that have resources are asked in turn.
func readUnlisted(ctx context.Context, members []*member, call *toolpost.Call) (*toolpost.Result, error) {
	if m, own := resolve(members, call.Name); m != nil {
		if read := m.features().ReadUnlisted; read != nil {
			return m.toClient(m.toServer(read, readResource, own), false)(ctx, call)
		}
	}
	var cause error
	for _, m := range members {
		read := m.features().ReadUnlisted
		if read == nil {
			continue
		}
		attempt, cancel := context.WithTimeout(ctx, unlistedTime)
		result, err := m.toServer(read, readResource, "")(attempt, call)
		cancel()
		if err == nil {
			m.linked.add(call.Name)
			return result, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var refused *toolpost.ProtocolError
		if !errors.As(err, &refused) && cause == nil {
			cause = fmt.Errorf("server %q: %w", m.server.Name, err)
		}
	}
	if cause != nil {
		return nil, cause
	}
	return nil, fmt.Errorf("read resource %s: %w", call.Name, toolpost.ErrNotFound)
}

// serversKey has the servers that a request may reach, in its context.
type serversKey struct{}

// limitServers returns a context for a request that reaches only these servers.
func limitServers(ctx context.Context, servers map[string]bool) context.Context {
	return context.WithValue(ctx, serversKey{}, servers)
}

// reachableMembers returns the members that a request may reach.
func reachableMembers(ctx context.Context, members []*member) []*member {
	servers, limited := ctx.Value(serversKey{}).(map[string]bool)
	if !limited {
		return members
	}
	return slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return !servers[m.server.Name] })
}
