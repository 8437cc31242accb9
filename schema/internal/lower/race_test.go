//go:build race

package lower_test

// share is the part of a value that is tried: the race detector makes it slow.
const share = 8
