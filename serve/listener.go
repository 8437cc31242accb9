package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// A listener is the open port of serve. A nil listener is that of --stdio.
type listener struct {
	net.Listener
	host string // as it was asked for
}

// listen opens addr. Without a host that is loopback, not every interface.
func listen(addr string) (*listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usagef("the address to listen on is %q; want HOST:PORT, such as %s", addr, owner.DefaultAddress)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: the port is in use%s, or choose another port, such as --addr %s",
			addr, whoListens(net.JoinHostPort(host, port)), net.JoinHostPort(host, "0"))
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --addr HOST:PORT", addr, err)
	}
	return &listener{l, host}, nil
}

// loopback reports whether only programs on this machine reach the listener.
func (l *listener) loopback() bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

func (l *listener) wildcard() bool {
	ip, err := netip.ParseAddr(l.host)
	return err == nil && ip.IsUnspecified()
}

// url is the address for clients on this machine, "" without a listener.
func (l *listener) url() string {
	if l == nil {
		return ""
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	host := l.host
	if l.wildcard() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/mcp"
}

// hosts are the names by which clients on other machines address us.
func (l *listener) hosts() []string {
	switch {
	case l == nil || netaddr.IsLoopback(l.host):
		return nil
	case !l.wildcard():
		return []string{l.host}
	}
	var all []string
	if name, err := os.Hostname(); err == nil {
		all = append(all, name)
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, prefix.Addr().String())
		}
	}
	return all
}

// whoListens describes the program that has the port.
func whoListens(address string) string {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get("http://" + address + healthPath)
	if err != nil {
		return "; stop the program that uses it"
	}
	defer resp.Body.Close()
	var answer struct{ Status string }
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer) != nil || answer.Status != "ok" {
		return "; stop the program that uses it"
	}
	return ": toolpost runs there already; use it or stop it"
}
