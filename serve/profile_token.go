package serve

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// profileAccess knows the tokens of profiles. A client that sends one gets its
// profile and nothing else.
type profileAccess struct {
	names  map[string]bool // of all profiles
	tokens []*profileToken
}

type profileToken struct {
	profile string
	digest  [sha256.Size]byte // so that all comparisons take the same time
	ctx     context.Context   // ends when the profile has the token no longer
	end     context.CancelFunc
}

// identity is the [callers.Caller].Identity of who sends the token.
func (p *profileToken) identity() string { return "profile " + p.profile }

// useProfiles replaces the tokens of profiles by those of a configuration. It returns
// the identities whose token is good no longer; their requests and streams end.
func (a *access) useProfiles(cfg *config.Config) (ended []string) {
	before := a.profiles.Load()
	p := &profileAccess{names: map[string]bool{}}
	for _, profile := range cfg.Profiles {
		p.names[profile.Name] = true
		if profile.Token == "" {
			continue
		}
		digest := sha256.Sum256([]byte(profile.Token))
		token := before.tokenOf(digest)
		if token == nil || token.profile != profile.Name {
			token = &profileToken{profile: profile.Name, digest: digest}
			token.ctx, token.end = context.WithCancel(context.Background())
		}
		p.tokens = append(p.tokens, token)
	}
	a.profiles.Store(p)
	if before == nil {
		return nil
	}
	for _, token := range before.tokens {
		if !slices.Contains(p.tokens, token) {
			token.end()
			ended = append(ended, token.identity())
		}
	}
	return ended
}

// tokenOf returns the token of a profile that has this digest, nil if none has.
func (p *profileAccess) tokenOf(digest [sha256.Size]byte) (found *profileToken) {
	if p == nil {
		return nil
	}
	for _, token := range p.tokens { // all, so that the time does not depend on which one it is
		if hmac.Equal(token.digest[:], digest[:]) {
			found = token
		}
	}
	return found
}

// accepts reports whether a request whose token is not known may be served where
// none is needed. A wrong one may be the old token of a profile: its client must
// not get everything instead.
func (p *profileAccess) accepts(scheme string) bool {
	return scheme == "" || p == nil || len(p.tokens) == 0
}

// An allowance is what a caller may use.
type allowance struct {
	allowed []string        // profiles, the default first; nil for everything
	all     map[string]bool // the profiles of the configuration
}

// path returns the path of a request as the caller gets it: for callers of a
// profile, /mcp/DIALECT is /mcp/PROFILE/DIALECT. It is "" for one that is not MCP,
// and asked is the profile that the caller asks for but may not use.
func (a *allowance) path(path string) (own, asked string) {
	base, rest, _ := strings.Cut(strings.Trim(path, "/"), "/")
	if base != "mcp" && base != "sse" {
		return "", ""
	}
	if a.allowed == nil {
		return path, ""
	}
	first, _, deeper := strings.Cut(rest, "/")
	profile := a.allowed[0]
	switch {
	case slices.Contains(a.allowed, first):
		profile, rest = first, strings.TrimPrefix(rest[len(first):], "/")
	case deeper || a.all[first]:
		return "", first
	}
	if !a.all[profile] { // its name may be that of a dialect now
		return "", profile
	}
	return strings.TrimSuffix("/"+base+"/"+profile+"/"+rest, "/"), ""
}

// identityKey has the identity of the caller of a request, in its context.
type identityKey struct{}

// identity returns the user that a request was authenticated as, "" for the owner
// and for none.
func identity(r *http.Request) string {
	identity, _ := r.Context().Value(identityKey{}).(string)
	return identity
}

// serveCaller serves a request of a caller who is not the owner.
func (a *access) serveCaller(w http.ResponseWriter, r *http.Request, caller *callers.Caller, next http.Handler) {
	may := allowance{allowed: caller.Profiles}
	if profiles := a.profiles.Load(); profiles != nil {
		may.all = profiles.names
	}
	path, asked := may.path(r.URL.Path)
	if path == "" {
		a.refuse(w, r, notAllowed(&may, asked, a.ask != nil))
		return
	}
	ctx, end := caller.Bound(context.WithValue(r.Context(), identityKey{}, caller.Identity), listens(r))
	defer end()
	r.Header.Del("Authorization") // nothing behind this needs it, or should log it
	r.Header.Del("Cookie")
	own := r.WithContext(ctx)
	own.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	next.ServeHTTP(w, own)
}

// notAllowed refuses a caller another path than those of its profiles.
func notAllowed(may *allowance, asked string, ownLogin bool) *callers.Refusal {
	what, remedy := "this token", "make a token for another one"
	if ownLogin {
		what, remedy = "this login", "have the login choose another one"
	}
	refusal := &callers.Refusal{Status: http.StatusForbidden, Message: what + " is for MCP only: use /mcp"}
	if may.allowed == nil {
		return refusal
	}
	profile := may.allowed[0]
	refusal.Message = what + " is for the profile " + profile + " only: use /mcp/" + profile
	if asked == profile {
		refusal.Message = what + " is for the profile " + profile + ", which the configuration has no more; add the profile, or " + remedy
	}
	return refusal
}

// followTokens lets the callers with named tokens in until the endpoint is closed. A
// token that is revoked or has expired ends its sessions.
func (e *Endpoint) followTokens() {
	tokens, err := owner.NamedTokens()
	if err != nil {
		e.log.Debug("there are no named tokens", "err", err)
		return
	}
	e.access.named = tokens
	stop := tokens.Follow(e.running, func(identity string) {
		e.log.Info("a token was revoked or has expired; its sessions end", "caller", identity)
		e.mcp.EndSessions(func(of string) bool { return of == identity })
	}, func(err error) { e.log.Warn("the named tokens cannot be used or followed", "err", err) })
	e.closer = append(e.closer, func() error { stop(); return nil })
}
