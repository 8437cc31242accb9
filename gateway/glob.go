package gateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/suggest"
)

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
