// Package netdial dials connections that notice soon that the other side has gone without a word.
package netdial

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// A Dialer dials connections that end soon after the other side has gone without a
// word, as it does when a network changes, a machine sleeps or a firewall forgets the
// connection: when nothing that was sent is acknowledged for so long, or nothing answers
// a connection that is idle. One whose other side is there but busy stays.
type Dialer struct {
	dialer    net.Dialer
	deadAfter time.Duration
}

// NewDialer returns a Dialer. Timeout is that of a dial.
func NewDialer(timeout, deadAfter time.Duration) *Dialer {
	const probes = 3
	return &Dialer{net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadAfter / 2, Interval: deadAfter / 2 / probes, Count: probes},
	}, deadAfter}
}

// DialContext dials as [net.Dialer] does.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			limitUnacknowledged(raw, d.deadAfter)
			return &limitedConn{Conn: c, raw: raw, most: d.deadAfter}, nil
		}
	}
	return c, nil
}

// A limitedConn limits how long what it sent may be without an acknowledgement. For a
// kernel, that includes data which waits because the other side has no room for it,
// although that side acknowledges that it waits: a server that computes for minutes in
// the only thread that also reads. So the limit is long while more is on its way than
// surely fits there.
type limitedConn struct {
	net.Conn
	raw    syscall.RawConn
	most   time.Duration
	unread atomic.Int64 // bytes that were written since something came
	lifted atomic.Bool
}

// room is less than what systems keep of a connection for a process that does not read.
const room = 32 << 10

// longLimit is how long data that may wait for room may be without an acknowledgement.
const longLimit = 3 * time.Minute

// SyscallConn returns the connection of the system.
func (c *limitedConn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

func (c *limitedConn) Write(p []byte) (int, error) {
	if c.unread.Add(int64(len(p))) > room && !c.lifted.Swap(true) {
		limitUnacknowledged(c.raw, max(c.most, longLimit))
	}
	return c.Conn.Write(p)
}

func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.unread.Swap(0) > room && c.lifted.Swap(false) {
		limitUnacknowledged(c.raw, c.most)
	}
	return n, err
}
