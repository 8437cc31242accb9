package gateway

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

const (
	maxAliases    = 10_000
	maxAliasDepth = 32
)

// Members that name resources, and members whose content is data.
var (
	uriMembers  = []string{"uri", "resourceUri", "ui/resourceUri"}
	dataMembers = []string{"structuredContent", "text", "blob"}
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

// any reports whether a URI of the server has another name.
func (a *aliases) any() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.uris) > 0
}

// shown returns the name of a URI that clients know.
func (a *aliases) shown(key, uri string) string {
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
	if !a.any() {
		return raw
	}
	return a.showIn(key, "", raw, 0)
}

func (a *aliases) showIn(key, name string, raw json.RawMessage, depth int) json.RawMessage {
	switch {
	case depth > maxAliasDepth || len(raw) == 0 || slices.Contains(dataMembers, name):
	case raw[0] == '"' && slices.Contains(uriMembers, name):
		if uri := wire.Unquote(raw); a.has(uri) {
			return wire.Quote(alias(key, uri))
		}
	case raw[0] == '{':
		return wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage { return a.showIn(key, name, value, depth+1) })
	case raw[0] == '[':
		return editElements(raw, func(item json.RawMessage) json.RawMessage { return a.showIn(key, name, item, depth+1) })
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

// claim gives a URI that the server lists another name if another server has it.
func (m *member) claim(members []*member, uri string) {
	switch o := serverOf(members, uri); {
	case uri == "" || m.aliases.has(uri) || m.aliases.restore(m.key, uri) != "":
	case o == nil:
		m.linked.add(uri)
	case o.link != m.link:
		m.aliases.add(m.key, uri)
	}
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
