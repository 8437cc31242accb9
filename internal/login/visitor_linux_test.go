package login

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// The table of the system has the user of a connection.
func TestOwnerOfConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client, server := c.LocalAddr().(*net.TCPAddr).AddrPort(), l.Addr().(*net.TCPAddr).AddrPort()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Skip(err)
	}
	if user, found := ownerOf(strings.NewReader(string(table)), client, server); !found || user != os.Getuid() {
		t.Errorf("the user is %d, %v; want %d", user, found, os.Getuid())
	}
	if user, found := ownerOf(strings.NewReader(string(table)), server, netip.MustParseAddrPort("127.0.0.1:1")); found {
		t.Errorf("a connection that is not there is of %d", user)
	}
	if isForeignVisitor(client, server) {
		t.Error("the user of the process is foreign")
	}
}

// Another user's browser does not complete a login.
func TestForeignUser(t *testing.T) {
	client, server := netip.MustParseAddrPort("127.0.0.1:50000"), netip.MustParseAddrPort("127.0.0.1:7000")
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: " + tableAddress(server) + " " + tableAddress(client) + " 01 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 20 4 30 10 -1\n" +
		"   1: " + tableAddress(client) + " " + tableAddress(server) + " 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20 4 30 10 -1\n"
	user, found := ownerOf(strings.NewReader(table), client, server)
	if !found || user != 1001 {
		t.Fatalf("the user is %d, %v", user, found)
	}
	for _, test := range []struct {
		own, user int
		foreign   bool
	}{{1000, 1001, true}, {1000, 1000, false}, {1000, 0, false}, {0, 1001, false}} {
		if isForeignUser(test.own, test.user) != test.foreign {
			t.Errorf("%d for a login of %d: want %v", test.user, test.own, test.foreign)
		}
	}
}
