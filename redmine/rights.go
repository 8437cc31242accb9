package redmine

import (
	"context"
	"slices"
)

// definitelyLacks reports whether this account surely has none of some rights in a
// project. Redmine returns the roles of members only.
func definitelyLacks(ctx context.Context, s *Toolset, project int, rights ...string) bool {
	me, err := s.account(ctx)
	if err != nil || me.Admin {
		return false
	}
	u, err := userResource().get(ctx, s, "/users/current", "memberships")
	if err != nil {
		return false
	}
	i := slices.IndexFunc(u.Memberships, func(m member) bool { return m.Project.ID == project })
	return i >= 0 && allRoles(ctx, s, &u.Memberships[i], func(r *role) bool {
		return !slices.ContainsFunc(rights, func(right string) bool { return slices.Contains(r.Permissions, right) })
	})
}

// allRoles reports whether something holds surely for all roles of a member.
func allRoles(ctx context.Context, s *Toolset, m *member, holds func(*role) bool) bool {
	for _, held := range m.Roles {
		at := roleResource().at(held.ID)
		r, err := s.roles.get(at, func() (*role, error) { return roleResource().get(ctx, s, at, "") })
		if err != nil || !holds(r) {
			return false
		}
	}
	return true
}

// ownTime are the projects in which this account sees no time of others. Redmine
// leaves that out of lists, as if there were none.
func ownTime(ctx context.Context, s *Toolset) (in []named) {
	me, err := s.account(ctx)
	if err != nil || me.Admin || me.ID == 0 {
		return nil
	}
	u, err := userResource().get(ctx, s, "/users/current", "memberships")
	if err != nil {
		return nil
	}
	for i := range u.Memberships {
		if allRoles(ctx, s, &u.Memberships[i], func(r *role) bool { return r.Time == "own" }) {
			in = append(in, u.Memberships[i].Project)
		}
	}
	return in
}
