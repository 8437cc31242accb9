package mcpserver

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/netaddr"
	"github.com/toolpost/toolpost/internal/wire"
)

// A guard refuses requests of web pages in a browser on this machine: those that
// use a host name of their own (DNS rebinding) and those from another origin.
// Clients other than browsers send no Origin.
type guard struct{ hosts, origins []string }

// single are the headers that decide who is served what. A request must not have
// one of them twice: a proxy in front might check the other one.
var single = [...]string{"Origin", "Sec-Fetch-Site", "Authorization", sessionHeader, versionHeader, methodHeader, nameHeader}

func (g *guard) check(r *http.Request) *wire.Error {
	if !g.allowsHost(r.Host) {
		return wire.Errorf(wire.CodeInvalidRequest, "the Host %.100q is not served here; allow it in the server's configuration", r.Host)
	}
	for _, name := range single {
		if len(r.Header[name]) > 1 {
			return wire.Errorf(wire.CodeInvalidRequest, "the request has several %s headers; send one", name)
		}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		switch site := r.Header.Get("Sec-Fetch-Site"); site {
		case "", "none", "same-origin":
			return nil
		default:
			return wire.Errorf(wire.CodeInvalidRequest, "requests from other sites (Sec-Fetch-Site: %.40s) are refused", site)
		}
	}
	if !g.allowsOrigin(origin, r.Host) {
		return wire.Errorf(wire.CodeInvalidRequest, "the Origin %.100q is not allowed; allow it in the server's configuration", origin)
	}
	return nil
}

func (g *guard) allowsHost(host string) bool {
	name := hostname(host)
	return netaddr.IsLoopback(name) || slices.ContainsFunc(g.hosts, func(h string) bool {
		return h == "*" || strings.EqualFold(h, host) || strings.EqualFold(strings.Trim(h, "[]"), name)
	})
}

// allowsOrigin accepts the same origin, other ports of this machine for
// servers on this machine, and what is configured.
func (g *guard) allowsOrigin(origin, host string) bool {
	if slices.ContainsFunc(g.origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, host) || netaddr.IsLoopback(u.Hostname()) && netaddr.IsLoopback(hostname(host))
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

// acceptance is what a client says it can read.
type acceptance struct {
	json, events bool
	named        bool // it names events, and does not only accept everything
}

// accepts reads the Accept header; without one, everything is accepted.
func accepts(h http.Header) (a acceptance) {
	values := h.Values("Accept")
	if len(values) == 0 {
		return acceptance{json: true, events: true}
	}
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			kind, _, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				a.json = true
			case "text/event-stream":
				a.events, a.named = true, true
			case "text/*":
				a.events = true
			case "*/*":
				a.json, a.events = true, true
			}
		}
	}
	return a
}
