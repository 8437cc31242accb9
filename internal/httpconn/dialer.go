package httpconn

import (
	"net"
	"time"
)

// NewDialer returns a dialer of connections that end soon after the other side has
// gone without a word, as it does when a network changes, a machine sleeps or a
// firewall forgets the connection: when nothing that was sent is acknowledged for
// so long, or nothing answers a connection that is idle. Timeout is that of a dial.
func NewDialer(timeout, deadAfter time.Duration) *net.Dialer {
	const probes = 3
	return &net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadAfter / 2, Interval: deadAfter / 2 / probes, Count: probes},
		Control:         limitUnacknowledged(deadAfter),
	}
}
