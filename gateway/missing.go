package gateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/upstream"
)

// Missing returns the reason why the gateway has no tool of this name: it is
// withheld, or the server with the prefix of the name is not ready. It returns
// nil if there is another reason.
func (g *Gateway) Missing(tool string) error {
	g.mu.Lock()
	withheld := g.joined.withheld
	g.mu.Unlock()
	for _, w := range withheld {
		if w.Name == tool {
			return errors.New(w.Why)
		}
	}
	var of *member
	for _, m := range g.current() {
		if m.prefix != "" && strings.HasPrefix(tool, m.prefix) && (of == nil || len(m.prefix) > len(of.prefix)) {
			of = m
		}
	}
	if of == nil {
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
