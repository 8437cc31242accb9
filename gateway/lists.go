package gateway

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
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
