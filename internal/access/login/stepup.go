package login

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// want notes scopes that a request needs, for the next login.
func (s *source) want(ctx context.Context, scopes []string) error {
	err := s.vault.Update(ctx, s.name, func(data []byte) ([]byte, error) {
		r, err := s.decode(data)
		if err != nil || r == nil {
			return nil, errUnchanged
		}
		if s.isAutomatic() {
			wanted := cleanScopes(slices.Concat(r.Wanted, scopes))
			if s.now().Sub(r.Forced).Abs() < forcedPause && slices.Equal(wanted, r.Wanted) {
				return nil, errUnchanged // the token of a moment ago was to have them
			}
			if r, err = s.ownToken(ctx, r, scopes); err != nil {
				return nil, err
			}
			r.Wanted, r.Forced = wanted, s.now()
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

// stepUp answers a request that needs more scopes than the login has.
func (s *source) stepUp(ctx context.Context, held *record, c challenge) (*record, error) {
	if held == nil {
		return nil, s.needsLogin("")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRenewal)
	defer cancel()
	if err := s.want(ctx, c.scopes); err != nil && s.isAutomatic() {
		return nil, &hidden.CredentialsError{Err: fmt.Errorf("get more permissions: %w", err)}
	}
	r := s.load(ctx.Done())
	if r != nil && r.Access != held.Access && r.good(s.now()) {
		return r, nil
	}
	e := &upstream.LoginError{Command: s.command, More: true}
	if len(c.scopes) > 0 {
		e.Why = "scopes " + fmt.Sprintf("%q", c.scopes)
	}
	return nil, e
}
