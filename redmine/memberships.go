package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A member is a user or group with roles in a project.
type member struct {
	ID      int        `json:"id"`
	Project idName     `json:"project"`
	User    *idName    `json:"user,omitempty"`
	Group   *idName    `json:"group,omitempty"`
	Roles   []heldRole `json:"roles" set:"roles"`
}

// A heldRole is a role of a member, perhaps by a group or the parent project.
type heldRole struct {
	idName
	Inherited bool `json:"inherited,omitempty"`
}

// UnmarshalJSON implements [json.Unmarshaler]: Redmine's own groups have keys of
// their own.
func (m *member) UnmarshalJSON(raw []byte) error {
	type plain member
	all := struct {
		*plain
		Anonymous *idName `json:"group_anonymous"`
		NonMember *idName `json:"group_non_member"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	m.Group = cmp.Or(m.Group, all.Anonymous, all.NonMember)
	return nil
}

func (m member) who() idName {
	switch {
	case m.User != nil:
		return *m.User
	case m.Group != nil:
		return *m.Group
	}
	return idName{}
}

func (m member) String() string {
	kind := ""
	if m.Group != nil {
		kind = "group "
	}
	return fmt.Sprintf("membership %d: %s%s: %s", m.ID, kind, m.who(), rolesText(m.Roles))
}

func (m member) text() string { return "- " + m.String() + "\n" }

// membershipEndpoint is how memberships are read, changed and removed.
func membershipEndpoint() endpoint[member] {
	return endpoint[member]{
		collection: collection{
			key: "membership", path: "/memberships", stale: []string{"memberships"},
			why: "this account may not give or take the role", explain: explainMembers,
		},
		name: func(m *member) string {
			return fmt.Sprintf("membership %d of %s in project %s", m.ID, m.who(), m.Project)
		},
		check: func(w *write, _, m *member) {
			roles, _ := w.set["role_ids"].([]int)
			w.wrong = append(w.wrong, m.diffRoles(roles)...)
		},
	}
}

// explainMembers explains a refusal of a change of members, which does not say that it is for the role.
func explainMembers(err error, what string) error {
	if status(err) != http.StatusUnprocessableEntity {
		return explain(err, what)
	}
	return toolpost.Retry.Errorf("%v This account may not be allowed to give or take the role: list_memberships shows its own roles.", explain(err, what))
}

func rolesText(all []heldRole) string {
	var held []string
	for _, r := range all {
		text := r.String()
		if r.Inherited {
			text += " inherited"
		}
		held = append(held, text)
	}
	return strings.Join(held, ", ")
}

type listMembershipsInput struct {
	projectID
	rowSpan
}

func listMemberships(s *Toolset) entry {
	return listTool(s, "list_memberships", "List members", "List the members of a project with their roles.", "members", "memberships",
		func(ctx context.Context, in listMembershipsInput, p idName) (*listing, error) {
			all, total, err := rows[member](ctx, s, fmt.Sprintf("/projects/%d/memberships.json", p.ID), url.Values{}, "memberships", in.Offset, in.most())
			l := newListing(all, in.Offset, total)
			l.facts = map[string]any{"project": p}
			return l, explain(err, "the members of project "+p.String())
		})
}

type createMembershipInput struct {
	projectID
	Users []string `json:"user_ids" jsonschema:"minItems=1" desc:"Users or groups by id, name or me"`
	Roles []string `json:"role_ids" jsonschema:"minItems=1" desc:"Names or ids"`
}

func createMembership(s *Toolset) entry {
	return projectTool(s, "create_membership", "Add members", "Add users or groups to a project, all with the same roles.", adds,
		func(ctx context.Context, in createMembershipInput, p idName) (*toolpost.Result, error) {
			before, err := members(ctx, s, p)
			if err != nil {
				return nil, err
			}
			var users []idName
			for _, text := range in.Users {
				n, err := s.resolve(ctx, text, scope{project: p.ID, outside: true, exact: true})
				if err != nil {
					return nil, err
				}
				if i := slices.IndexFunc(before, func(m member) bool { return m.who().ID == n.ID }); i >= 0 {
					return nil, toolpost.Retry.Errorf("Nothing was changed: %s is already a member of project %s. Call update_membership to change the roles.\n%s", n, p, before[i].text())
				}
				if !slices.ContainsFunc(users, func(u idName) bool { return u.ID == n.ID }) {
					users = append(users, n)
				}
			}
			roles, err := roleIDs(ctx, s, in.Roles)
			if err != nil {
				return nil, err
			}
			return addMembers(ctx, s, p, users, roles)
		})
}

// addMembers adds them one by one: of several Redmine adds none if one does not
// fit, and reports success.
func addMembers(ctx context.Context, s *Toolset, p idName, users []idName, roles []int) (*toolpost.Result, error) {
	var failed error
	var wrong []string
	var made []int
	for _, who := range users {
		w := newWrite(ctx, s, p.ID)
		w.set["user_id"], w.set["role_ids"] = who.ID, roles
		n, err := membershipEndpoint().post(w, fmt.Sprintf("/projects/%d/memberships", p.ID), "the membership of "+who.String())
		if err != nil {
			failed = err
			wrong = append(wrong, fmt.Sprintf("%s: %v", who, err))
			continue
		}
		made = append(made, n)
	}
	if len(wrong) == len(users) {
		return nil, failed
	}
	s.forget("memberships")
	all, err := members(ctx, s, p)
	if err != nil {
		done := summarize(fmt.Sprintf("Added %d members to project %s", len(made), p), notGiven, wrong)
		return s.answerLine(fmt.Sprintf("%sThe members could not be read back, so check with list_memberships before you add them again: %v", done, err), map[string]any{"read_back": false, "not_taken": wrong})
	}
	added := []member{}
	lines := ""
	for _, m := range all {
		if slices.Contains(made, m.ID) {
			wrong = append(wrong, m.diffRoles(roles)...)
			added = append(added, m)
			lines += m.text()
		}
	}
	text := summarize(fmt.Sprintf("Added %d members to project %s", len(added), p), notGiven, wrong)
	return s.answer(text+lines, map[string]any{"memberships": added, "not_taken": wrong})
}

// notGiven is why Redmine may not add a member.
const notGiven = "this account may not give the role, or there is no such user or group"

// inherits reports whether a role comes from a group or the parent project.
func (m member) inherits() bool {
	return slices.ContainsFunc(m.Roles, func(r heldRole) bool { return r.Inherited })
}

// diffRoles returns the roles that are not as they were set.
func (m member) diffRoles(roles []int) []string {
	var wrong []string
	for _, id := range roles {
		if !slices.ContainsFunc(m.Roles, func(r heldRole) bool { return r.ID == id }) {
			wrong = append(wrong, fmt.Sprintf("%s does not have role %d", m.who(), id))
		}
	}
	for _, r := range m.Roles {
		if !r.Inherited && !slices.Contains(roles, r.ID) {
			wrong = append(wrong, fmt.Sprintf("%s still has role %s", m.who(), r))
		}
	}
	return wrong
}

// A membershipID says which membership.
type membershipID struct {
	ID      string `json:"id,omitempty" desc:"Or give project and user"`
	Project string `json:"project_id,omitempty" desc:"Id, key or name"`
	User    string `json:"user_id,omitempty" desc:"User or group id, name or me"`
}

// find reads the membership.
func (in *membershipID) find(ctx context.Context, s *Toolset) (*member, error) {
	if in.ID == "" && (in.Project == "" || in.User == "") {
		return nil, toolpost.Retry.Errorf("Give the id of the membership, or the project and the user.")
	}
	if in.ID != "" {
		return membershipEndpoint().find(ctx, s, "a membership", in.ID, "")
	}
	p, err := s.project(ctx, in.Project)
	if err != nil {
		return nil, err
	}
	who, err := s.resolve(ctx, in.User, scope{project: p.ID, outside: true, exact: true})
	if err != nil {
		return nil, err
	}
	all, err := members(ctx, s, p)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(m member) bool { return m.who().ID == who.ID })
	if i < 0 {
		return nil, toolpost.Retry.Errorf("%s is not a member of project %s.", who, p)
	}
	return &all[i], nil
}

type updateMembershipInput struct {
	membershipID
	Roles []string `json:"role_ids" desc:"All roles to have; inherited ones stay"`
}

func updateMembership(s *Toolset) entry {
	return changeTool(s, membershipEndpoint, "update_membership", "Change a member's roles", "Set the roles of a member of a project.",
		func(w *write, in *updateMembershipInput, m *member) {
			if len(in.Roles) == 0 && !m.inherits() {
				w.err = toolpost.Retry.Errorf("Give a role: %s has no inherited ones. To remove the member call delete_membership.", m.who())
				return
			}
			roles, err := roleIDs(w.ctx, s, in.Roles)
			w.put("role_ids", roles, err)
		})
}

type deleteMembershipInput struct {
	membershipID
	confirmation
}

func deleteMembership(s *Toolset) entry {
	return deleteTool(s, membershipEndpoint, "delete_membership", "Remove a member", "Remove a user or group from a project.\nInherited roles cannot be removed.",
		func(ctx context.Context, in *deleteMembershipInput, m *member, r *removal) error {
			if m.inherits() {
				return toolpost.Failed.Errorf("Membership %d cannot be removed: %s has inherited roles in project %s. Take the user out of the group, or remove the membership of the group or in the parent project. To remove roles that are not inherited, call update_membership.\n%s", m.ID, m.who(), m.Project, m.text())
			}
			r.would = fmt.Sprintf("From project %s would be removed:\n%s", m.Project, m.text())
			if m.Group != nil {
				r.would += "With it go the roles that the users of the group have by it."
			}
			if in.ID == "" {
				r.given, r.names = in.User, in.names(ctx, s, m)
			}
			return nil
		})
}

// names are what names the member whole.
func (in *membershipID) names(ctx context.Context, s *Toolset, m *member) []string {
	who := m.who()
	names := []string{fmt.Sprint(who.ID), who.Name}
	if m.User != nil {
		if u, err := userEndpoint().get(ctx, s, userEndpoint().recordPath(who.ID), ""); err == nil {
			names = u.wholeNames()
		}
	}
	if me, err := s.account(ctx); err == nil && me.ID == who.ID && me.matches(in.User) {
		names = append(names, in.User)
	}
	return names
}

// members are all of a project.
func members(ctx context.Context, s *Toolset, p idName) ([]member, error) {
	all, err := membersOf(ctx, s, p.ID)
	return all, explain(err, "the members of project "+p.String())
}

// membersOf is members with errors that are not explained yet.
func membersOf(ctx context.Context, s *Toolset, project int) ([]member, error) {
	all, _, err := rows[member](ctx, s, fmt.Sprintf("/projects/%d/memberships.json", project), url.Values{}, "memberships", 0, maxNames)
	return all, err
}

// ownMemberships are those of this account.
func ownMemberships(ctx context.Context, s *Toolset) ([]member, error) {
	me, err := userEndpoint().get(ctx, s, "/users/current", "memberships")
	if err != nil {
		return nil, explain(err, "your own projects")
	}
	return me.Memberships, nil
}

func roleIDs(ctx context.Context, s *Toolset, texts []string) ([]int, error) {
	found := []int{}
	for _, text := range texts {
		n, err := s.find(ctx, roles(), text)
		if err == nil {
			err = requireWholeName(text, "role "+n.String(), fmt.Sprint(n.ID), n.Name)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, n.ID)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
