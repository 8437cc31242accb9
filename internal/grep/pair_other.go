//go:build !amd64

package grep

// fastPairs reports whether a pair is faster than a byte that is frequent.
const fastPairs = false

// indexPair returns a place in a and b before which the pair is not.
func indexPair(_, _ *byte, _ int, _, _ *[2]uint64) int { return 0 }
