package redmine

import (
	"context"
	"slices"
)

// lacks says whether this account surely has none of some rights in a project. Redmine
// tells the roles of members only.
func lacks(ctx context.Context, s *Server, project int, rights ...string) bool {
	me, err := s.account(ctx)
	if err != nil || me.Admin {
		return false
	}
	u, err := userKind().get(ctx, s, "/users/current", "memberships")
	if err != nil {
		return false
	}
	i := slices.IndexFunc(u.Memberships, func(m member) bool { return m.Project.ID == project })
	if i < 0 {
		return false
	}
	for _, held := range u.Memberships[i].Roles {
		r, err := roleKind().get(ctx, s, roleKind().at(held.ID), "")
		if err != nil || slices.ContainsFunc(rights, func(right string) bool { return slices.Contains(r.Permissions, right) }) {
			return false
		}
	}
	return true
}
