package floors

import (
	"slices"
	"strconv"
	"strings"
)

// sources are the packages with servers whose tools run in the program that serves. A
// program names those that it has; the packages of sourceless link none.
var (
	sources    = []string{"redmine"}
	sourceless = []string{"config", "gateway", "serve"}
)

// Links checks that the packages of sourceless do not link one of sources, not even through
// what they import.
func Links(files []*File) []Problem {
	all := packages(files)
	var found []Problem
	for _, from := range sourceless {
		seen := map[string]bool{from: true}
		for next := []string{from}; len(next) > 0; next = next[1:] {
			for _, f := range all[next[0]] {
				for _, i := range imports(f) {
					to := strings.TrimPrefix(strings.TrimPrefix(i.path, module), "/")
					switch {
					case !within(module, i.path) || seen[to]:
					case slices.Contains(sources, to):
						found = append(found, Problem{i.where, "links " + strconv.Quote(to) + " into " + strconv.Quote(from) + "; the program gives it, see OpenSource of package gateway"})
					default:
						next, seen[to] = append(next, to), true
					}
				}
			}
		}
	}
	return found
}
