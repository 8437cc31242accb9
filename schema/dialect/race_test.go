//go:build race

package dialect_test

// slowdown is how much longer code may take under the race detector.
const slowdown = 20
