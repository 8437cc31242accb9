//go:build !linux

package httpconn

import (
	"syscall"
	"time"
)

// limitUnacknowledged is nil: only the probes of idle connections, and those of
// HTTP/2, notice that the other side has gone.
func limitUnacknowledged(time.Duration) func(network, address string, c syscall.RawConn) error {
	return nil
}
