package redmine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/toolpost/toolpost"
)

type showAccountInput struct {
	Include string `json:"include,omitempty" desc:"Some of memberships,groups; both by default, or none"`
}

func showAccount(s *Toolset) entry {
	return tool(s, "show_account", "Show your account", "Show the account that these tools use and its rights.", reads,
		func(ctx context.Context, in showAccountInput) (*toolpost.Result, error) {
			include, err := included(in.Include, "memberships,groups")
			if err != nil {
				return nil, err
			}
			u, err := ownAccount(ctx, s, include)
			if err != nil {
				return nil, err
			}
			release, err := foundRelease(ctx, s)
			if err != nil {
				return nil, err
			}
			nameFields(ctx, s, 0, 0, u.CustomFields)
			return s.show("", &ownUser{*u, redmineVersion(release)}, nil)
		})
}

// An ownUser is the account of the tools with what else is good to know of Redmine.
type ownUser struct {
	user
	Redmine redmineVersion `json:"redmine_version"`
}

type redmineVersion string

func (v redmineVersion) lines() string {
	return fmt.Sprintf("\nRedmine is of version %s, as far as it shows.\n", string(v))
}

// ownPath is where everybody may change their own account.
const ownPath = "/my/account"

// ownAccount reads it as a user, for which Redmine returns more.
func ownAccount(ctx context.Context, s *Toolset, include string) (*user, error) {
	me, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	if me.ID == 0 {
		return nil, toolpost.Failed("These tools have no credentials, so they have no account. Ask the user to set REDMINE_API_KEY.")
	}
	return readUser(ctx, s, me.ID, include)
}

type updateAccountInput struct {
	First  string     `json:"firstname,omitempty" jsonschema:"maxLength=30" fill:"plain"`
	Last   string     `json:"lastname,omitempty" fill:"plain"`
	Mail   string     `json:"mail,omitempty" fill:"plain"`
	Lang   string     `json:"language,omitempty" desc:"Such as en" fill:"plain"`
	Mails  string     `json:"mail_notification,omitempty" jsonschema:"enum=all,enum=selected,enum=only_my_events,enum=only_assigned,enum=only_owner,enum=none" fill:"plain"`
	Fields []setField `json:"custom_fields,omitempty"`
}

func updateAccount(s *Toolset) entry {
	return tool(s, "update_account", "Change your account", "Change the account that these tools use.", changes,
		func(ctx context.Context, in updateAccountInput) (*toolpost.Result, error) {
			before, err := ownAccount(ctx, s, "")
			if err != nil {
				return nil, err
			}
			w := newChange(ctx, s, before)
			w.fill(&in)
			w.custom(in.Fields, nil)
			return changedUserEndpoint().update(w, ownPath, "your own account, "+before.name())
		})
}

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

func readAccount(ctx context.Context, c *client) (*user, error) {
	var answer struct {
		User user `json:"user"`
	}
	err := c.get(anew(ctx), "/users/current.json", nil, &answer)
	switch me := &answer.User; {
	case status(err) == http.StatusNotFound, err == nil && me.ID == 0:
		return nil, toolpost.Failed("There is no Redmine at %s, or its REST API cannot be reached there. Ask the user to correct the address: it is the address of Redmine's home page, including its path.", c.base)
	case status(err) == http.StatusUnauthorized && c.token:
		if ok, err := v61().at(ctx, c); err == nil && !ok {
			return nil, toolpost.Failed("A token needs Redmine 6.1 or later, and this Redmine is older. Ask the user to set an API key instead, for example REDMINE_API_KEY.")
		}
		return nil, explain(err, "your own account")
	case status(err) == http.StatusForbidden:
		return nil, toolpost.Failed("Redmine does not show the account of these credentials: its REST API is switched off, or the password has to be changed first. Ask the user; an administrator can switch on the API under Administration, Settings, API.")
	case err != nil:
		return nil, explain(err, "your own account")
	case c.as != "" && !strings.EqualFold(c.as, me.Login):
		return nil, toolpost.Failed("Redmine treats these calls as those of %s, not of %s: only the credentials of an administrator can act as another user. Ask the user to correct them.", me.Login, c.as)
	default:
		return me, nil
	}
}

// verified reads, and then makes sure that Redmine still takes the credentials: if
// it does not, it has answered as to nobody, and what was read may be a part only.
func verified[T any](ctx context.Context, s *Toolset, read func() (T, error)) (T, error) {
	out, err := read()
	if errors.As(err, new(*unreachableError)) {
		return out, err
	}
	if bad := s.Check(ctx); bad != nil {
		return *new(T), bad
	}
	return out, err
}

// is reports whether text means this account, in a call by it.
func (u *user) is(text string) bool {
	l := strings.ToLower(text)
	return l == "me" || l == "current" || l != "" && l == strings.ToLower(u.Login)
}
