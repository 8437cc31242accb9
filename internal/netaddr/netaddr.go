// Package netaddr classifies network addresses: public ones, those of this machine, and
// numbers that browsers take for addresses. It also compares the origins of URLs.
package netaddr

import (
	"net/netip"
	"strings"

	"code.dny.dev/ssrf"
)

// IsNumeric reports whether a host is meant as an IPv4 address, as browsers do,
// but is not in the usual form: 127.1, 0x7f.0.0.1 or 2130706433.
func IsNumeric(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// IsLoopback reports whether a host always names this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// IsPublic reports whether an address is one of the open Internet. IPv4 addresses
// inside of IPv6 ones count as such.
func IsPublic(ip netip.Addr) bool {
	if inner, ok := embeddedIPv4(ip); ok {
		return IsPublic(inner)
	}
	azure := netip.AddrFrom4([4]byte{168, 63, 129, 16}) // Azure's own services, in no registry
	return ip != azure && ssrf.New().SafeAddr(ip) == nil
}

// embeddedIPv4 returns the IPv4 address that a translator would reach (RFC 6052,
// RFC 3056).
func embeddedIPv4(ip netip.Addr) (netip.Addr, bool) {
	b := ip.As16()
	switch {
	case !ip.Is6():
	case ip.Is4In6():
		return ip.Unmap(), true
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
