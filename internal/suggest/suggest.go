// Package suggest finds the names that a misspelled one may mean.
package suggest

import (
	"sort"
	"strings"
)

// Nearest returns the known name that name may mean, "" if there is none.
func Nearest(name string, known []string) string {
	if names := Names(name, known, 1); len(names) > 0 {
		return names[0]
	}
	return ""
}

// Names returns up to most of the known names that name may mean, the nearest
// first.
func Names(name string, known []string, most int) (names []string) {
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	limit := 1 + min(len(name), maxDistance)/3
	for _, k := range known {
		a, b := strings.ToLower(name), strings.ToLower(k)
		d := distance(a, b)
		if len(a) > 2 && strings.Contains(b, a) {
			d = min(d, 1)
		}
		if d <= limit {
			near = append(near, scored{k, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	for _, s := range near[:min(most, len(near))] {
		names = append(names, s.name)
	}
	return names
}

// Misspelled returns the known name from which name differs in case, in separators or by
// one letter, or two if it is long; "" if there is none. Unlike [Nearest] it takes no name
// for another one that only has a part in common, such as PreUse for PostUse.
func Misspelled(name string, known []string) string {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	a := plain.Replace(strings.ToLower(name))
	limit := 1
	if len(a) > 5 {
		limit = 2
	}
	best, found := limit+1, ""
	for _, k := range known {
		if d := distance(a, plain.Replace(strings.ToLower(k))); d < best {
			best, found = d, k
		}
	}
	return found
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
