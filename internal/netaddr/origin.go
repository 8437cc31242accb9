package netaddr

import (
	"net/netip"
	"net/url"
	"strings"
)

// SameOrigin reports whether two URLs have the same origin (RFC 6454): scheme, host
// and port, however they are written. The port may be left out where it is the
// default of the scheme.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Host == b.Host || strings.EqualFold(a.Scheme, b.Scheme) && host(a) == host(b) && port(a) == port(b)
}

func host(u *url.URL) string {
	name := u.Hostname()
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.String()
	}
	return strings.ToLower(name)
}

func port(u *url.URL) string {
	switch port := strings.TrimLeft(u.Port(), "0"); {
	case port != "":
		return port
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	case strings.EqualFold(u.Scheme, "http"):
		return "80"
	}
	return ""
}
