package link

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
)

// A Gateway is the gateway that clients use instead of the servers in their files.
type Gateway struct {
	clients.Move
	URL string // of a serve that runs with the configuration, empty if there is none
}

// Gets reports whether a client whose file has this entry gets all servers of the gateway:
// it starts one with the configuration, or uses the address.
func (g *Gateway) Gets(entry json.RawMessage) bool {
	texts := textsIn(entry)
	return g.Starts(entry) && !slices.Contains(texts, "--profile") || g.URL != "" && slices.Contains(texts, g.URL)
}

// Starts reports whether a client whose file has this entry starts a gateway with the
// configuration.
func (g *Gateway) Starts(entry json.RawMessage) bool {
	texts := textsIn(entry)
	i := slices.Index(texts, "--config")
	return i >= 0 && i+1 < len(texts) && texts[i+1] == g.File
}

// textsIn returns the strings in a value.
func textsIn(value json.RawMessage) (texts []string) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return texts
}

// Duplicates returns the servers that a linked client starts itself and gets from the
// gateway too.
func (s *Store) Duplicates(f clients.File, g *Gateway) (found []clients.Server) {
	c, err := s.Keep(f, g.Gets)
	if c == nil || err != nil {
		return nil
	}
	servers, err := g.Compare(f, c.Before)
	if err != nil {
		return nil
	}
	for i := range servers {
		if servers[i].IsDuplicate() {
			found = append(found, servers[i])
		}
	}
	return found
}
