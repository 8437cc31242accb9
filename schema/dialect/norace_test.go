//go:build !race

package dialect_test

const slowdown = 1
