package httpconn_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
)

// The kernel ends a connection whose other side has gone.
func TestDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := httpconn.NewDialer(time.Minute, 30*time.Second).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		for name, option := range map[string][2]int{
			"TCP_USER_TIMEOUT": {0x12, 30_000}, "TCP_KEEPIDLE": {syscall.TCP_KEEPIDLE, 15}, "TCP_KEEPINTVL": {syscall.TCP_KEEPINTVL, 5}, "TCP_KEEPCNT": {syscall.TCP_KEEPCNT, 3},
		} {
			if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option[0]); err != nil || got != option[1] {
				t.Errorf("%s is %d, %v, want %d", name, got, err, option[1])
			}
		}
	})
}
