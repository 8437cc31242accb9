package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/internal/vault"
	"github.com/toolpost/toolpost/upstream"
)

// longestRenewal bounds a renewal, with the wait for other processes.
const longestRenewal = 2 * time.Minute

// forcedPause is how long a token that was renewed because the server refused
// its predecessor is not renewed for that reason again.
const forcedPause = time.Minute

// A source has the token for one server. All connections to the server share it.
type source struct {
	*Logins
	cfg     upstream.Config
	server  string // its address
	name    string // in the vault
	command string // that logs in

	mu      sync.Mutex
	version string        // of the stored login that was read last
	held    *record       // nil if there is none
	flight  *flight       // a renewal under way
	unsaved *unsavedLogin // nil if everything is saved

	streams map[*response]bool // that are open
	left    chan struct{}      // closed when none is open any more
}

// A flight is a renewal that several requests wait for.
type flight struct {
	done   chan struct{}
	record *record
	err    error
}

// An unsavedLogin was renewed, but the vault did not take it.
type unsavedLogin struct {
	record *record
	from   string // the refresh token that it came from, which is used up
}

// errUnchanged ends an update that has nothing to write.
var errUnchanged = errors.New("unchanged")

// isAutomatic reports whether the login needs no person.
func (s *source) isAutomatic() bool {
	a := s.cfg.Auth
	return a != nil && (a.Type == upstream.AuthClient || a.Type == upstream.AuthExchange)
}

// needsLogin returns the error for a server that wants a login of the user.
func (s *source) needsLogin(why string) error {
	return &upstream.LoginError{Command: s.command, Why: why}
}

// token returns the record whose token to send, nil if there is none. Another process
// may have logged in, logged out, or renewed the login since the last request.
func (s *source) token(ctx context.Context) (*record, error) {
	s.mu.Lock()
	s.load()
	r := s.held
	s.mu.Unlock()
	switch {
	case r == nil && !s.isAutomatic():
		return nil, nil
	case r != nil && r.good(s.now()):
		return r, nil
	}
	return s.renew(ctx, "")
}

// load reads the stored login if it has changed. The caller holds mu. While the vault
// cannot be used, the login stays as it was.
func (s *source) load() {
	defer s.endStreams()
	version, err := vault.Version(s.vault, s.name)
	if err == nil && version == s.version {
		return
	}
	var data []byte
	if err == nil {
		data, err = s.vault.Get(s.name)
	}
	if errors.Is(err, vault.ErrNotFound) {
		s.version, s.held = "", nil
		return
	}
	if err != nil {
		s.log.Debug("cannot read the stored login", "server", s.cfg.Name, "err", err)
		return
	}
	s.version = version
	if s.held, err = s.decode(data); err != nil {
		s.log.Debug("the stored login is not used", "server", s.cfg.Name, "err", err)
	}
}

// decode returns the stored login, nil if there is none. One of another authorization
// server than the configured one is not used.
func (s *source) decode(data []byte) (*record, error) {
	r, err := decode(data, s.server)
	if err != nil || r == nil {
		return nil, err
	}
	s.learn(r)
	if a := s.cfg.Auth; a != nil && a.Issuer != "" && !sameIssuer(a.Issuer, r.Issuer) {
		return nil, fmt.Errorf("its login is one of %s, but its configuration allows only %s", shown(r.Issuer), a.Issuer)
	}
	return r, nil
}

// learn makes the secrets of a login known, so that they are hidden in what is written.
func (s *source) learn(r *record) {
	s.Secrets.Add("login "+s.name, r.Access, r.Refresh, r.Client.Secret)
}

// renew returns a token that can be sent and is not the rejected one. One renewal
// at a time runs here and in all other processes. It goes on when the caller is
// gone: the old tokens may be used up.
func (s *source) renew(ctx context.Context, rejected string) (*record, error) {
	s.mu.Lock()
	if r := s.held; r != nil && r.good(s.now()) && r.Access != rejected {
		s.mu.Unlock()
		return r, nil
	}
	f := s.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.flight = f
		go s.run(context.WithoutCancel(ctx), f, rejected)
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.record, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *source) run(ctx context.Context, f *flight, rejected string) {
	ctx, cancel := context.WithTimeout(ctx, longestRenewal)
	defer cancel()
	var stored *record
	f.err = errors.New("internal error: the renewal of the login ended early")
	defer func() {
		s.mu.Lock()
		s.flight = nil
		if f.err == nil || isLogin(f.err) { // what is not saved is not used
			s.held = stored
		}
		s.mu.Unlock()
		close(f.done)
	}()
	stored, f.err = s.update(ctx, rejected)
	if f.err == nil {
		f.record = stored
	}
}

// update reads the stored login, renews it if no other process has, and stores it
// before it is used.
func (s *source) update(ctx context.Context, rejected string) (stored *record, err error) {
	var problem error // of a login that was stored
	err = s.vault.Update(ctx, s.name, func(data []byte) ([]byte, error) {
		r, err := s.renewable(data, rejected)
		if stored = r; err != nil {
			return nil, err
		}
		if u := s.unsaved; r != nil && u != nil && u.from == r.Refresh {
			stored = u.record
			return stored.encode(), nil
		}
		next, err := s.next(ctx, r, rejected)
		if lost, ok := errors.AsType[*upstream.LoginError](err); ok && next != nil {
			problem, stored = lost, next // no process asks again
			return next.encode(), nil
		}
		if err != nil {
			return nil, err
		}
		stored, s.unsaved = next, &unsavedLogin{next, refreshOf(r)}
		return next.encode(), nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		return stored, nil
	case err == nil:
		s.unsaved = nil
		return stored, problem
	case isLogin(err):
		return stored, err
	}
	return stored, &upstream.CredentialsError{Err: fmt.Errorf("renew its login: %w", err)}
}

// renewable reads a stored login. The error is errUnchanged if it needs no renewal.
func (s *source) renewable(data []byte, rejected string) (*record, error) {
	r, err := s.decode(data)
	switch {
	case err != nil:
		return nil, s.needsLogin(err.Error())
	case r == nil && !s.isAutomatic():
		return nil, s.needsLogin("")
	case r != nil && r.good(s.now()) && r.Access != rejected:
		return r, errUnchanged
	}
	return r, nil
}

func refreshOf(r *record) string {
	if r == nil {
		return ""
	}
	return r.Refresh
}

func isLogin(err error) bool {
	_, ok := errors.AsType[*upstream.LoginError](err)
	return ok
}

// next asks the authorization server for the next token. With a LoginError it
// returns what to store, nil for nothing.
func (s *source) next(ctx context.Context, r *record, rejected string) (*record, error) {
	if s.isAutomatic() {
		return s.ownToken(ctx, r, nil)
	}
	switch {
	case r.Lost != "":
		return nil, s.needsLogin(r.Lost)
	case r.Refresh == "" && r.Access == rejected:
		return s.lose(r, "the server refuses the token")
	case r.Refresh == "":
		return s.lose(r, "the login has expired")
	case rejected != "" && r.Access == rejected && s.now().Sub(r.Forced).Abs() < forcedPause:
		return nil, s.needsLogin("the server refuses the renewed token too")
	}
	next := *r
	next.correctSecret(s.cfg.Auth)
	next.Resource = resourceOf(s.cfg.Auth, next.Resource)
	t, err := s.network.refresh(ctx, &next)
	if answer, ok := errors.AsType[*grantError](err); ok && r.endsWith(answer) {
		if answer.code == "invalid_client" {
			s.forget(ctx, r.Issuer, s.server, r.Client.ID)
		}
		return s.lose(r, "it cannot be renewed: "+answer.Error())
	}
	if err != nil {
		return nil, err
	}
	next.adopt(t, nil)
	s.learn(&next)
	if rejected != "" && r.Access == rejected {
		next.Forced = s.now()
	}
	return &next, nil
}

// endsWith reports whether an answer to a renewal ends the login. A wrong secret of a
// configured client can be corrected: its tokens stay.
func (r *record) endsWith(answer *grantError) bool {
	return answer.final() && (answer.code != "invalid_client" || r.Client.From != fromConfiguration)
}

// correctSecret gives a login the secret that its client has in the configuration by
// now, if that is for the same authorization server.
func (r *record) correctSecret(a *upstream.Auth) {
	if a != nil && r.Client.From == fromConfiguration && a.ClientID == r.Client.ID && sameIssuer(a.Issuer, r.Issuer) {
		r.Client.Secret = a.ClientSecret
	}
}

// lose returns r without its tokens.
func (s *source) lose(r *record, why string) (*record, error) {
	next := *r
	next.grantedTokens, next.Lost = grantedTokens{Scopes: r.Scopes}, why
	return &next, s.needsLogin(why)
}

// ownToken gets a token without a person. The authorization server is asked for its
// endpoints each time: the secret goes to where they are now.
func (s *source) ownToken(ctx context.Context, r *record, more []string) (*record, error) {
	get, locate := s.clientCredentials, s.discover
	if s.cfg.Auth.Type == upstream.AuthExchange {
		get, locate = s.exchange, s.locateExchange
	}
	d, err := locate(ctx, &s.cfg)
	if err != nil {
		return nil, err
	}
	scopes := d.scopes
	if len(s.cfg.Auth.Scopes) > 0 {
		scopes = s.cfg.Auth.Scopes
	}
	if r != nil {
		scopes = slices.Concat(scopes, r.Scopes) // those that requests needed
	}
	scopes = cleanScopes(slices.Concat(scopes, more))
	next := d.record(s.server, client{ID: s.cfg.Auth.ClientID, Secret: s.cfg.Auth.ClientSecret, Style: styleOf(d.meta.TokenEndpointAuthMethodsSupported, s.cfg.Auth.ClientSecret), From: fromConfiguration})
	t, err := get(ctx, next, scopes)
	if err != nil {
		return nil, err
	}
	next.adopt(t, scopes)
	s.learn(next)
	return next, nil
}

func (s *source) clientCredentials(ctx context.Context, next *record, scopes []string) (*oauth2.Token, error) {
	params := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	addParameters(params, s.cfg.Auth.Parameters)
	return s.network.grant(ctx, next, params)
}

// want notes scopes that a request needs, for the next login.
func (s *source) want(ctx context.Context, scopes []string) error {
	err := s.vault.Update(ctx, s.name, func(data []byte) ([]byte, error) {
		r, err := s.decode(data)
		if err != nil || r == nil {
			return nil, errUnchanged
		}
		if s.isAutomatic() {
			if r, err = s.ownToken(ctx, r, scopes); err != nil {
				return nil, err
			}
		} else if next := cleanScopes(slices.Concat(r.Wanted, scopes)); !slices.Equal(next, r.Wanted) {
			r.Wanted = next
		} else {
			return nil, errUnchanged
		}
		return r.encode(), nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// refusedAgain returns the error for a server that refuses a token that was just
// renewed.
func (s *source) refusedAgain() error {
	const why = "the server refuses the renewed token too"
	if s.isAutomatic() {
		return &upstream.CredentialsError{Err: errors.New(why + `; check the client, issuer and scopes of its "auth"`)}
	}
	return s.needsLogin(why)
}

// stepUp answers a request that needs more scopes than the login has.
func (s *source) stepUp(ctx context.Context, held *record, c challenge) (*record, error) {
	if held == nil {
		return nil, s.needsLogin("")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRenewal)
	defer cancel()
	if err := s.want(ctx, c.scopes); err != nil && s.isAutomatic() {
		return nil, &upstream.CredentialsError{Err: fmt.Errorf("get more permissions: %w", err)}
	}
	s.mu.Lock()
	s.load()
	r := s.held
	s.mu.Unlock()
	if r != nil && r.Access != held.Access && r.good(s.now()) {
		return r, nil
	}
	e := &upstream.LoginError{Command: s.command, More: true}
	if len(c.scopes) > 0 {
		e.Why = "scopes " + fmt.Sprintf("%q", c.scopes)
	}
	return nil, e
}

func hasAuthorization(h http.Header) bool { return h.Get("Authorization") != "" }
