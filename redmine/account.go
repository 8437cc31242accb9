package redmine

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
)

type showAccountInput struct {
	Include string `json:"include,omitempty" desc:"Some of memberships,groups; both by default, or none"`
}

func showAccount(s *Toolset) entry {
	return tool(s, "show_account", "Show your account", "Show the account that these tools use and its rights.", reads,
		func(ctx context.Context, in showAccountInput) (*toolpost.Result, error) {
			include, err := checkIncludes(in.Include, "memberships,groups")
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
		return nil, toolpost.Failed.Errorf("These tools have no credentials, so they have no account. Ask the user to set REDMINE_API_KEY.")
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
