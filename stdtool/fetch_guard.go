package stdtool

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// A guard lets requests reach public addresses, and those that are allowed. It
// looks at the address that is dialled, so that no name, no redirect and no
// change of a name in between leads elsewhere.
type guard struct {
	allow []netip.Prefix
}

// client returns a client whose connections all pass the guard. It knows no
// proxy: behind one, the address that is reached is unknown.
func (g guard) client(resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver, Control: g.control}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return toolpost.Failed.Errorf("%v redirects more than %d times", via[0].URL, maxRedirects)
			}
			return checkURL(r.URL)
		},
	}
}

const maxRedirects = 5

func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := to.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return nil
	}
	if !netaddr.IsPublic(ip) {
		return toolpost.Denied.Errorf("this address is private, and only public ones can be fetched: " +
			"ask the user to allow it with toolpost serve --allow-address, or FetchOptions.Allow in Go")
	}
	return nil
}

// checkURL rejects a URL that is not a plain address of a page.
func checkURL(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme == "":
		return toolpost.Retry.Errorf("the address has no scheme: begin it with https:// or http://")
	case u.Scheme != "http" && u.Scheme != "https":
		return toolpost.Retry.Errorf("%q cannot be fetched: give an address that begins with https:// or http://", u.Scheme+":")
	case host == "":
		return toolpost.Retry.Errorf("the address has no host: give one such as https://example.org/page")
	case u.User != nil:
		return toolpost.Denied.Errorf("the address contains a user name: remove it, as credentials are never sent")
	case netaddr.IsNumeric(host):
		return toolpost.Retry.Errorf("the host %q is not a valid IP address: write it like 192.0.2.1", host)
	}
	return nil
}

// fetchError returns the reason why an address was refused, and otherwise an error
// that reveals no more than the model knows.
func fetchError(ctx context.Context, u *url.URL, err error) error {
	var (
		o   *toolpost.ToolError
		dns *net.DNSError
		ue  *url.Error
	)
	switch {
	case errors.As(err, &o):
		return o
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSlow):
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return toolpost.Failed.Errorf("%s did not answer within %v", u.Host, maxFetch)
	case errors.As(err, &dns) && dns.IsNotFound:
		return toolpost.Retry.Errorf("the host %q does not exist: check the address", u.Hostname())
	case errors.As(err, &ue):
		err = ue.Err
	}
	return toolpost.Failed.Errorf("%s cannot be fetched: %v", u.Redacted(), err)
}
