//go:build unix

package dialect_test

import (
	"syscall"
	"time"
)

// cpu is the processor time that was used so far. Limits are on it, because
// other programs on the machine do not add to it.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
