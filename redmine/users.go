package redmine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func userTools(s *Toolset) []entry {
	return []entry{
		listUsers(s), showUser(s), createUser(s), updateUser(s), deleteUser(s),
		listGroups(s), showGroup(s), createGroup(s), updateGroup(s), deleteGroup(s), addGroupUser(s), removeGroupUser(s),
		showAccount(s), updateAccount(s),
	}
}

// A user is an account of a person. The API key in Redmine's answer is never read.
type user struct {
	ID           int          `json:"id"`
	Login        string       `json:"login,omitempty" text:"login" row:"%s" set:"login"`
	FirstName    string       `json:"firstname,omitempty" set:"firstname"`
	LastName     string       `json:"lastname,omitempty" set:"lastname"`
	FullName     string       `json:"name,omitempty"` // not in Redmine's answer
	Mail         string       `json:"mail,omitempty" text:"mail" row:"%s" set:"mail"`
	Status       userState    `json:"status,omitempty" text:"status" row:"%s" set:"status,omitempty"` // for administrators only
	Admin        bool         `json:"admin,omitempty" text:"administrator" row:"administrator" set:"admin"`
	CustomFields customFields `json:"custom_fields,omitzero"`
	CreatedOn    timestamp    `json:"created_on,omitempty" text:"created"`
	LastLogin    timestamp    `json:"last_login_on,omitempty" text:"last login" row:"last login %s"`
	TwoFactor    string       `json:"twofa_scheme,omitempty" text:"second factor"`
	PasswordSet  string       `json:"passwd_changed_on,omitempty"` // when it was set
	Groups       []idName     `json:"groups,omitempty" text:"groups" set:"group_ids"`
	Memberships  memberships  `json:"memberships,omitempty"`
}

func (u *user) title() string { return fmt.Sprintf("User %d: %s", u.ID, u.name()) }

// prepare implements [preparer].
func (u *user) prepare() { u.FullName = u.name() }

// A userState is the state of an account.
type userState int

// userStatuses are the names of the states of an account, at their numbers.
var userStatuses = []string{"", "active", "registered", "locked"}

func (n userState) String() string {
	if n < 0 || int(n) >= len(userStatuses) {
		return fmt.Sprint(int(n))
	}
	return userStatuses[n]
}

// MarshalText implements [encoding.TextMarshaler].
func (n userState) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// userStatus reads a state, as a name or a number.
func userStatus(text string) (int, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	for n, name := range userStatuses[1:] {
		if text == name || text == fmt.Sprint(n+1) {
			return n + 1, nil
		}
	}
	return 0, toolpost.Retry.Errorf("%q is not a status of users. Choose from active, registered and locked.", text)
}

// userEndpoint is how users are read, written and compared.
func userEndpoint() endpoint[user] {
	return endpoint[user]{
		collection: collection{key: "user", path: "/users", include: "memberships,groups", stale: []string{"memberships"}, explain: explainUsers},
		name:       func(u *user) string { return "user " + u.idName().String() },
	}
}

func (u *user) String() string { return u.idName().String() }

func (u *user) name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

func (u *user) idName() idName { return idName{ID: u.ID, Name: u.name()} }

// explainUsers explains a failure that has to do with users.
func explainUsers(err error, what string) error {
	if status(err) == http.StatusNotFound {
		return toolpost.Retry.Errorf("Redmine did not find %s. Only administrators can see an account that is locked or in none of your projects.", what)
	}
	return forAdmins(err, what)
}

// forAdmins explains why a request failed that only administrators may make.
func forAdmins(err error, what string) error {
	if status(err) != http.StatusForbidden {
		return explain(err, what)
	}
	return toolpost.Failed.Errorf("Redmine refuses %s: only administrators may do that, and this account is not one. "+
		"The tool show_user finds the people of your projects by name, list_memberships lists those of a project, and names are taken wherever an id is.", what)
}

// memberships are those of a user or a group.
type memberships []member

func (all memberships) lines() (text string) {
	for _, m := range all {
		text += fmt.Sprintf("- in project %s: %s\n", m.Project, rolesText(m.Roles))
	}
	return text
}

type listUsersInput struct {
	Status string `json:"status,omitempty" jsonschema:"enum=active,enum=registered,enum=locked,enum=all,enum=1,enum=2,enum=3,default=active"`
	Name   string `json:"name,omitempty" desc:"Part of login, name or mail"`
	Group  string `json:"group_id,omitempty" desc:"Name or id"`
	rowSpan
}

func listUsers(s *Toolset) entry {
	return listTool(s, "list_users", "List users", "List user accounts, for administrators.\nOthers find people with show user.", "users", "users",
		func(ctx context.Context, in listUsersInput, _ idName) (*listing, error) {
			query := url.Values{"status": {""}} // all
			state := 0
			if in.Status != "all" {
				var err error
				if state, err = userStatus(cmp.Or(in.Status, "active")); err != nil {
					return nil, err
				}
				query.Set("status", fmt.Sprint(state))
			}
			if in.Name != "" {
				query.Set("name", in.Name)
			}
			if in.Group != "" {
				g, err := s.resolve(ctx, in.Group, scope{groups: true})
				if err != nil {
					return nil, err
				}
				query.Set("group_id", fmt.Sprint(g.ID))
			}
			all, total, err := userRows(ctx, s, query, in.Offset, in.most())
			if err != nil {
				return nil, forAdmins(err, "the list of users")
			}
			if err := fillStatus(ctx, s, all, query, state); err != nil {
				return nil, err
			}
			l := newListing(all, in.Offset, total)
			if total == 0 && state == 1 {
				l.note = " Only active ones were looked for; status all finds the others too."
			}
			for i := range all {
				all[i].prepare()
			}
			return l, nil
		})
}

// fillStatus finds the states of the users in a list of those with a state, 0 for
// any. Redmine returns them from 6.0 on; before, who is neither registered nor
// locked is active.
func fillStatus(ctx context.Context, s *Toolset, all []user, query url.Values, state int) error {
	known := map[int]userState{}
	if state == 0 && len(all) > 0 && all[0].Status == 0 {
		for state = 3; state > 1; state-- { // and is 1, active, for the rest
			query.Set("status", fmt.Sprint(state))
			some, _, err := userRows(ctx, s, query, 0, maxNames)
			if err != nil {
				return forAdmins(err, "the list of users")
			}
			for i := range some {
				known[some[i].ID] = userState(state)
			}
		}
	}
	for i := range all {
		all[i].Status = cmp.Or(all[i].Status, known[all[i].ID], userState(state))
	}
	return nil
}

type showUserInput struct {
	ID      string `json:"id" desc:"Id, login, name or me"`
	Include string `json:"include,omitempty" desc:"Some of memberships,groups; both by default, or none"`
}

func (in *showUserInput) find(ctx context.Context, s *Toolset) (*user, error) {
	include, err := checkIncludes(in.Include, userEndpoint().include)
	if err != nil {
		return nil, err
	}
	who, err := s.resolve(ctx, in.ID, scope{users: true})
	if err != nil {
		return nil, err
	}
	return readUser(ctx, s, who.ID, include)
}

func showUser(s *Toolset) entry {
	return showTool[showUserInput, user](s, "show_user", "Show a user", "Show a user with roles and groups.\nOnly administrators see people outside their projects.")
}

// readUser reads a user; the own account with its mail address, which may be
// hidden from others.
func readUser(ctx context.Context, s *Toolset, id int, include string) (*user, error) {
	u, err := userEndpoint().read(ctx, s, id, include)
	if err != nil || u.Mail != "" {
		return u, err
	}
	if me, err := s.account(ctx); err == nil && me.ID == id {
		own, err := userEndpoint().get(ctx, s, ownPath, "")
		if err != nil {
			return nil, explain(err, "your own account")
		}
		u.Mail = own.Mail
	}
	return u, nil
}

// userRows reads a list of users. From 5.1 on Redmine finds no name of several
// words that are not in the same part of it: it is asked for the longest one.
func userRows(ctx context.Context, s *Toolset, query url.Values, offset, most int) ([]user, int, error) {
	words := strings.Fields(strings.ToLower(query.Get("name")))
	if len(words) < 2 {
		return wordRows(ctx, s, query, offset, most)
	}
	query = maps.Clone(query)
	query.Set("name", slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) }))
	all, total, err := wordRows(ctx, s, query, 0, maxNames)
	if total > len(all) {
		return nil, 0, tooMany(query.Get("name"), total)
	}
	all = slices.DeleteFunc(all, func(u user) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return !strings.Contains(strings.ToLower(u.FirstName), w) && !strings.Contains(strings.ToLower(u.LastName), w)
		})
	})
	from := min(offset, len(all))
	return all[from:min(from+most, len(all))], len(all), err
}

// tooMany returns the error that a text matches too many users to look for one.
func tooMany(text string, users int) error {
	return toolpost.Retry.Errorf("%q matches the login, name or mail address of %d users: give more of it, or the id.", text, users)
}

// wordRows are userRows of a name of one word, or of none. Those of any status are
// asked for by an empty one until 5.1, as "*" is nobody in 5.0, and by "*" from 6.0
// on, which refuses the empty one.
func wordRows(ctx context.Context, s *Toolset, query url.Values, offset, most int) (all []user, total int, err error) {
	all, total, err = rows[user](ctx, s, "/users.json", query, "users", offset, most)
	if status(err) == http.StatusUnprocessableEntity && query.Get("status") == "" {
		query.Set("status", "*")
		return rows[user](ctx, s, "/users.json", query, "users", offset, most)
	}
	return all, total, err
}
