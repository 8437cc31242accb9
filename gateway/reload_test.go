package gateway

import (
	"errors"
	"testing"

	"github.com/toolpost/toolpost/config"
)

// What becomes of a server follows from what differs in its entry.
func TestStepsOfAPlan(t *testing.T) {
	entry := func(name string, change func(*config.Server)) config.Server {
		var s config.Server
		s.Name, s.Command = name, "run"
		if change != nil {
			change(&s)
		}
		return s
	}
	g := &Gateway{}
	for _, name := range []string{"same", "filtered", "moved", "broken", "gone", "own"} {
		g.members = append(g.members, newMember(entry(name, nil), keyOf(name), newLink(nil)))
	}
	g.added = g.members[5:]
	all, ended := g.compare([]config.Server{
		entry("new", nil),
		entry("moved", func(s *config.Server) { s.Command = "walk" }),
		entry("same", nil),
		entry("filtered", func(s *config.Server) { s.Allow = []string{"read"} }),
		entry("broken", func(s *config.Server) { s.Err = errors.New("no such secret") }),
	})
	want := map[string]step{"new": starts, "moved": starts, "same": stays, "filtered": changes, "broken": starts}
	for _, p := range all {
		if p.step != want[p.server.Name] || (p.before == nil) != (p.server.Name == "new") {
			t.Errorf("%s: step %d, before %v", p.server.Name, p.step, p.before)
		}
	}
	names := map[string]bool{}
	for _, m := range ended {
		names[m.server.Name] = true
	}
	if len(all) != 5 || len(names) != 3 || !names["moved"] || !names["broken"] || !names["gone"] {
		t.Errorf("%d servers; ended: %v", len(all), names)
	}
}
