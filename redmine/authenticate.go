package redmine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// Check finds out whether the credentials are good, and whose they are: a public
// Redmine answers as to nobody if they are not, or are no longer.
func (s *Toolset) Check(ctx context.Context) error {
	if s.client.anonymous {
		return nil
	}
	_, err := authenticate(ctx, s)
	return err
}

// account is whom Redmine answers.
func (s *Toolset) account(ctx context.Context) (*user, error) {
	if s.client.anonymous {
		return &user{}, nil
	}
	s.mu.Lock()
	me := s.me
	s.mu.Unlock()
	if me != nil {
		return me, nil
	}
	return authenticate(ctx, s)
}

// authenticate asks whom Redmine answers. If it is nobody, what nobody may see was perhaps
// kept too.
func authenticate(ctx context.Context, s *Toolset) (*user, error) {
	me, err := readAccount(ctx, s.client)
	s.mu.Lock()
	s.me = me
	s.mu.Unlock()
	if err != nil {
		s.forgetAll()
	}
	return me, err
}

// forgetAccount forgets what was read with other credentials.
func (s *Toolset) forgetAccount() {
	s.mu.Lock()
	s.me = nil
	s.mu.Unlock()
	s.forgetAll()
}

func readAccount(ctx context.Context, c *client) (*user, error) {
	var answer struct {
		User struct { // nothing else may keep all tools from working
			ID        int    `json:"id"`
			Login     string `json:"login"`
			FirstName string `json:"firstname"`
			LastName  string `json:"lastname"`
			Admin     bool   `json:"admin"`
		} `json:"user"`
	}
	err := c.get(withoutCache(ctx), "/users/current.json", nil, &answer)
	u, as := answer.User, c.credentials.uses().as
	switch me := (&user{ID: u.ID, Login: u.Login, FirstName: u.FirstName, LastName: u.LastName, Admin: u.Admin}); {
	case status(err) == http.StatusNotFound, err == nil && me.ID == 0:
		return nil, toolpost.Failed.Errorf("There is no Redmine at %s, or its REST API cannot be reached there. Ask the user to correct the address: it is the address of Redmine's home page, including its path.", c.base)
	case status(err) == http.StatusUnauthorized && c.credentials.uses().token:
		if ok, err := v61().isReachedBy(ctx, c); err == nil && !ok {
			return nil, toolpost.Failed.Errorf("A token needs Redmine 6.1 or later, and this Redmine is older. Ask the user to set an API key instead, for example REDMINE_API_KEY.")
		}
		return nil, explain(err, "your own account")
	case status(err) == http.StatusForbidden:
		return nil, toolpost.Failed.Errorf("Redmine does not show the account of these credentials: its REST API is switched off, or the password has to be changed first. Ask the user; an administrator can switch on the API under Administration, Settings, API.")
	case err != nil:
		return nil, explain(err, "your own account")
	case as != "" && !strings.EqualFold(as, me.Login):
		return nil, toolpost.Failed.Errorf("Redmine treats these calls as those of %s, not of %s: only the credentials of an administrator can act as another user. Ask the user to correct them.", me.Login, as)
	default:
		return me, nil
	}
}

// readAndVerify reads, and then makes sure that Redmine still takes the credentials: if
// it does not, it has answered as to nobody, and what was read may be a part only.
func readAndVerify[T any](ctx context.Context, s *Toolset, read func() (T, error)) (T, error) {
	id, err := s.client.credentials.identity(ctx)
	if err != nil {
		return *new(T), err
	}
	out, err := read()
	if errors.As(err, new(*unreachableError)) {
		return out, err
	}
	if bad := s.Check(ctx); bad != nil {
		return *new(T), bad
	}
	if s.client.credentials.now.Load() != id { // it was read as nobody, and the new ones are good
		readsOf(ctx).forget()
		return read()
	}
	return out, err
}

// matches reports whether text means this account, in a call by it.
func (u *user) matches(text string) bool {
	l := strings.ToLower(text)
	return slices.Contains([]string{"me", "myself", "current", "current user", "<< me >>", "<<me>>"}, l) || l != "" && l == strings.ToLower(u.Login)
}
