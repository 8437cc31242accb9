// Package bench measures how long a list of tools takes: "make bench" runs it.
// The commands below it measure processes.
package bench
