package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/suggest"
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

// globs compiles patterns in which * matches any characters and ? matches one.
func globs(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nil
	}
	quoted := make([]string, len(patterns))
	for i, p := range patterns {
		quoted[i] = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(p))
	}
	return regexp.MustCompile(`(?s)^(?:` + strings.Join(quoted, "|") + `)$`)
}

// match reports whether one of the names matches; no globs match nothing.
func match(globs *regexp.Regexp, names ...string) bool {
	return globs != nil && slices.ContainsFunc(names, globs.MatchString)
}

// suggestTool returns the tool that an unmatched glob may mean, or the command
// that lists all tools.
func suggestTool(glob string, names []string) string {
	if best := suggest.Nearest(glob, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return `"toolpost list" shows the tools`
}
