package gateway

import (
	"fmt"
	"strings"
)

// suggest names the known key nearest to an unknown one, or all of them.
func suggest(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known keys are " + strings.Join(known, ", ")
}

// suggestTool returns the tool that an unmatched glob may mean, or the command
// that lists all tools.
func suggestTool(glob string, names []string) string {
	if best := nearest(glob, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return `"toolpost list" shows the tools`
}

// nearest returns the known name that may be meant, "" if there is none.
func nearest(name string, known []string) string {
	best, least := "", 1+min(len(name), maxDistance)/3
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

const maxDistance = 40

// distance is the number of inserted, deleted, replaced or swapped bytes
// between a and b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > maxDistance || len(b) > maxDistance {
		return maxDistance
	}
	var rows [3][maxDistance + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
