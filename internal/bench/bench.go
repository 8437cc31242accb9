// Package bench measures what the gateway adds to a call: its tests are
// benchmarks, run by "make bench".
package bench
