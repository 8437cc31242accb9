package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/netaddr"
)

const (
	longestRequest = 30 * time.Second
	longestHeader  = 64 << 10
	longestAnswer  = 1 << 20
	maxRedirects   = 3
)

// A reach is the kind of network that an MCP server is in. The addresses that it
// names may be public, or in the same kind of network.
type reach string

const (
	public   reach = ""
	private  reach = "private"
	loopback reach = "loopback"
)

// isCarrierGrade reports whether an address is of the network that carriers and
// overlay networks use for their own. One of its addresses is the metadata service
// of a cloud.
func isCarrierGrade(ip netip.Addr) bool {
	return netip.MustParsePrefix("100.64.0.0/10").Contains(ip) && ip != netip.MustParseAddr("100.100.100.200")
}

// reachOf returns where an address is.
func reachOf(ip netip.Addr) reach {
	ip = ip.Unmap().WithZone("")
	switch {
	case ip.IsLoopback():
		return loopback
	case ip.IsPrivate(), isCarrierGrade(ip):
		return private
	}
	return public
}

// allows reports whether an address may be reached that a server named.
func (r reach) allows(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	switch reachOf(ip) {
	case loopback:
		return r == loopback
	case private:
		return r == private || r == loopback
	}
	return netaddr.IsPublic(ip)
}

// check returns why an address must not be requested.
func (r reach) check(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme == "http" && r == loopback && netaddr.IsLoopback(host):
	case u.Scheme != "https":
		return refusedf("%s://%s is not https", u.Scheme, u.Host)
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "" || u.User != nil || netaddr.IsNumeric(host) || strings.ContainsFunc(host, isForeignLetter):
		return refusedf("%q is not the name of a host", u.Host)
	case err == nil && !r.allows(ip):
		return refusedf("%s is an address of a private network", host)
	}
	return nil
}

// isForeignLetter reports whether a character is none of a host's name: names in
// other scripts have a form of ASCII, which does not look like another name.
func isForeignLetter(r rune) bool { return r <= ' ' || r > '~' }

// errRefused is wrapped by refusals of addresses.
var errRefused = errors.New("refused an address")

func refusedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errRefused}, args...)...)
}

// A network sends requests to addresses that servers name. It decides by the
// address that is dialled, so that no name leads elsewhere.
type network struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	proxy  func(*http.Request) (*url.URL, error)
}

func newNetwork() *network {
	return &network{
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		dial:  (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		proxy: http.ProxyFromEnvironment,
	}
}

// dialAllowed connects to one of the allowed addresses of a host.
func (n *network) dialAllowed(ctx context.Context, r reach, netw, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var all []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		all = []netip.Addr{ip}
	} else if all, err = n.lookup(ctx, host); err != nil {
		return nil, err
	}
	err = refusedf("%s leads to a private network", host)
	for _, ip := range all {
		if !r.allows(ip) {
			continue
		}
		var c net.Conn
		if c, err = n.dial(ctx, netw, net.JoinHostPort(ip.Unmap().String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// client returns a client for addresses that a server in r named.
func (n *network) client(r reach) *http.Client {
	direct := n.transport()
	direct.DialContext = func(ctx context.Context, netw, address string) (net.Conn, error) {
		return n.dialAllowed(ctx, r, netw, address)
	}
	proxied := n.transport() // the proxy decides what it reaches
	proxied.Proxy = n.proxy
	return &http.Client{
		Timeout:   longestRequest,
		Transport: &checkedTransport{r, n.proxy, direct, proxied},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if !netaddr.SameOrigin(req.URL, via[0].URL) || len(via) > maxRedirects {
				return refusedf("%s redirects to %s", via[0].URL.Host, req.URL.Host)
			}
			return nil
		},
	}
}

func (n *network) transport() *http.Transport {
	return &http.Transport{
		DialContext:            n.dial,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: longestHeader,
	}
}

// A checkedTransport refuses addresses before they are requested.
type checkedTransport struct {
	reach   reach
	proxy   func(*http.Request) (*url.URL, error)
	direct  *http.Transport
	proxied *http.Transport
}

func (t *checkedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.reach.check(req.URL); err != nil {
		return nil, err
	}
	if proxy, err := t.proxy(req); err != nil {
		return nil, err
	} else if proxy != nil {
		return t.proxied.RoundTrip(req)
	}
	return t.direct.RoundTrip(req)
}
