//go:build !race

package invariants_test

const slowdown = 1
