package netdial

import (
	"syscall"
	"time"
)

// tcpConnDropTime is TCP_RXT_CONNDROPTIME, which package syscall does not have.
const tcpConnDropTime = 0x80

// limitUnacknowledged has the system end a connection whose data is not acknowledged for
// so long.
func limitUnacknowledged(c syscall.RawConn, most time.Duration) {
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpConnDropTime, int(most.Seconds())) // the connection works without it
	})
}
