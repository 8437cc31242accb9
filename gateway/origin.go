package gateway

import (
	"context"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// origins are the servers that tools, prompts and resources come from, by the
// names and URIs that clients know. Layers copy a tool, so that only its name says
// where it comes from.
type origins struct {
	tools, prompts map[string]string
	own            map[string]*toolpost.Tool // as the servers have them
	resources      map[resourceID]string
}

// A resourceID identifies what a client is listed: a template may have the URI of a
// resource of another server.
type resourceID struct {
	uri      string
	template bool
}

func newOrigins() origins {
	return origins{map[string]string{}, map[string]string{}, map[string]*toolpost.Tool{}, map[resourceID]string{}}
}

// origins returns where everything comes from that clients can be shown now.
func (l *lists) origins() origins {
	if l == nil {
		return origins{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.joined.origins
}

// complete reports whether every server has listed what it has.
func (l *lists) complete() bool {
	return l == nil || !slices.ContainsFunc(l.current(), func(m *member) bool {
		return !m.server.Disabled && m.status().State != upstream.Ready
	})
}

// declared returns what some of the servers offer together, but for prompts and
// resources: their instructions, extensions and subscriptions.
func (l *lists) declared(servers map[string]bool) *toolpost.Features {
	members := slices.DeleteFunc(slices.Clone(l.current()), func(m *member) bool { return !servers[m.server.Name] })
	j := &joined{features: &toolpost.Features{}}
	j.joinRequests(members)
	j.joinExtensions(members)
	j.joinInstructions(members)
	j.joinIntroductions(members)
	return j.features
}

// serversKey has the servers that a request may reach, in its context.
type serversKey struct{}

// limitServers returns a context for a request that reaches only these servers.
func limitServers(ctx context.Context, servers map[string]bool) context.Context {
	return context.WithValue(ctx, serversKey{}, servers)
}

// reachable returns the members that a request may reach.
func reachable(ctx context.Context, members []*member) []*member {
	servers, limited := ctx.Value(serversKey{}).(map[string]bool)
	if !limited {
		return members
	}
	return slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return !servers[m.server.Name] })
}
