package gateway

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/policy/suspect"
)

// suspicion is what looks like an attack in the definition of one tool.
type suspicion struct {
	found    []suspect.Finding
	mentions []string // the servers whose tools it may name, by the beginnings of names
}

func suspicionOf(d *toolpost.Definition) *suspicion {
	raw, err := d.MarshalJSON()
	if err != nil {
		return nil
	}
	s := &suspicion{suspect.Definition(raw), suspect.Mentions(raw)}
	if len(s.found)+len(s.mentions) == 0 {
		return nil
	}
	return s
}

// noteSuspicion warns about the definition of a tool, which is served nevertheless.
func (j *joined) noteSuspicion(m *member, tool, name string) {
	s := m.suspicions[tool]
	if s == nil {
		return
	}
	if len(s.found) > 0 {
		texts := make([]string, len(s.found))
		for i, f := range s.found {
			texts[i] = f.String()
		}
		j.note(name, "server %s: the definition of its tool %q looks like an attack on the model: %s; read it, and leave the tool out with \"deny\" if you do not trust it", m.server.Name, tool, strings.Join(texts, "; "))
	}
	for _, key := range s.mentions {
		if other := j.keys[key]; other != nil && other.link != m.link {
			j.note(name, "server %s: the definition of its tool %q names a tool of server %s, so it may try to change how the model uses that one; read it", m.server.Name, tool, other.server.Name)
		}
	}
}

// noteLookalikes warns about tools of different servers whose names people may take
// for each other.
func (j *joined) noteLookalikes() {
	names := map[string][]string{}
	for _, t := range j.tools {
		s := suspect.Skeleton(t.Name)
		names[s] = append(names[s], t.Name)
	}
	for _, t := range j.tools { // in their order
		alike := names[suspect.Skeleton(t.Name)]
		i := slices.Index(alike, t.Name)
		if i > 0 && j.origins.tools[t.Name] != j.origins.tools[alike[0]] {
			j.note(t.Name, "server %s: the name of this tool looks like that of the tool %q of server %s; give one of the servers another prefix", j.origins.tools[t.Name], alike[0], j.origins.tools[alike[0]])
		}
	}
}
