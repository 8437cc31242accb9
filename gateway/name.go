package gateway

import (
	"regexp"
	"slices"

	"github.com/toolpost/toolpost/config"
)

var refused = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// serverKeys are the names of servers as they stand in tool names: only
// characters that every client accepts, and no two the same. They are none of
// those that are taken.
func serverKeys(servers []config.Server, taken ...string) []string {
	keys := make([]string, len(servers))
	for i, s := range servers {
		keys[i] = config.FreeName(refused.ReplaceAllString(s.Name, "_"), func(key string) bool {
			return slices.Contains(keys[:i], key) || slices.Contains(taken, key)
		})
	}
	return keys
}

// A claim asks for a name.
type claim struct {
	name     string
	fallback string // if another has the name
}

// assign gives every claim a name, "" if there is none: the first of equal
// names keeps it, the others get their fallback if no claim has it. The
// result depends on the order of the claims only.
func assign(claims []claim) []string {
	names, taken := make([]string, len(claims)), map[string]bool{}
	take := func(i int, name string) {
		if names[i] == "" && !taken[name] {
			names[i], taken[name] = name, true
		}
	}
	for i, c := range claims {
		take(i, c.name)
	}
	for i, c := range claims {
		take(i, c.fallback)
	}
	return names
}
