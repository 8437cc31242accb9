//go:build race

package grep_test

// share is the part of all random cases that is tried: the race detector makes
// them slow, and finds nothing more in the others.
const share = 10
