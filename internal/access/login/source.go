package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/hidden"
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
	connection atomic.Pointer[config.Server] // of the last connection
	server     string                        // its address
	name       string                        // in the vault
	command    string                        // that logs in

	mu      sync.Mutex
	version string        // of the stored login that was read last
	reading *reading      // of the stored login, the last one
	held    *record       // nil if there is none
	looked  time.Time     // when none was found
	flight  *flight       // a renewal under way
	unsaved *unsavedLogin // nil if everything is saved

	streams map[*response]bool // that are open
	left    chan struct{}      // closed when none is open any more
}

// A flight is a renewal that several requests wait for.
type flight struct {
	rejected string // the token that it replaces; "" if none was refused
	done     chan struct{}
	record   *record
	err      error
}

// An unsavedLogin was renewed, but the vault did not take it.
type unsavedLogin struct {
	record          *record
	access, refresh string // of the stored login that it came from, which is used up
}

// errUnchanged ends an update that has nothing to write.
var errUnchanged = errors.New("unchanged")

// cfg returns the configuration of the last connection.
func (s *source) cfg() *config.Server { return s.connection.Load() }

// isAutomatic reports whether the login needs no person.
func (s *source) isAutomatic() bool {
	a := s.cfg().Auth
	return a != nil && (a.Type == oauth.ClientCredentials || a.Type == oauth.TokenExchange)
}

// needsLogin returns the error for a server that wants a login of the user.
func (s *source) needsLogin(why string) error {
	return &upstream.LoginError{Command: s.command, Why: why}
}

// token returns the record whose token to send, nil if there is none. Another process
// may have logged in, logged out, or renewed the login since the last request.
func (s *source) token(ctx context.Context) (*record, error) {
	r := s.load(ctx.Done())
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case r == nil && !s.isAutomatic():
		return nil, nil
	case r != nil && r.good(s.now()):
		return r, nil
	}
	return s.renew(ctx, "")
}

// lookPause is how long the source remembers that it found no login.
const lookPause = 100 * time.Millisecond

// hasNone reports whether no login is stored. It looks at most once in lookPause.
func (s *source) hasNone(ctx context.Context) bool {
	if s.isAutomatic() {
		return false
	}
	now := s.now()
	s.mu.Lock()
	recent := s.held == nil && now.Sub(s.looked).Abs() < lookPause
	s.mu.Unlock()
	if recent {
		return true
	}
	if s.load(ctx.Done()) != nil {
		return false
	}
	s.mu.Lock()
	s.looked = now
	s.mu.Unlock()
	return true
}

// renew returns a token that can be sent and is not the rejected one. One renewal
// at a time runs here and in all other processes. It goes on when the caller is
// gone: the old tokens may be used up.
func (s *source) renew(ctx context.Context, rejected string) (*record, error) {
	for {
		s.mu.Lock()
		if r := s.held; r != nil && r.good(s.now()) && r.Access != rejected {
			s.mu.Unlock()
			return r, nil
		}
		f := s.flight
		if f == nil {
			f = &flight{rejected: rejected, done: make(chan struct{})}
			s.flight = f
			go s.run(context.WithoutCancel(ctx), f, rejected)
		}
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if f.err != nil || f.record.Access != rejected || f.rejected == rejected {
			return f.record, f.err
		} // else it had begun before this token was refused
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
		from := s.latest(r)
		if from != r && from.good(s.now()) && from.Access != rejected {
			stored = from
			return stored.encode(), nil
		}
		next, err := s.next(ctx, from, rejected)
		if lost, ok := errors.AsType[*upstream.LoginError](err); ok && next != nil {
			problem, stored = lost, next // no process asks again
			return next.encode(), nil
		}
		if err != nil {
			return nil, err
		}
		stored, s.unsaved = next, &unsavedLogin{next, tokensOf(r).Access, tokensOf(r).Refresh}
		return next.encode(), nil
	})
	switch {
	case errors.Is(err, errUnchanged):
		return stored, nil
	case err == nil:
		s.unsaved = nil
		return stored, problem
	case isLogin(err), errors.Is(err, errRefusedAgain):
		return stored, err
	}
	return stored, &hidden.CredentialsError{Err: fmt.Errorf("renew its login: %w", err)}
}

// latest returns the unsaved login that came from the stored one, whose tokens are used
// up, or else the stored one.
func (s *source) latest(stored *record) *record {
	if u, of := s.unsaved, tokensOf(stored); u != nil && u.access == of.Access && u.refresh == of.Refresh {
		return u.record
	}
	return stored
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

func tokensOf(r *record) grantedTokens {
	if r == nil {
		return grantedTokens{}
	}
	return r.grantedTokens
}

func isLogin(err error) bool {
	_, ok := errors.AsType[*upstream.LoginError](err)
	return ok
}

// next asks the authorization server for the next token. With a LoginError it
// returns what to store, nil for nothing.
func (s *source) next(ctx context.Context, r *record, rejected string) (*record, error) {
	forced := rejected != "" && r != nil && r.Access == rejected
	if forced && s.now().Sub(r.Forced).Abs() < forcedPause {
		return nil, s.refusedAgainError()
	}
	get := s.refreshLogin
	if s.isAutomatic() {
		get = func(ctx context.Context, r *record, _ string) (*record, error) { return s.ownToken(ctx, r, nil) }
	}
	next, err := get(ctx, r, rejected)
	if err == nil && forced {
		next.Forced = s.now()
	}
	return next, err
}

// refreshLogin renews the login of a person.
func (s *source) refreshLogin(ctx context.Context, r *record, rejected string) (*record, error) {
	switch {
	case r.Lost != "":
		return nil, s.needsLogin(r.Lost)
	case r.Refresh == "" && r.Access == rejected:
		return s.lose(r, "the server refuses the token")
	case r.Refresh == "":
		return s.lose(r, "the login has expired")
	}
	next := *r
	next.correctSecret(s.cfg().Auth)
	next.target = resourceOf(s.cfg().Auth, next.Resource)
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
	return &next, nil
}

// endsWith reports whether an answer to a renewal ends the login. A wrong secret of a
// configured client can be corrected: its tokens stay.
func (r *record) endsWith(answer *grantError) bool {
	return answer.final() && (answer.code != "invalid_client" || r.Client.From != fromConfiguration)
}

// correctSecret gives a login the secret that its client has in the configuration by
// now, if that is for the same authorization server.
func (r *record) correctSecret(a *config.Auth) {
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

var errRefusedAgain = errors.New("the server refuses the renewed token too")

// refusedAgainError returns the error for a server that refuses a token that was just
// renewed.
func (s *source) refusedAgainError() error {
	if s.isAutomatic() {
		return &hidden.CredentialsError{Err: fmt.Errorf(`%w; check the client, issuer and scopes of its "auth"`, errRefusedAgain)}
	}
	return s.needsLogin(errRefusedAgain.Error())
}

func hasAuthorization(h http.Header) bool { return h.Get("Authorization") != "" }
