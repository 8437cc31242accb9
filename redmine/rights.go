package redmine

import (
	"context"
	"slices"
)

// definitelyLacks reports whether this account surely has none of some rights in a
// project. Redmine returns the roles of members only. They are read again each time: what
// was to be private would be public if a right had just been taken.
func definitelyLacks(ctx context.Context, s *Toolset, project int, rights ...string) bool {
	me, err := s.account(ctx)
	if err != nil || me.Admin {
		return false
	}
	own, err := ownMemberships(ctx, s)
	i := slices.IndexFunc(own, func(m member) bool { return m.Project.ID == project })
	return err == nil && i >= 0 && allRoles(ctx, s, &own[i], true, func(r *role) bool {
		return !slices.ContainsFunc(rights, func(right string) bool { return slices.Contains(r.Permissions, right) })
	})
}

// allRoles reports whether something holds surely for all roles of a member, which are
// read again if they must be.
func allRoles(ctx context.Context, s *Toolset, m *member, again bool, holds func(*role) bool) bool {
	for _, held := range m.Roles {
		at := roleEndpoint().recordPath(held.ID)
		r, err := s.roles.get(at, again, func() (*role, error) { return roleEndpoint().get(ctx, s, at, "") })
		if err != nil || !holds(r) {
			return false
		}
	}
	return true
}

// ownTime are the projects in which this account sees no time of others. Redmine
// leaves that out of lists, as if there were none.
func ownTime(ctx context.Context, s *Toolset) (in []idName) {
	me, err := s.account(ctx)
	if err != nil || me.Admin || me.ID == 0 {
		return nil
	}
	own, _ := ownMemberships(ctx, s) // without them nothing is known
	for i := range own {
		if allRoles(ctx, s, &own[i], false, func(r *role) bool { return r.Time == "own" }) {
			in = append(in, own[i].Project)
		}
	}
	return in
}
