//go:build unix

package httpconn

import (
	"net"
	"syscall"
)

// canCheck reports whether the state of an idle connection can be checked.
const canCheck = true

// A check finds out whether the server has closed an idle connection.
type check struct {
	raw  syscall.RawConn
	read func(fd uintptr) bool
	idle bool // the last read found neither data nor the end
}

func newCheck(c net.Conn) *check {
	conn, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	k := &check{raw: raw}
	k.read = func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		k.idle = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true // do not wait for data
	}
	return k
}

// alive reports whether the connection is open and nothing has come on it. What
// comes without a request belongs to no response.
func (k *check) alive() bool {
	return k.raw.Read(k.read) == nil && k.idle
}
