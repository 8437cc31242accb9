package grep

// fastPairs reports whether a pair is faster than a byte that is frequent.
const fastPairs = true

// indexPair returns a place in a and b, of n bytes each, before which the pair
// is not: the first where it is, or one of the last 31.
//
//go:noescape
func indexPair(a, b *byte, n int, want, fold *[2]uint64) int
