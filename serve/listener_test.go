package serve

import (
	"github.com/google/go-cmp/cmp"
	"net"
	"strings"
	"testing"
)

func TestListener(t *testing.T) {
	tests := []struct {
		host, address  string
		loopback, wild bool
		hosts          []string
	}{
		{"127.0.0.1", "127.0.0.1", true, false, nil},
		{"::1", "::1", true, false, nil},
		{"localhost", "127.0.0.1", true, false, nil},
		{"localhost", "10.1.2.3", false, false, nil}, // as /etc/hosts may have it
		{"10.1.2.3", "10.1.2.3", false, false, []string{"10.1.2.3"}},
		{"box", "10.1.2.3", false, false, []string{"box"}},
		{"box", "127.0.1.1", true, false, []string{"box"}},
		{"0.0.0.0", "0.0.0.0", false, true, nil},
		{"::", "::", false, true, nil},
	}
	for _, tt := range tests {
		l := &listener{Listener: boundTo{net.ParseIP(tt.address)}, host: tt.host}
		if l.loopback() != tt.loopback || l.wildcard() != tt.wild {
			t.Errorf("%s at %s: %v, %v", tt.host, tt.address, l.loopback(), l.wildcard())
		}
		if hosts := l.hosts(); !tt.wild && !cmp.Equal(hosts, tt.hosts) {
			t.Errorf("%s at %s: %q", tt.host, tt.address, hosts)
		}
	}
	l, err := listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !strings.HasPrefix(l.url(), "http://127.0.0.1:") {
		t.Errorf("an address without a host listens on %s", l.url())
	}
}

// boundTo is a listener at an address.
type boundTo struct{ ip net.IP }

func (b boundTo) Addr() net.Addr          { return &net.TCPAddr{IP: b.ip, Port: 1} }
func (boundTo) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (boundTo) Close() error              { return nil }
