package mcpserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A guard keeps web pages away that a browser on this machine shows: those
// that reach it under their own name (DNS rebinding) and those that send
// requests across origins. Clients that are no browsers send no Origin.
type guard struct{ hosts, origins []string }

// single are the headers that decide who is served what. Of several, a proxy in
// front might check another one than the server reads.
var single = [...]string{"Origin", "Sec-Fetch-Site", "Authorization", sessionHeader, versionHeader, methodHeader, nameHeader}

func (g *guard) check(r *http.Request) *jsonrpc.Error {
	if !g.hostAllowed(r.Host) {
		return rpcError(jsonrpc.CodeInvalidRequest, "the Host %.100q is not served here; allow it in the server's configuration", r.Host)
	}
	for _, name := range single {
		if len(r.Header[name]) > 1 {
			return rpcError(jsonrpc.CodeInvalidRequest, "the request has several %s headers; send one", name)
		}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		switch site := r.Header.Get("Sec-Fetch-Site"); site {
		case "", "none", "same-origin":
			return nil
		default:
			return rpcError(jsonrpc.CodeInvalidRequest, "requests from other sites (Sec-Fetch-Site: %.40s) are refused", site)
		}
	}
	if !g.originAllowed(origin, r.Host) {
		return rpcError(jsonrpc.CodeInvalidRequest, "the Origin %.100q is not allowed; allow it in the server's configuration", origin)
	}
	return nil
}

func (g *guard) hostAllowed(host string) bool {
	name := hostname(host)
	return loopback(name) || slices.ContainsFunc(g.hosts, func(h string) bool {
		return h == "*" || strings.EqualFold(h, host) || strings.EqualFold(strings.Trim(h, "[]"), name)
	})
}

// originAllowed accepts the same origin, other ports of this machine for
// servers on this machine, and what is configured.
func (g *guard) originAllowed(origin, host string) bool {
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
	return strings.EqualFold(u.Host, host) || loopback(u.Hostname()) && loopback(hostname(host))
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// acceptance is what a client says it can read.
type acceptance struct{ json, events bool }

// accepts reads the Accept header; without one, everything is accepted.
func accepts(h http.Header) (a acceptance) {
	values := h.Values("Accept")
	if len(values) == 0 {
		return acceptance{true, true}
	}
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			kind, _, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				a.json = true
			case "text/event-stream", "text/*":
				a.events = true
			case "*/*":
				return acceptance{true, true}
			}
		}
	}
	return a
}

// setAccept says to the MCP library what it insists on, for clients and
// proxies that name only one of the two.
func setAccept(h http.Header) {
	if a := accepts(h); a.json || a.events {
		h.Set("Accept", "application/json, text/event-stream")
	}
}

// jsonErrors turns the plain texts with which the MCP library refuses
// requests into JSON-RPC errors.
type jsonErrors struct {
	http.ResponseWriter
	id     []byte
	status int // of a plain text that is to be written
}

// WriteHeader implements [http.ResponseWriter].
func (w *jsonErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *jsonErrors) Write(b []byte) (int, error) {
	if w.status == 0 {
		return writePaced(w.ResponseWriter, b)
	}
	w.Header().Del("X-Content-Type-Options")
	text := strings.TrimSpace(string(b))
	if text == "session not found" {
		text += ": it has ended, or never was; send initialize again"
	}
	fault := rpcError(jsonrpc.CodeInvalidRequest, "%s", text)
	writeJSON(w.ResponseWriter, w.status, failure(w.id, fault))
	return len(b), nil
}

// Unwrap serves [http.ResponseController].
func (w *jsonErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }
