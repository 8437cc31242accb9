package callers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/access/oauth"
)

// Options describe an authorization server whose tokens are accepted.
type Options struct {
	Issuer   string         // its address
	Resource string         // the address of this server's /mcp, as clients use it
	Audience []string       // what tokens must be for; by default Resource, or the address below it that is asked for
	Scopes   []string       // that every token needs
	Profiles []ScopeProfile // if there are any, a token needs one of the scopes and gets its profile

	Introspection *Introspection // nil verifies tokens as JWTs
}

// A ScopeProfile is the profile that callers with a scope get.
type ScopeProfile struct{ Scope, Profile string }

// An Introspection has the authorization server asked about each token (RFC 7662).
type Introspection struct {
	Endpoint     string // "" for that of the server's metadata
	ClientID     string
	ClientSecret string
}

const (
	// skew is how far the clocks of the authorization server and of this machine may
	// be apart.
	skew = 30 * time.Second

	// longestToken is more than servers that look at headers accept.
	longestToken = 16 << 10
)

// A Resource accepts the tokens of an authorization server, as OAuth 2.1 and MCP
// ask of a resource server. It never passes a token on.
type Resource struct {
	opts Options
	base *url.URL // of opts.Resource
	claimReader
}

// A claimReader returns what the authorization server says about a token.
type claimReader interface {
	read(ctx context.Context, token string) (*claims, *Refusal)
}

// NewResource returns a resource server. It contacts the authorization server when
// the first token comes.
func NewResource(o *Options) (*Resource, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	base, err := url.Parse(o.Resource)
	if err != nil || !isAddress(o.Resource) {
		return nil, fmt.Errorf("the resource %q is not an address; want that of /mcp as clients use it, such as https://tools.example.com/mcp", o.Resource)
	}
	i := newIssuer(o.Issuer)
	s := &Resource{opts: *o, base: base, claimReader: &jwtReader{issuer: i}}
	if o.Introspection != nil {
		s.claimReader = newIntrospector(i, o.Introspection)
	}
	return s, nil
}

// UseSecret replaces the client secret with which the authorization server is asked about
// tokens. It does nothing if it is not asked.
func (s *Resource) UseSecret(secret string) {
	if i, ok := s.claimReader.(*introspector); ok {
		opts := *i.opts.Load()
		opts.ClientSecret = secret
		i.use(&opts)
	}
}

// Issuer returns the address of the authorization server.
func (s *Resource) Issuer() string { return s.opts.Issuer }

// Host returns the name of this server in its address.
func (s *Resource) Host() string { return s.base.Hostname() }

// IsAt reports whether a request for a host, which may have a port, is one for the address
// of this server.
func (s *Resource) IsAt(host string) bool {
	u := url.URL{Scheme: s.base.Scheme, Host: host}
	return strings.EqualFold(u.Hostname(), s.base.Hostname()) && portOf(&u) == portOf(s.base)
}

// portOf returns the port of an address, also if it is the default of its scheme.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// Prefix returns the path before /mcp in the address, such as that of a proxy. Known is
// false if the address does not end in /mcp.
func (s *Resource) Prefix() (prefix string, known bool) {
	return strings.CutSuffix(s.base.EscapedPath(), "/mcp")
}

// Check returns the caller whose token came with a request for a path.
func (s *Resource) Check(ctx context.Context, token, path string) (*Caller, *Refusal) {
	c, refusal := s.verify(ctx, token, path)
	if refusal != nil {
		refusal.Scope = s.scope(path)
		return nil, refusal
	}
	for _, scope := range s.opts.Scopes {
		if !c.has(scope) {
			return nil, s.lacks(scope, path)
		}
	}
	caller := &Caller{Identity: c.identity(s.opts.Issuer), Expires: c.expiry().Add(skew)}
	if c.Expires == 0 {
		caller.Expires = time.Now().Add(keysTime) // then the stream has to ask again
	}
	asked := profileOf(path)
	for _, p := range s.opts.Profiles {
		switch {
		case c.has(p.Scope):
			caller.Profiles = append(caller.Profiles, p.Profile)
		case p.Profile == asked && !s.allowsProfile(c, asked):
			return nil, s.lacks(p.Scope, path)
		}
	}
	if len(s.opts.Profiles) > 0 && caller.Profiles == nil {
		return nil, s.lacks(s.opts.Profiles[0].Scope, path)
	}
	return caller, nil
}

// verify returns the claims of a token that is valid for a path.
func (s *Resource) verify(ctx context.Context, token, path string) (*claims, *Refusal) {
	if token == "" || len(token) > longestToken {
		return nil, invalidToken("the token is too long, or empty: log in at " + s.opts.Issuer)
	}
	c, refusal := s.read(ctx, token)
	if refusal != nil {
		return nil, refusal
	}
	now := time.Now()
	switch {
	case c.Issuer != s.opts.Issuer && (c.Issuer != "" || s.opts.Introspection == nil):
		return nil, invalidToken("the token is of another issuer: log in at " + s.opts.Issuer)
	case !s.isFor(c, path):
		return nil, invalidToken("the token is for another server: ask " + s.opts.Issuer + " for one with the resource " + s.address(path))
	case c.Expires == 0 && s.opts.Introspection != nil: // the server answers for it
	case c.Expires == 0:
		return nil, invalidToken("the token does not say when it expires, so it is not accepted")
	case now.After(c.expiry().Add(skew)):
		return nil, invalidToken("the token expired at " + c.expiry().UTC().Format(time.RFC3339) + ": log in again, or use the refresh token")
	case now.Add(skew).Before(seconds(c.NotBefore)):
		return nil, invalidToken("the token is not good before " + seconds(c.NotBefore).UTC().Format(time.RFC3339) + ": compare the clocks")
	}
	if c.identity(s.opts.Issuer) == "" {
		return nil, invalidToken("the token does not name its subject, so it is not accepted")
	}
	return c, nil
}

// isFor reports whether the token is for the path: the audience of a token for
// /mcp/PROFILE is not good for another profile.
func (s *Resource) isFor(c *claims, path string) bool {
	wanted := s.opts.Audience
	if len(wanted) == 0 {
		wanted = []string{s.opts.Resource}
		for at := s.address(path); len(at) > len(s.base.Scheme+"://"+s.base.Host); at = at[:strings.LastIndexByte(at, '/')] {
			wanted = append(wanted, at)
			if at == s.opts.Resource || at == s.sse() {
				break
			}
		}
	}
	return slices.ContainsFunc(c.Audience, func(audience string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.TrimSuffix(w, "/") == strings.TrimSuffix(audience, "/") })
	})
}

// allowsProfile reports whether a scope of the token is for the profile.
func (s *Resource) allowsProfile(c *claims, profile string) bool {
	return slices.ContainsFunc(s.opts.Profiles, func(p ScopeProfile) bool { return p.Profile == profile && c.has(p.Scope) })
}

// lacks refuses a token without a scope; the client can ask for more.
func (s *Resource) lacks(scope, path string) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "insufficient_scope", Scope: s.scope(path),
		Message: "the token lacks the scope " + scope + ": log in again at " + s.opts.Issuer + " and allow it"}
}

// scope returns the least that a token needs for a path.
func (s *Resource) scope(path string) string {
	scopes := slices.Clone(s.opts.Scopes)
	if all := s.opts.Profiles; len(all) > 0 {
		own := max(0, slices.IndexFunc(all, func(p ScopeProfile) bool { return p.Profile == profileOf(path) }))
		scopes = append(scopes, all[own].Scope)
	}
	return strings.Join(slices.Compact(scopes), " ")
}

// profileOf returns the part of a path that may name a profile.
func profileOf(path string) string {
	_, rest, _ := strings.Cut(strings.Trim(path, "/"), "/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// sse returns the public address of /sse.
func (s *Resource) sse() string { return strings.TrimSuffix(s.opts.Resource, "/mcp") + "/sse" }

// address returns the public address of a path of this server. It comes from the
// configuration and not from the Host header, which is the client's own claim.
func (s *Resource) address(path string) string {
	base, rest, deeper := strings.Cut(strings.Trim(path, "/"), "/")
	public := s.opts.Resource
	switch {
	case base == "sse":
		public = s.sse()
	case base != "mcp":
		return public
	}
	if !deeper || !isView(rest) {
		return public
	}
	return public + "/" + rest
}

// isView reports whether a text is PROFILE, DIALECT or PROFILE/DIALECT.
func isView(text string) bool {
	first, second, deeper := strings.Cut(text, "/")
	return isName(first) && (!deeper || isName(second))
}

// Challenge returns the parameters of WWW-Authenticate that lead a client to the
// authorization server.
func (s *Resource) Challenge(refusal *Refusal, path string) string {
	at, err := url.Parse(s.address(path))
	if err != nil {
		at = s.base
	}
	scope := refusal.Scope
	if scope == "" {
		scope = s.scope(path)
	}
	text := `, resource_metadata="` + s.base.Scheme + "://" + s.base.Host + oauth.ProtectedResource + strings.TrimSuffix(at.Path, "/") + `"`
	if scope != "" {
		text += `, scope="` + scope + `"`
	}
	if refusal.Code == "" { // a request without a token gets no error (RFC 6750, §3.1)
		return text
	}
	return text + `, error_description="` + refusal.Message + `"`
}

// IsMetadata reports whether a path is that of [Resource.ServeHTTP].
func IsMetadata(path string) bool {
	return path == oauth.ProtectedResource || strings.HasPrefix(path, oauth.ProtectedResource+"/")
}

// ServeHTTP answers with the metadata of the resource (RFC 9728), also below the
// well-known path for each address of MCP.
func (s *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address := strings.TrimSuffix(s.base.Scheme+"://"+s.base.Host+strings.TrimPrefix(r.URL.Path, oauth.ProtectedResource), "/")
	if r.URL.Path == oauth.ProtectedResource {
		address = s.opts.Resource
	}
	rest, ok := strings.CutPrefix(address, s.opts.Resource)
	if !ok {
		rest, ok = strings.CutPrefix(address, s.sse())
	}
	if !ok || rest != "" && (rest[0] != '/' || !isView(rest[1:])) {
		http.NotFound(w, r)
		return
	}
	raw, err := json.Marshal(map[string]any{
		"resource":                 address,
		"authorization_servers":    []string{s.opts.Issuer},
		"scopes_supported":         append([]string{}, s.opts.allScopes()...),
		"bearer_methods_supported": []string{"header"},
	})
	if err != nil {
		http.Error(w, "the metadata cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the client is gone if it fails
}
