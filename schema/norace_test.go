//go:build !race

package schema_test

const slowdown = 1
