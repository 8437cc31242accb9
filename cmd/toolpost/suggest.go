package main

import (
	"slices"
	"strings"
)

// nearest returns up to n of names that look most like name.
func nearest(name string, names []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	for _, other := range names {
		d := distance(strings.ToLower(name), strings.ToLower(other))
		if strings.Contains(strings.ToLower(other), strings.ToLower(name)) {
			d = 1
		}
		if d <= max(2, len(name)/3) {
			near = append(near, scored{other, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.distance - b.distance })
	var best []string
	for _, s := range near[:min(n, len(near))] {
		best = append(best, s.name)
	}
	return best
}

// distance is the number of characters to add, remove or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
