package netdial

import (
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT (RFC 5482), which package syscall does not have.
const tcpUserTimeout = 0x12

// limitUnacknowledged has the system end a connection whose data is not acknowledged for
// so long.
func limitUnacknowledged(c syscall.RawConn, most time.Duration) {
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(most.Milliseconds())) // the connection works without it
	})
}
