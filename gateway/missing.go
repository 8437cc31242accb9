package gateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/upstream"
)

// Missing returns the reason why a client has no tool of this name: it is
// withheld, or its server is not ready: the one with the prefix of the name, or the
// only one. It returns nil if there is another reason, and says nothing about tools
// and servers that are not in the profile of the client.
func (g *Gateway) Missing(r Client, tool string) error {
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
