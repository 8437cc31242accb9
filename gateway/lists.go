package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// lists are what some members offer, joined at one moment.
type lists struct {
	mu      sync.Mutex
	members []*member
	joined  *joinResult
}

func (l *lists) current() []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.members
}

func (l *lists) set(members []*member, j *joinResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.members, l.joined = members, j
}

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

// joinFeatures returns what some of the servers offer together, but for prompts and
// resources: their instructions, extensions and subscriptions.
func (l *lists) joinFeatures(servers map[string]bool) *toolpost.Features {
	members := slices.DeleteFunc(slices.Clone(l.current()), func(m *member) bool { return !servers[m.server.Name] })
	j := &joinResult{features: &toolpost.Features{}}
	j.joinRequests(members)
	j.joinExtensions(members)
	j.joinInstructions(members)
	j.joinIntroductions(members)
	return j.features
}

// Missing returns the reason why a client has no tool of this name: it is
// withheld, or its server is not ready: the one with the prefix of the name, or the
// only one. It returns nil if there is another reason, and says nothing about tools
// and servers that are not in the profile of the client.
func (g *Gateway) Missing(r observe.Client, tool string) error {
	c := g.views.chooser.Load()
	key, err := c.viewOf(r, g.logger)
	if err != nil {
		return nil // the client has no tools at all
	}
	p := c.profiles[key.profile]
	lists := g.listsOf(r)
	if why := lists.withheldFrom(tool, p); why != nil {
		return why
	}
	of := namedServer(lists.current(), tool)
	if of == nil || p != nil && !p.has(tool, of.server.Name) {
		return nil
	}
	switch s := of.status(); {
	case s.State == upstream.Ready:
		return nil
	case s.State == Disabled:
		return fmt.Errorf("server %q is disabled in the configuration", s.Name)
	case s.Err != nil:
		return fmt.Errorf("%w\nToolpost connects again by itself; call again later", s.Err)
	default:
		return fmt.Errorf("server %q is still %s; call again later", s.Name, s.State)
	}
}

// withheldFrom returns why a tool of the profile is withheld or denied, nil if it is
// neither.
func (l *lists) withheldFrom(tool string, p *profile) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.joined.withheld {
		if w.Name == tool && (p == nil || p.has(tool, w.Server)) {
			return errors.New(w.Why)
		}
	}
	if d, denied := l.joined.denied[tool]; denied && (p == nil || p.has(tool, d.server)) {
		return errors.New(d.why)
	}
	return nil
}

// namedServer returns the server that a tool belongs to by its name: the one with the
// longest prefix of the name, or the only one if it has no prefix; nil if there is
// none.
func namedServer(members []*member, tool string) (of *member) {
	if len(members) == 1 && members[0].prefix == "" {
		of = members[0]
	}
	for _, m := range members {
		if m.prefix != "" && strings.HasPrefix(tool, m.prefix) && (of == nil || len(m.prefix) > len(of.prefix)) {
			of = m
		}
	}
	return of
}

// How long a client waits for lists that may have changed.
const (
	beginRefresh = time.Second     // when it begins
	callRefresh  = 5 * time.Second // when it calls a tool that is not known
)

// Relist asks servers for their lists again that may have changed without a
// notification: the server with the prefix of a tool that is not known, or if tool is
// empty all whose changes would not be noticed. Each is asked at most once a minute, and
// none that is not in the profile of the client. Relist returns when their lists are
// served, or after a short time. It reports whether any was asked.
func (g *Gateway) Relist(ctx context.Context, r observe.Client, tool string) bool {
	c := g.views.chooser.Load()
	key, err := c.viewOf(r, g.logger)
	if err != nil {
		return false // the client has no tools at all
	}
	p := c.profiles[key.profile]
	members, limit := g.current(), beginRefresh
	if tool != "" {
		of := namedServer(members, tool)
		if of == nil || p != nil && !p.has(tool, of.server.Name) {
			return false
		}
		members, limit = []*member{of}, callRefresh
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	asked := make([]bool, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		if p == nil || p.admits(m.server.Name) {
			all.Go(func() { asked[i] = m.refreshFor(ctx, r.Session, tool == "") })
		}
	}
	all.Wait()
	for _, one := range asked {
		if one {
			g.work.Lock()
			defer g.work.Unlock()
			g.refresh()
			return true
		}
	}
	return false
}
