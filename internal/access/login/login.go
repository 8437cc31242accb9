// Package login logs in to MCP servers as their OAuth clients: it finds the
// authorization server, has the user agree in a browser, keeps the tokens in a
// vault, and renews them, one process at a time.
//
//	Login ─ discover ─ register ─ browser ─ callback ─ grant ──▶ record in the vault
//	                                                                  │
//	request ──▶ transport ──▶ source: token, renew, stepUp ◀──────────┘
//
// A token is sent only to the server that it was issued for, and a refresh token
// only to the authorization server that issued it.
package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/netaddr"
	"github.com/toolpost/toolpost/internal/secret"
)

// Logins are the logins of the user, in a vault.
type Logins struct {
	vault   vault.Vault
	network *network
	log     *slog.Logger
	now     func() time.Time

	watchTime time.Duration

	// Secrets gets every token that is read or granted, so that it is hidden where a
	// server repeats it. It may be nil.
	Secrets *secret.Values

	mu      sync.Mutex
	sources map[string]*source      // by the name in the vault, and command
	shared  map[string]*sharedLogin // by the name in the vault
}

// New returns the logins that v keeps. A nil logger discards.
func New(v vault.Vault, log *slog.Logger) *Logins {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Logins{vault: v, network: newNetwork(), log: log, now: time.Now, watchTime: watchTime, sources: map[string]*source{}, shared: map[string]*sharedLogin{}}
}

// Wrap returns a value for [upstream.Config].Wrap that adds the token of the
// server's login to requests, over what inner returns. Command is what the user
// runs to log in. It is nil for servers that have no logins.
func (l *Logins) Wrap(cfg *config.Server, command string, inner func(*http.Transport) http.RoundTripper) func(*http.Transport) http.RoundTripper {
	u, err := url.Parse(cfg.URL)
	if err != nil || cfg.URL == "" || cfg.Auth != nil && cfg.Auth.Type == oauth.NoLogin {
		return inner
	}
	s := l.source(cfg, command)
	return func(base *http.Transport) http.RoundTripper {
		t := &transport{source: s, origin: u, base: base}
		if inner != nil {
			t.base = inner(base)
		}
		return t
	}
}

// source returns the source for a server. Connections to one server share it, also when
// its secrets or headers have changed: those of the last one are used.
func (l *Logins) source(cfg *config.Server, command string) *source {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := nameOf(cfg) + command
	if cfg.Auth != nil {
		a := *cfg.Auth
		a.ClientSecret, a.Exchange.ClientSecret, a.Exchange.SubjectToken, a.Exchange.Subject = "", "", "", nil
		key += fmt.Sprintf("%+v", a)
	}
	s := l.sources[key]
	if s == nil {
		s = &source{Logins: l, server: address(cfg.URL), name: nameOf(cfg), command: command}
		l.sources[key] = s
	}
	s.connection.Store(cfg)
	return s
}

// A Page is the login page that a user is sent to. Servers have written all of it.
type Page struct {
	Address string // of ASCII characters without control characters
	Host    string // of Address
	Issuer  string // the authorization server that the MCP server names
	Foreign bool   // the page is not at the origin of Issuer
}

func newPage(address, issuer string) (*Page, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the authorization server names a login page whose address is malformed")
	}
	at, err := url.Parse(issuer)
	return &Page{Address: ascii(u.String()), Host: u.Host, Issuer: clipLine(issuer), Foreign: err != nil || !netaddr.SameOrigin(u, at)}, nil
}

// ascii encodes what is not a visible ASCII character, also in a query.
func ascii(address string) string {
	var b strings.Builder
	for _, c := range []byte(address) {
		if c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// A Person is the user who logs in.
type Person struct {
	// Visit shows the page to open in a browser. The browser returns to this machine,
	// maybe before Visit has ended, whose context then ends. An error ends the login.
	Visit func(ctx context.Context, page *Page) error

	// Own refuses a page that is not at the authorization server, instead of showing
	// it with a warning.
	Own bool

	// Paste returns the address that the browser was sent to, for a browser on
	// another machine. Nil waits for the browser only.
	Paste func(ctx context.Context) (string, error)
}

// Login has a person log in to a server, and keeps the tokens. Scopes, if there
// are any, take the place of those of the configuration and of the server.
func (l *Logins) Login(ctx context.Context, cfg *config.Server, scopes []string, person *Person) (*Status, error) {
	if err := checkServer(cfg); err != nil {
		return nil, err
	}
	d, err := l.discover(ctx, cfg)
	if err != nil {
		return nil, err
	}
	before, err := l.storedRecord(cfg)
	if err != nil {
		return nil, err
	}
	if err := d.checkPage(cfg.Auth, person); err != nil {
		return nil, err
	}
	own := l.registration(d.meta.Issuer, address(cfg.URL))
	answers, err := listen(cfg.Auth, own.Redirect)
	if err != nil {
		return nil, err
	}
	defer answers.close()
	known, err := l.register(ctx, d, cfg.Auth, answers.redirect, own)
	if err != nil {
		return nil, err
	}
	r := d.record(address(cfg.URL), *known)
	r.Login = rand.Text()
	t, err := l.authorize(ctx, d, r, d.wantedScopes(cfg.Auth, before, scopes), answers, person)
	if err != nil {
		if *known == own.Client && !errors.Is(err, errNotShown) && !errors.Is(ctx.Err(), context.Canceled) {
			l.forget(ctx, own.Issuer, own.Server, known.ID) // its pages may have said that they do not know the client
		}
		return nil, err
	}
	if err := l.keep(ctx, cfg, r, t); err != nil {
		return nil, err
	}
	return l.status(r), nil
}

// checkPage rejects metadata without a login page, metadata that does not announce PKCE
// unless the configuration has it, and, if person.Own is set, a page at another origin than
// the authorization server. It runs before Toolpost registers.
func (d *discovery) checkPage(a *config.Auth, person *Person) error {
	if d.meta.AuthorizationEndpoint == "" {
		return fmt.Errorf("the authorization server %s names no login page (authorization_endpoint)", clipLine(d.meta.Issuer))
	}
	if !slices.Contains(d.meta.CodeChallengeMethodsSupported, pkceMethod) && (a == nil || a.PKCE != pkceMethod) {
		return errNoPKCE(d.meta.Issuer)
	}
	page, err := newPage(d.meta.AuthorizationEndpoint, d.meta.Issuer)
	if err == nil && page.Foreign && person.Own {
		err = fmt.Errorf("the login page at %s is not at the authorization server %s", page.Host, page.Issuer)
	}
	return err
}

// keep stores a login in the place of an earlier one.
func (l *Logins) keep(ctx context.Context, cfg *config.Server, r *record, t *oauth2.Token) error {
	r.adopt(t, r.Scopes)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRenewal)
	defer cancel()
	err := l.vault.Update(ctx, nameOf(cfg), func([]byte) ([]byte, error) { return r.encode(), nil })
	if err != nil {
		return fmt.Errorf("the login succeeded but cannot be kept: %w", err)
	}
	return nil
}

// storedRecord returns the record of a server, nil if there is none that can be read.
func (l *Logins) storedRecord(cfg *config.Server) (*record, error) {
	data, err := l.vault.Get(nameOf(cfg))
	if errors.Is(err, vault.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := decode(data, address(cfg.URL))
	if err != nil {
		return nil, nil // the login replaces it
	}
	return r, nil
}

// record returns the record of a login that has no tokens yet.
func (d *discovery) record(server string, c client) *record {
	return &record{
		Server: server, Resource: d.resource, target: d.target, Issuer: d.meta.Issuer, Token: d.meta.TokenEndpoint,
		Revocation: d.meta.RevocationEndpoint, Reach: d.reach, Client: c,
	}
}

// wantedScopes returns the scopes to ask for: those of the login before stay, if it was
// at the same authorization server.
func (d *discovery) wantedScopes(a *config.Auth, before *record, scopes []string) []string {
	switch {
	case len(scopes) > 0:
	case a != nil && len(a.Scopes) > 0:
		scopes = a.Scopes
	default:
		scopes = d.scopes
	}
	if before != nil && before.Issuer == d.meta.Issuer {
		scopes = slices.Concat(scopes, before.Scopes, before.Wanted)
	}
	if len(scopes) > 0 && slices.Contains(d.meta.ScopesSupported, "offline_access") {
		scopes = append(slices.Clip(scopes), "offline_access")
	}
	return cleanScopes(scopes)
}

// authorize has the person agree, and exchanges the code.
func (l *Logins) authorize(ctx context.Context, d *discovery, r *record, scopes []string, answers *callback, person *Person) (*oauth2.Token, error) {
	verifier := oauth2.GenerateVerifier()
	request := url.Values{
		"response_type": {"code"}, "client_id": {r.Client.ID}, "redirect_uri": {answers.redirect}, "state": {answers.state},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {pkceMethod},
	}
	if len(scopes) > 0 {
		request.Set("scope", strings.Join(scopes, " "))
	}
	if r.target != "" {
		request.Set("resource", r.target)
	}
	if slices.Contains(scopes, "offline_access") {
		request.Set("prompt", "consent") // OpenID Connect Core, §11
	}
	page, err := newPage(requestAddress(d.meta.AuthorizationEndpoint, request, d.parameters), d.meta.Issuer)
	if err != nil {
		return nil, err
	}
	code, err := answers.code(ctx, page, d.meta, person)
	if err != nil {
		return nil, err
	}
	r.Scopes = scopes
	t, err := l.network.grant(ctx, r, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {answers.redirect}, "code_verifier": {verifier}})
	if err != nil {
		return nil, fmt.Errorf("exchange the code for a token: %w", err)
	}
	return t, nil
}

// Logout revokes the tokens of a login and removes it. Found reports whether there
// was one. An error after that is about the authorization server.
func (l *Logins) Logout(ctx context.Context, cfg *config.Server) (found bool, err error) {
	var r *record
	name := nameOf(cfg)
	if found, err = vault.Has(l.vault, name); err != nil {
		return false, err
	}
	err = l.vault.Update(ctx, name, func(data []byte) ([]byte, error) {
		found = found || data != nil
		r, _ = decode(data, "")
		return nil, nil
	})
	if err != nil || r == nil || r.Revocation == "" {
		return found, err
	}
	r.correctSecret(cfg.Auth)
	for kind, token := range map[string]string{"refresh_token": r.Refresh, "access_token": r.Access} {
		if token != "" {
			if e := l.network.revoke(ctx, r, token, kind); e != nil {
				err = fmt.Errorf("the login is removed here, but %s did not revoke it: %w", clipLine(r.Issuer), e)
			}
		}
	}
	return found, err
}
