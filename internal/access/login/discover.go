package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/netaddr"
	"github.com/toolpost/toolpost/internal/wire"
)

// A discovery is what a login to a server needs to know.
type discovery struct {
	resource string   // as the server calls itself
	target   string   // the resource to ask for, "" for none
	scopes   []string // that the server wants
	reach    reach
	meta     *serverMetadata
	guessed  bool // the server has not announced that it has logins

	parameters map[string]string // of the configuration, to add
}

// discover finds the authorization server of an MCP server (RFC 9728, RFC 8414).
func (l *Logins) discover(ctx context.Context, cfg *config.Server) (*discovery, error) {
	d, issuer, named, err := l.locate(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d.meta, err = l.readIssuer(ctx, l.network.client(d.reach), d.reach, issuer, named)
	d.guessed = err == nil && !named && d.meta.RegistrationEndpoint == issuer+"/register"
	return d, err
}

// locate asks an MCP server for its authorization server. Named reports whether it has
// metadata that names it.
func (l *Logins) locate(ctx context.Context, cfg *config.Server) (d *discovery, issuer string, named bool, err error) {
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
	d.target = resourceOf(cfg.Auth, d.resource)
	if cfg.Auth != nil {
		d.parameters = cfg.Auth.Parameters
	}
	issuer, err = chooseIssuer(cfg.Auth, issuers)
	return d, issuer, resource != nil, err
}

// probe asks the MCP server for a challenge, and notes in which network it is. Only
// an address that it was really reached at counts. Some servers want a login for
// their tools only.
func (l *Logins) probe(ctx context.Context, cfg *config.Server) (c challenge, r reach, err error) {
	initialize := wire.AppendRequest(nil, []byte("1"), "initialize", []byte(`{"protocolVersion":"`+wire.LastSession+`","capabilities":{},"clientInfo":{"name":"toolpost","version":"1"}}`))
	header, r, err := l.refusal(ctx, cfg, http.MethodPost, initialize, "")
	if c = readChallenge(header); err != nil || c.bearer {
		return c, r, err
	}
	list := wire.AppendRequest(nil, []byte("2"), "tools/list", []byte(`{}`))
	session := header.Get("Mcp-Session-Id")
	if session != "" {
		defer func() { _, _, _ = l.refusal(ctx, cfg, http.MethodDelete, nil, session) }() // a server may not support it
	}
	if header, _, err := l.refusal(ctx, cfg, http.MethodPost, list, session); err == nil {
		if later := readChallenge(header); later.bearer {
			return later, r, nil
		}
	}
	return c, r, nil
}

// refusal sends a message without a token, and returns the header of the response and
// the network that the server is in.
func (l *Logins) refusal(ctx context.Context, cfg *config.Server, method string, message []byte, session string) (h http.Header, r reach, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if to, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
			r = reachOf(to.Addr())
		}
	}})
	req, err := http.NewRequestWithContext(ctx, method, cfg.URL, bytes.NewReader(message))
	if err != nil {
		return nil, r, errors.New("its url is malformed")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if message != nil {
		req.Header.Set("Content-Type", "application/json")
	}
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
		err = httpconn.WithoutURL(err)
		if advice := httpconn.Advice(err); advice != "" {
			err = errors.New(advice)
		}
		return nil, r, fmt.Errorf("reach the MCP server %s: %w", req.URL.Host, err)
	}
	resp.Body.Close()
	return resp.Header, r, nil
}

// wellKnown returns the addresses of a document of a server: for its path, and at
// the root.
func wellKnown(server, document string) []string {
	places := []string{oauth.MetadataAddress(server, document)}
	if u, err := url.Parse(server); err == nil && len(u.Path) > 1 && strings.HasSuffix(u.Path, "/") {
		places = append(places, places[0]+"/") // RFC 9728, §3.1, keeps a slash at the end of a path
	}
	return slices.Compact(append(places, oauth.MetadataAddress(origin(server), document)))
}

// metadataAddress returns the address that a challenge names, "" if it is none of the web.
// One that is relative is at the origin of the server.
func metadataAddress(named, server string) string {
	named = strings.Trim(named, " \t'\"`<>\u2018\u2019\u201c\u201d")
	u, err := url.Parse(named)
	base, baseErr := url.Parse(server)
	switch {
	case named == "" || err != nil || baseErr != nil:
		return ""
	case u.IsAbs():
		if u.Host == "" {
			return ""
		}
		return named
	}
	at := base.ResolveReference(u)
	if !netaddr.SameOrigin(at, base) || at.User != nil {
		return "" // such as //example.com/
	}
	return at.String()
}

// readResource returns the metadata of a server, nil if it has none. An address that the
// server names in a challenge comes first; if nothing can be read there, the well-known ones
// follow, as for a server that names none.
func readResource(ctx context.Context, web *http.Client, metadata, server string) (*resourceMetadata, error) {
	places := wellKnown(server, oauth.ProtectedResource)
	var failed error
	if metadata != "" {
		failed = errors.New("its metadata about logins is not at the address that it names")
		if address := metadataAddress(metadata, server); address != "" {
			places = append([]string{address}, places...)
		}
	}
	for _, place := range places {
		d, err := getDocument(ctx, web, place)
		m := newResourceMetadata(d)
		switch {
		case errors.Is(err, errAbsent):
			continue
		case err != nil && (failed == nil || errors.Is(err, errRefused)):
			failed = fmt.Errorf("read what it says about logins: %w", err)
			continue
		case err != nil:
			continue
		case !covers(m.Resource, server):
			return nil, fmt.Errorf("its metadata is about %s, which is another server; Toolpost does not ask for a token for that one", clipLine(m.Resource))
		case len(m.AuthorizationServers) == 0:
			return nil, errors.New("it names no authorization server; its owner has to add one to its metadata")
		}
		return m, nil
	}
	return nil, failed
}

// covers reports whether a resource is the server, or is above it on the same
// origin, as many servers name it.
func covers(resource, server string) bool {
	r, errR := url.Parse(resource)
	s, errS := url.Parse(server)
	if errR != nil || errS != nil || r.Fragment != "" || r.User != nil || !netaddr.SameOrigin(r, s) {
		return false
	}
	above, path := strings.TrimSuffix(r.Path, "/"), strings.TrimSuffix(s.Path, "/")
	return (above == path || strings.HasPrefix(path, above+"/")) && (r.RawQuery == "" || r.RawQuery == s.RawQuery)
}

func origin(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// sameIssuer compares issuers without a slash at the end.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

func chooseIssuer(a *config.Auth, issuers []string) (string, error) {
	if a != nil && a.ClientSecret != "" && a.Issuer == "" { // the server would decide who gets the secret
		return "", fmt.Errorf("it names the authorization server %s, but which one its client secret is for is not configured; set auth.issuer to the authorization server that the secret is for", clipLine(issuers[0]))
	}
	if a == nil || a.Issuer == "" {
		return issuers[0], nil
	}
	if !slices.ContainsFunc(issuers, func(i string) bool { return sameIssuer(i, a.Issuer) }) {
		return "", fmt.Errorf("it names the authorization server %s, but its configuration allows only %s", clipLine(strings.Join(issuers, ", ")), a.Issuer)
	}
	return a.Issuer, nil
}

// readIssuer reads the metadata of an authorization server. One without metadata
// has fixed addresses, but only if it was not named by metadata either.
func (l *Logins) readIssuer(ctx context.Context, web *http.Client, r reach, issuer string, named bool) (*serverMetadata, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, errors.New("it names an authorization server whose address is malformed")
	}
	if err := r.check(u); err != nil {
		return nil, fmt.Errorf("the MCP server names the authorization server %s: %w", clipLine(issuer), err)
	}
	m, err := readServerMetadata(ctx, web, issuer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the metadata of the authorization server %s: %w", clipLine(issuer), err)
	case m == nil && named:
		return nil, fmt.Errorf("the authorization server %s has no metadata", clipLine(issuer))
	case m == nil:
		m = &serverMetadata{Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register", CodeChallengeMethodsSupported: []string{pkceMethod}}
	case m.TokenEndpoint == "":
		return nil, fmt.Errorf("the authorization server %s names no token endpoint (token_endpoint)", clipLine(issuer))
	}
	for _, place := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if place == "" {
			continue
		}
		u, err := url.Parse(place)
		if err != nil {
			return nil, fmt.Errorf("the authorization server %s names an address that is malformed", clipLine(issuer))
		}
		if err := r.check(u); err != nil {
			return nil, fmt.Errorf("the authorization server %s names %s: %w", clipLine(issuer), clipLine(place), err)
		}
	}
	return m, nil
}

// readServerMetadata reads the metadata of an authorization server or identity provider,
// nil if it has none: where RFC 8414, §3.1, puts it, and where OpenID Connect does.
func readServerMetadata(ctx context.Context, web *http.Client, issuer string) (*serverMetadata, error) {
	appended := strings.TrimSuffix(issuer, "/") + oauth.OpenID // OpenID Connect Discovery, §4
	for _, place := range slices.Compact([]string{oauth.MetadataAddress(issuer, oauth.AuthorizationServer), oauth.MetadataAddress(issuer, oauth.OpenID), appended}) {
		d, err := getDocument(ctx, web, place)
		switch m := newServerMetadata(d); {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return nil, err
		case !sameIssuer(m.Issuer, issuer):
			return nil, fmt.Errorf("it is about %s, which is another one; correct the issuer", clipLine(m.Issuer))
		default:
			return m, nil
		}
	}
	return nil, nil
}

// pkceMethod is the only method of PKCE that protects a code from who reads the request.
const pkceMethod = "S256"

func errNoPKCE(issuer string) error {
	return fmt.Errorf(`the authorization server %s does not announce PKCE with S256, without which another program could take the login; if its documentation says that it supports S256, add "auth": {"pkce": "S256"} to the server's entry`, clipLine(issuer))
}
