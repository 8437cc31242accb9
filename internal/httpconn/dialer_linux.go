package httpconn

import (
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT (RFC 5482), which package syscall does not have.
const tcpUserTimeout = 0x12

// limitUnacknowledged returns a [net.Dialer] Control that ends connections whose data
// is not acknowledged for so long. Without it, that takes a quarter of an hour.
func limitUnacknowledged(most time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(most.Milliseconds())) // the connection works without it
		})
	}
}
