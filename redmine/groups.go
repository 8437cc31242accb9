package redmine

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A userGroup is a group of users.
type userGroup struct {
	ID           int          `json:"id"`
	Name         string       `json:"name" set:"name"`
	CustomFields customFields `json:"custom_fields,omitzero"`
	Users        groupUsers   `json:"users" set:"user_ids"`
	Memberships  memberships  `json:"memberships,omitempty"`
}

type groupUsers []idName

func (all groupUsers) lines() string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("- %d users: %s\n", len(all), listNames(all))
}

func (g *userGroup) title() string { return fmt.Sprintf("Group %d: %s", g.ID, g.Name) }

// groupEndpoint is how groups of users are read, written and compared.
func groupEndpoint() endpoint[userGroup] {
	return endpoint[userGroup]{
		collection: collection{key: "group", path: "/groups", include: "users,memberships", stale: []string{"groups", "memberships"}, explain: forAdmins},
		name:       func(g *userGroup) string { return "group " + g.String() },
	}
}

func (g *userGroup) String() string { return idName{ID: g.ID, Name: g.Name}.String() }

func (g *userGroup) has(user int) bool {
	return slices.ContainsFunc(g.Users, func(n idName) bool { return n.ID == user })
}

func readGroup(ctx context.Context, s *Toolset, text string, exact bool) (*userGroup, error) {
	n, err := s.resolve(ctx, text, scope{groups: true, exact: exact})
	if err != nil {
		return nil, err
	}
	return groupEndpoint().read(ctx, s, n.ID, groupEndpoint().include)
}

type listGroupsInput struct {
	Name string `json:"name,omitempty" desc:"Part of it"`
	rowSpan
}

func listGroups(s *Toolset) entry {
	return listTool(s, "list_groups", "List groups of users", "List groups of users, for administrators.", "groups", "groups",
		func(ctx context.Context, in listGroupsInput, _ idName) (*listing, error) {
			all, _, err := rows[idName](ctx, s, userGroups().path, url.Values{}, userGroups().key, 0, maxNames)
			return wholeList(withPart(all, in.Name, idName.name), in.rowSpan), forAdmins(err, "the list of groups")
		})
}

type groupID struct {
	ID string `json:"id" desc:"Id or name"`
}

func (in *groupID) find(ctx context.Context, s *Toolset) (*userGroup, error) {
	return readGroup(ctx, s, in.ID, false)
}

func showGroup(s *Toolset) entry {
	return showTool[groupID, userGroup](s, "show_group", "Show a group of users", "Show a group with its users and roles.")
}

type groupUserInput struct {
	Group string `json:"group_id" desc:"Id or name"`
	User  string `json:"user_id" desc:"Id, login or name"`
}

func addGroupUser(s *Toolset) entry {
	return tool(s, "add_group_user", "Add a user to a group", "Add a user to a group, for administrators.", changes,
		func(ctx context.Context, in groupUserInput) (*toolpost.Result, error) { return join(ctx, s, in, true) })
}

func removeGroupUser(s *Toolset) entry {
	return tool(s, "remove_group_user", "Remove a user from a group", "Remove a user from a group, for administrators.", changes,
		func(ctx context.Context, in groupUserInput) (*toolpost.Result, error) { return join(ctx, s, in, false) })
}

// join changes who is in a group. Redmine refuses who is in it already as if
// there were no such user.
func join(ctx context.Context, s *Toolset, in groupUserInput, on bool) (*toolpost.Result, error) {
	g, err := readGroup(ctx, s, in.Group, true)
	if err != nil {
		return nil, err
	}
	who, err := s.resolve(ctx, in.User, scope{users: true, exact: true})
	if err != nil {
		return nil, err
	}
	if g.has(who.ID) == on {
		return s.show(fmt.Sprintf("Nothing to change: %s is %s group %s.\n\n", who, where(on), g), g, nil)
	}
	at := groupEndpoint().recordPath(g.ID)
	if err := s.setLink(ctx, at+"/users", "user_id", who.ID, on); err != nil {
		return nil, forAdmins(err, "the change of group "+g.String())
	}
	s.forget("memberships")
	now, err := groupEndpoint().get(ctx, s, at, groupEndpoint().include)
	switch {
	case err != nil:
		return s.unread("Redmine accepted the change of group "+g.String(), forAdmins(err, "group "+g.String()), map[string]any{"id": g.ID})
	case now.has(who.ID) != on:
		return nil, toolpost.Failed.Errorf("Redmine accepted the request, but the users of group %s are: %s.", g, cmp.Or(listNames(now.Users), "nobody"))
	}
	return s.show(fmt.Sprintf("%s is %s group %s now.\n\n", who, where(on), g), now, nil)
}

func where(in bool) string {
	if in {
		return "in"
	}
	return "not in"
}

type createGroupInput struct {
	Name   string     `json:"name" fill:"trimmed"`
	Users  []string   `json:"user_ids,omitempty" desc:"Ids, logins or names"`
	Fields []setField `json:"custom_fields,omitempty"`
}

func createGroup(s *Toolset) entry {
	return tool(s, "create_group", "Create a group of users", "Create a group of users, for administrators.", adds,
		func(ctx context.Context, in createGroupInput) (*toolpost.Result, error) {
			if strings.TrimSpace(in.Name) == "" {
				return nil, toolpost.Retry.Errorf("Give the group a name.")
			}
			w := newWrite(ctx, s, 0)
			fillGroup(w, &in, in.Users, in.Fields)
			return groupEndpoint().create(w, "/groups", "the new group "+in.Name)
		})
}

type updateGroupInput struct {
	wholeGroupID
	Name   string     `json:"name,omitempty" fill:"trimmed"`
	Users  []string   `json:"user_ids,omitempty" desc:"All its users; ids, logins, names or none"`
	Fields []setField `json:"custom_fields,omitempty"`
}

// A wholeGroupID names the group that is to be changed, not by a part of its name.
type wholeGroupID struct{ groupID }

func (in *wholeGroupID) find(ctx context.Context, s *Toolset) (*userGroup, error) {
	return readGroup(ctx, s, in.ID, true)
}

func updateGroup(s *Toolset) entry {
	return changeTool(s, groupEndpoint, "update_group", "Change a group of users", "Change the name of a group or all of its users, for administrators.",
		func(w *write, in *updateGroupInput, _ *userGroup) { fillGroup(w, in, in.Users, in.Fields) })
}

// fillGroup finds the ids of what is to be set.
func fillGroup(w *write, arguments any, users []string, fields []setField) {
	w.fill(arguments)
	setList(w, "user_ids", users, func(text string) (int, error) {
		who, err := w.s.resolve(w.ctx, text, scope{users: true, exact: true})
		return who.ID, err
	})
	w.custom(fields, func() ([]field, error) { return definedFields(w.ctx, w.s, "group") })
}

type deleteGroupInput struct {
	groupID
	confirmation
}

func deleteGroup(s *Toolset) entry {
	return deleteTool(s, groupEndpoint, "delete_group", "Delete a group of users", "Delete a group of users, for administrators. The users stay.",
		func(_ context.Context, in *deleteGroupInput, g *userGroup, r *removal) error {
			r.given, r.names = in.ID, []string{fmt.Sprint(g.ID), g.Name}
			r.would = fmt.Sprintf("Deleting group %s would take from its %d users the roles that they have through it in %d projects, and would unassign what is assigned to it.\n\n%s",
				g, len(g.Users), len(g.Memberships), textOf(g))
			return nil
		})
}
