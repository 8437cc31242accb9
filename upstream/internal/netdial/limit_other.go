//go:build !linux && !darwin

package netdial

import (
	"syscall"
	"time"
)

// limitUnacknowledged does nothing: Windows gives up after half a minute by itself.
func limitUnacknowledged(syscall.RawConn, time.Duration) {}
