package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
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
		return nil, usagef("the address to listen on is %q; want HOST:PORT, such as %s", addr, defaultAddr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: the port is in use; is toolpost running already? Stop that, or choose another port, such as %s",
			addr, net.JoinHostPort(host, "0"))
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; choose another HOST:PORT", addr, err)
	}
	return &listener{l, host}, nil
}

// loopback says that only programs on this machine reach the listener.
func (l *listener) loopback() bool {
	ip, err := netip.ParseAddr(l.host)
	return l.host == "localhost" || err == nil && ip.IsLoopback()
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
	case l == nil || l.loopback():
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
