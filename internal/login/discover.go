package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/toolpost/toolpost/internal/wellknown"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/upstream"
)

// A discovery is what a login to a server needs to know.
type discovery struct {
	resource string
	scopes   []string // that the server wants
	reach    reach
	meta     *oauthex.AuthServerMeta
}

// A challenge is how a server refused a request.
type challenge struct {
	bearer   bool   // it wants a token
	metadata string // the address of its metadata
	code     string
	scopes   []string
}

// readChallenge reads the headers WWW-Authenticate. A header that is malformed
// counts as none.
func readChallenge(h http.Header) (c challenge) {
	values := h.Values("WWW-Authenticate")
	if len(values) > 8 || len(strings.Join(values, "")) > 16<<10 {
		return c
	}
	all, err := oauthex.ParseWWWAuthenticate(values)
	if err != nil {
		return c
	}
	for _, one := range all {
		if one.Scheme == "bearer" {
			c.bearer = true
			c.code = one.Params["error"]
			c.scopes = cleanScopes(strings.Fields(one.Params["scope"]))
		}
		if m := one.Params["resource_metadata"]; m != "" && c.metadata == "" {
			c.metadata = m
		}
	}
	return c
}

// discover finds the authorization server of an MCP server (RFC 9728, RFC 8414).
func (l *Logins) discover(ctx context.Context, cfg *upstream.Config) (*discovery, error) {
	d, issuer, named, err := l.locate(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d.meta, err = l.readIssuer(ctx, l.network.client(d.reach), d.reach, issuer, named)
	return d, err
}

// locate asks an MCP server for its authorization server. Named reports whether it has
// metadata that names it.
func (l *Logins) locate(ctx context.Context, cfg *upstream.Config) (d *discovery, issuer string, named bool, err error) {
	c, r, err := l.probe(ctx, cfg)
	if err != nil {
		return nil, "", false, err
	}
	d = &discovery{reach: r, scopes: c.scopes}
	resource, err := readResource(ctx, l.network.client(r), c.metadata, address(cfg.URL))
	if err != nil {
		return nil, "", false, err
	}
	issuers := []string{origin(cfg.URL)} // as servers did before they had metadata (MCP 2025-03-26)
	d.resource = address(cfg.URL)
	if resource != nil {
		d.resource, issuers = resource.Resource, resource.AuthorizationServers
		if len(d.scopes) == 0 {
			d.scopes = cleanScopes(resource.ScopesSupported)
		}
	}
	issuer, err = chooseIssuer(cfg.Auth, issuers)
	return d, issuer, resource != nil, err
}

// probe asks the MCP server for a challenge, and notes in which network it is. Only
// an address that it was really reached at counts. Some servers want a login for
// their tools only.
func (l *Logins) probe(ctx context.Context, cfg *upstream.Config) (c challenge, r reach, err error) {
	initialize := wire.AppendRequest(nil, []byte("1"), "initialize", []byte(`{"protocolVersion":"`+wire.LastSession+`","capabilities":{},"clientInfo":{"name":"toolpost","version":"1"}}`))
	header, r, err := l.refusal(ctx, cfg, initialize, "")
	if c = readChallenge(header); err != nil || c.bearer {
		return c, r, err
	}
	list := wire.AppendRequest(nil, []byte("2"), "tools/list", []byte(`{}`))
	if header, _, err := l.refusal(ctx, cfg, list, header.Get("Mcp-Session-Id")); err == nil {
		if later := readChallenge(header); later.bearer {
			return later, r, nil
		}
	}
	return c, r, nil
}

// refusal sends a message without a token, and returns the header of the response and
// the network that the server is in.
func (l *Logins) refusal(ctx context.Context, cfg *upstream.Config, message []byte, session string) (h http.Header, r reach, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if to, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
			r = reachOf(to.Addr())
		}
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, cfg.URL, bytes.NewReader(message))
	if err != nil {
		return nil, r, errors.New("its url is malformed")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
		req.Header.Set("Mcp-Protocol-Version", wire.LastSession)
	}
	for name, value := range cfg.Headers {
		if !strings.ContainsFunc(value, unicode.IsControl) { // a reference to a secret is not read for this
			req.Header.Set(name, value)
		}
	}
	t := l.network.transport()
	t.Proxy = l.network.proxy
	if proxy, err := l.network.proxy(req); err == nil && proxy != nil {
		defer func() { r = public }() // the address is the proxy's
	}
	web := &http.Client{Transport: t, Timeout: longestRequest, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := web.Do(req)
	if err != nil {
		return nil, r, fmt.Errorf("reach the MCP server %s: %w", req.URL.Host, withoutURL(err))
	}
	resp.Body.Close()
	return resp.Header, r, nil
}

// wellKnown returns the addresses of a document of a server: for its path, and at
// the root.
func wellKnown(server, document string) []string {
	return slices.Compact([]string{wellknown.Address(server, document), wellknown.Address(origin(server), document)})
}

// readResource returns the metadata of a server, nil if it has none.
func readResource(ctx context.Context, web *http.Client, metadata, server string) (*oauthex.ProtectedResourceMetadata, error) {
	places := wellKnown(server, wellknown.ProtectedResource)
	if metadata != "" {
		places = []string{metadata}
	}
	for _, place := range places {
		m := &oauthex.ProtectedResourceMetadata{}
		switch err := getJSON(ctx, web, place, m); {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return nil, fmt.Errorf("read what it says about logins: %w", err)
		case !covers(m.Resource, server):
			return nil, fmt.Errorf("its metadata is about %s, which is another server; Toolpost does not ask for a token for that one", shown(m.Resource))
		case len(m.AuthorizationServers) == 0:
			return nil, errors.New("it names no authorization server; its owner has to add one to its metadata")
		}
		return m, nil
	}
	if metadata != "" {
		return nil, errors.New("its metadata about logins is not at the address that it names")
	}
	return nil, nil
}

// covers reports whether a resource is the server, or is above it on the same
// origin, as many servers name it.
func covers(resource, server string) bool {
	r, errR := url.Parse(resource)
	s, errS := url.Parse(server)
	if errR != nil || errS != nil || r.Fragment != "" || r.User != nil || !sameOrigin(r, s) {
		return false
	}
	above, path := strings.TrimSuffix(r.Path, "/"), strings.TrimSuffix(s.Path, "/")
	return (above == path || strings.HasPrefix(path, above+"/")) && (r.RawQuery == "" || r.RawQuery == s.RawQuery)
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(hostPort(a), hostPort(b))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && strings.EqualFold(u.Scheme, "https"):
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func origin(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// sameIssuer compares issuers without a slash at the end, as the SDK does.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

func chooseIssuer(a *upstream.Auth, issuers []string) (string, error) {
	if a != nil && a.ClientSecret != "" && a.Issuer == "" { // the server would decide who gets the secret
		return "", fmt.Errorf("it names the authorization server %s, but which one its client secret is for is not configured; set auth.issuer to the authorization server that the secret is for", shown(issuers[0]))
	}
	if a == nil || a.Issuer == "" {
		return issuers[0], nil
	}
	if !slices.ContainsFunc(issuers, func(i string) bool { return sameIssuer(i, a.Issuer) }) {
		return "", fmt.Errorf("it names the authorization server %s, but its configuration allows only %s", shown(strings.Join(issuers, ", ")), a.Issuer)
	}
	return a.Issuer, nil
}

// readIssuer reads the metadata of an authorization server. One without metadata
// has fixed addresses, but only if it was not named by metadata either.
func (l *Logins) readIssuer(ctx context.Context, web *http.Client, r reach, issuer string, named bool) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, errors.New("it names an authorization server whose address is malformed")
	}
	if err := r.check(u); err != nil {
		return nil, fmt.Errorf("the MCP server names the authorization server %s: %w", shown(issuer), err)
	}
	m, err := auth.GetAuthServerMetadata(ctx, issuer, web)
	switch {
	case err != nil && strings.Contains(err.Error(), "does not implement PKCE"):
		return nil, errNoPKCE(issuer)
	case err != nil:
		return nil, fmt.Errorf("read the metadata of the authorization server %s: %s", shown(issuer), shown(err.Error()))
	case m == nil && named:
		return nil, fmt.Errorf("the authorization server %s has no metadata", shown(issuer))
	case m == nil:
		m = &oauthex.AuthServerMeta{Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register"}
	case !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
		return nil, errNoPKCE(issuer)
	}
	for _, place := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if place == "" {
			continue
		}
		u, err := url.Parse(place)
		if err != nil {
			return nil, fmt.Errorf("the authorization server %s names an address that is malformed", shown(issuer))
		}
		if err := r.check(u); err != nil {
			return nil, fmt.Errorf("the authorization server %s names %s: %w", shown(issuer), shown(place), err)
		}
	}
	return m, nil
}

func errNoPKCE(issuer string) error {
	return fmt.Errorf("the authorization server %s does not support PKCE with S256, without which another program could take the login", shown(issuer))
}
