package login

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

var (
	visitor = netip.MustParseAddrPort("127.0.0.1:50000")
	waiting = netip.MustParseAddrPort("127.0.0.1:7000")
)

// tables are what the system shows, by path.
type tables map[string]string

func (t tables) open(path string) (io.ReadCloser, error) {
	text, ok := t[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" + text)), nil
}

// row is a connection in a table: with 4 bytes an address is of IPv4, with 16 of IPv6.
func row(bytes int, local, remote netip.AddrPort, user, inode int) string {
	address := func(a netip.AddrPort) string {
		long := a.Addr().As16()
		return tableAddress(long[16-bytes:], a.Port())
	}
	return fmt.Sprintf("   0: %s %s 01 00000000:00000000 00:00000000 00000000 %5d        0 %d 1 0 20 4 30 10 -1\n", address(local), address(remote), user, inode)
}

// waitFor returns a callback of a user, which sees the tables.
func waitFor(own int, open func(path string) (io.ReadCloser, error)) *callback {
	return &callback{state: "known", answers: make(chan url.Values, 1), foreign: func(remote, local netip.AddrPort) bool {
		return isForeignTo(own, open, remote, local)
	}}
}

// answerOf makes a callback take an answer of the visitor, and returns the status.
func answerOf(c *callback, remote netip.AddrPort, state string) int {
	req := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7000"+callbackPath+"?code=x&state="+state, nil)
	req.RemoteAddr = remote.String()
	rec := httptest.NewRecorder()
	c.ServeHTTP(rec, req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(waiting))))
	return rec.Code
}

// Another user's browser does not complete a login, whatever its socket is.
func TestForeignUser(t *testing.T) {
	const v4, v6 = "/proc/net/tcp", "/proc/net/tcp6"
	server := row(4, waiting, visitor, 1000, 1)
	for name, test := range map[string]struct {
		own    int
		tables tables
		taken  bool
	}{
		"the user":                   {1000, tables{v4: server + row(4, visitor, waiting, 1000, 2), v6: ""}, true},
		"without IPv6":               {1000, tables{v4: server + row(4, visitor, waiting, 1000, 2)}, true},
		"the user by IPv6":           {1000, tables{v4: server, v6: row(16, visitor, waiting, 1000, 2)}, true},
		"the administrator":          {1000, tables{v4: server + row(4, visitor, waiting, 0, 2), v6: ""}, true},
		"another":                    {1000, tables{v4: server + row(4, visitor, waiting, 1001, 2), v6: ""}, false},
		"another by IPv6":            {1000, tables{v4: server, v6: row(16, visitor, waiting, 1001, 2)}, false},
		"reset":                      {1000, tables{v4: server, v6: ""}, false},
		"reset, without IPv6":        {1000, tables{v4: ""}, false},
		"closed":                     {1000, tables{v4: server + row(4, visitor, waiting, 0, 0), v6: ""}, false},
		"closed by IPv6":             {1000, tables{v4: server, v6: row(16, visitor, waiting, 0, 0)}, false},
		"closed by the user":         {1000, tables{v4: server + row(4, visitor, waiting, 1000, 0), v6: ""}, false},
		"a malformed table":          {1000, tables{v4: "x\n\n" + row(4, visitor, waiting, 1000, 2)[:60] + "\n", v6: "\x00"}, false},
		"no tables":                  {1000, tables{}, true},
		"a login of root":            {0, tables{v4: server + row(4, visitor, waiting, 1001, 2), v6: ""}, true},
		"another port of the user's": {1000, tables{v4: row(4, netip.AddrPortFrom(visitor.Addr(), 50001), waiting, 1000, 2), v6: ""}, false},
	} {
		c := waitFor(test.own, test.tables.open)
		if status := answerOf(c, visitor, "known"); (status == http.StatusOK) != test.taken || len(c.answers) == 1 != test.taken {
			t.Errorf("%s: the answer gets %d, want taken %v", name, status, test.taken)
		}
	}
}

// A visitor of the address ::1 is in the table of IPv6 only.
func TestForeignUserOfIPv6(t *testing.T) {
	client, server := netip.MustParseAddrPort("[::1]:50000"), netip.MustParseAddrPort("[::1]:7000")
	for user, foreign := range map[int]bool{1000: false, 1001: true} {
		shown := tables{"/proc/net/tcp": "", "/proc/net/tcp6": row(16, client, server, user, 2)}
		if isForeignTo(1000, shown.open, client, server) != foreign {
			t.Errorf("%d: want foreign %v", user, foreign)
		}
	}
}

// A request without the state does not have the tables read, and one with it is still taken.
func TestForeignUserWithoutState(t *testing.T) {
	shown, reads := tables{"/proc/net/tcp": row(4, visitor, waiting, 1000, 2)}, 0
	c := waitFor(1000, func(path string) (io.ReadCloser, error) {
		reads++
		return shown.open(path)
	})
	if status := answerOf(c, visitor, "guessed"); status != http.StatusBadRequest || reads != 0 {
		t.Errorf("a guess gets %d and has %d tables read", status, reads)
	}
	if status := answerOf(c, visitor, "known"); status != http.StatusOK || reads == 0 {
		t.Errorf("the answer gets %d, %d tables were read", status, reads)
	}
}

// Connections of the system are found while they last: also one of a socket of IPv6 to an
// address of IPv4, but not one that was closed or reset while its answer was on the way.
func TestForeignUserOfConnection(t *testing.T) {
	own := os.Getuid()
	if own == 0 {
		own = 1000 // its login may be completed by root
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(path) }
	if f, err := open("/proc/net/tcp"); err != nil {
		t.Skip(err)
	} else {
		f.Close()
	}
	for name, test := range map[string]struct {
		family int
		leave  func(fd int) // before the answer is looked at
		taken  bool
	}{
		"IPv4":         {syscall.AF_INET, nil, true},
		"IPv6":         {syscall.AF_INET6, nil, true},
		"closed":       {syscall.AF_INET, func(int) {}, false},
		"closed, IPv6": {syscall.AF_INET6, func(int) {}, false},
		"reset": {syscall.AF_INET, func(fd int) {
			_ = syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, arrived, left, status := waitFor(own, open), make(chan bool), make(chan bool), make(chan int, 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				arrived <- true
				<-left
				rec := httptest.NewRecorder()
				c.ServeHTTP(rec, req)
				status <- rec.Code
			}))
			defer server.Close()
			fd := visit(t, test.family, server.Listener.Addr().(*net.TCPAddr).Port)
			<-arrived
			if test.leave != nil {
				test.leave(fd)
				syscall.Close(fd)
			} else {
				defer syscall.Close(fd)
			}
			close(left)
			if got := <-status; (got == http.StatusOK) != test.taken {
				t.Errorf("the answer gets %d, want taken %v", got, test.taken)
			}
		})
	}
}

// visit sends an answer with the state to a port of 127.0.0.1, from a socket of a family.
func visit(t *testing.T, family, port int) (fd int) {
	t.Helper()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip(err) // without IPv6
	}
	var to syscall.Sockaddr = &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if family == syscall.AF_INET6 {
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0)
		to = &syscall.SockaddrInet6{Port: port, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	}
	if err := syscall.Connect(fd, to); err != nil {
		syscall.Close(fd)
		t.Fatal(err)
	}
	if _, err := syscall.Write(fd, []byte("GET "+callbackPath+"?code=x&state=known HTTP/1.1\r\nHost: 127.0.0.1:"+fmt.Sprint(port)+"\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	return fd
}
