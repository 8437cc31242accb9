package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/toolpost/toolpost"
)

// A member is a user or group with roles in a project.
type member struct {
	ID      int        `json:"id"`
	Project named      `json:"project"`
	User    *named     `json:"user,omitempty"`
	Group   *named     `json:"group,omitempty"`
	Roles   []heldRole `json:"roles" set:"roles"`
}

// A heldRole is a role of a member, perhaps by a group or the parent project.
type heldRole struct {
	named
	Inherited bool `json:"inherited,omitempty"`
}

// UnmarshalJSON implements [json.Unmarshaler]: Redmine's own groups have keys of
// their own.
func (m *member) UnmarshalJSON(raw []byte) error {
	type plain member
	all := struct {
		*plain
		Anonymous *named `json:"group_anonymous"`
		NonMember *named `json:"group_non_member"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	m.Group = cmp.Or(m.Group, all.Anonymous, all.NonMember)
	return nil
}

func (m member) who() named {
	switch {
	case m.User != nil:
		return *m.User
	case m.Group != nil:
		return *m.Group
	}
	return named{}
}

// person finds a user or group: "me" or "current", an id, a name among the
// members of the project, or of the own projects if it is 0, and for
// administrators among all users.
func (s *Server) person(ctx context.Context, project int, text string) (named, error) {
	text = strings.TrimSpace(text)
	me, err := s.account(ctx)
	if err != nil {
		return named{}, err
	}
	if me.is(text) {
		if me.ID == 0 {
			return named{}, toolpost.Failed("%q needs credentials: ask the user to set REDMINE_API_KEY", text)
		}
		return named{ID: me.ID, Name: me.name()}, nil
	}
	all, err := people(ctx, s, project)
	if err != nil {
		return named{}, err
	}
	if found := exactly(text, all); len(found) == 1 {
		return found[0], nil
	}
	if found := called(text, all); len(found) == 1 {
		return found[0], nil
	} else if len(found) > 1 {
		return named{}, unclear(text, found)
	}
	if id, ok := number(text); ok {
		return named{ID: id, Name: fmt.Sprintf("user %d", id)}, nil // one that this account cannot list
	}
	return someone(ctx, s, me, project, text, all)
}

// called are the people with a name, in any order of its parts.
func called(text string, all []named) []named {
	return those(all, func(n named) bool { return samePerson(n.Name, text) })
}

// someone finds a person who is not named whole among the members of the project.
func someone(ctx context.Context, s *Server, me *account, project int, text string, all []named) (named, error) {
	if me.Admin {
		if n, ok, err := byLogin(ctx, s, text); ok || err != nil {
			return n, err
		}
	}
	n, err := pick("person", text, all)
	switch {
	case err == nil:
		return n, nil
	case me.Admin && project == 0:
		return anybody(ctx, s, text, toolpost.Retry("There is no user %q: no login, name or mail address contains that. List the users to find the right one.", text))
	case me.Admin:
		return anybody(ctx, s, text, err)
	case me.ID > 0 && project == 0:
		return companion(ctx, s, "person", false, text)
	}
	return named{}, err
}

// people are the members of a project, or of the own projects if it is 0.
// Administrators have none of 0: they can list all users.
func people(ctx context.Context, s *Server, project int) ([]named, error) {
	if project == 0 {
		me, err := s.account(ctx)
		if err != nil || me.Admin || me.ID == 0 {
			return nil, err
		}
		return companions(ctx, s, false)
	}
	path := fmt.Sprintf("/projects/%d/memberships.json", project)
	members, _, err := rows[member](ctx, s, path, url.Values{}, "memberships", 0, mostNames)
	if err != nil {
		return nil, explain(err, "the members of the project")
	}
	var all []named
	for _, m := range members {
		all = append(all, m.who())
	}
	return all, nil
}

// like are the users who have a text in their login, name or mail address.
func like(ctx context.Context, s *Server, text string) ([]user, error) {
	text = strings.Join(strings.Fields(strings.ReplaceAll(norm.NFKC.String(text), ",", " ")), " ")
	users, total, err := userRows(ctx, s, url.Values{"name": {text}, "status": {""}}, 0, mostNames)
	switch {
	case err != nil:
		return nil, explain(err, "the list of users")
	case total > len(users):
		return nil, tooMany(text, total)
	}
	return users, nil
}

// byLogin finds the user with a login, as an administrator.
func byLogin(ctx context.Context, s *Server, text string) (n named, ok bool, err error) {
	users, err := like(ctx, s, text)
	if err != nil {
		return n, false, err
	}
	for _, u := range users {
		if folded(u.Login) == folded(text) {
			return named{ID: u.ID, Name: u.name()}, true, nil
		}
	}
	return n, false, nil
}

// anybody finds a user by login, name or mail address, as an administrator.
// Otherwise is what is told if there is none.
func anybody(ctx context.Context, s *Server, text string, otherwise error) (named, error) {
	users, err := like(ctx, s, text)
	if err != nil {
		return named{}, err
	}
	var all []named
	for _, u := range users {
		if strings.EqualFold(u.Login, text) || strings.EqualFold(u.Mail, text) {
			return named{ID: u.ID, Name: u.name()}, nil
		}
		all = append(all, named{ID: u.ID, Name: u.name()})
	}
	if found := called(text, all); len(found) == 1 {
		return found[0], nil
	}
	n, err := pick("person", text, all)
	switch {
	case err == nil:
		return n, nil
	case len(all) == 0:
		return named{}, otherwise
	case len(all) == 1:
		return all[0], nil // by a part of the login or mail address
	}
	return named{}, unclear(text, all)
}
