//go:build race

package schema_test

// slowdown is how much longer everything takes with the race detector.
const slowdown = 10
