package netdial_test

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream/internal/netdial"
)

// The kernel ends a connection whose other side has gone, and later one whose other
// side has no room for what is sent.
func TestDialer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := netdial.NewDialer(time.Minute, 30*time.Second).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	const userTimeout = 0x12
	want := func(when string, options map[int]int) {
		t.Helper()
		raw, err := c.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			for option, want := range options {
				if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option); err != nil || got != want {
					t.Errorf("%s: option %d is %d, %v, want %d", when, option, got, err, want)
				}
			}
		})
	}
	exchange := func(when string, size, timeout int) {
		t.Helper()
		if _, err := c.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		want(when, map[int]int{userTimeout: timeout})
		if _, err := io.CopyN(io.Discard, peer, int64(size)); err != nil {
			t.Fatal(err)
		}
		if _, err := peer.Write([]byte("answer")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		want("after "+when, map[int]int{userTimeout: 30_000})
	}
	want("at first", map[int]int{userTimeout: 30_000, syscall.TCP_KEEPIDLE: 15, syscall.TCP_KEEPINTVL: 5, syscall.TCP_KEEPCNT: 3})
	exchange("a short request", 20<<10, 30_000)
	exchange("a long request", 64<<10, 180_000)
	exchange("a short request again", 20<<10, 30_000)
}
