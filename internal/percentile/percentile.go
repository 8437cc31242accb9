// Package percentile returns percentiles of sorted values.
package percentile

import "cmp"

// Of returns the smallest of the sorted values that p percent of them do not exceed,
// zero if there are none.
func Of[T cmp.Ordered](sorted []T, p int) (value T) {
	if len(sorted) == 0 {
		return value
	}
	return sorted[(len(sorted)*p+99)/100-1]
}
