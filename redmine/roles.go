package redmine

import "context"

// A role is what its members may do.
type role struct {
	idName
	Assignable  bool     `json:"assignable" text:"gets issues assigned,always"`
	Issues      string   `json:"issues_visibility" text:"sees issues"`
	Time        string   `json:"time_entries_visibility" text:"sees time"`
	Users       string   `json:"users_visibility" text:"sees users"`
	Permissions []string `json:"permissions" text:"may"`
}

func (r *role) title() string { return "Role " + r.String() }

// roleEndpoint is how roles are read.
func roleEndpoint() endpoint[role] {
	return endpoint[role]{collection: collection{key: "role", path: "/roles"}}
}

type roleID struct {
	ID string `json:"id" desc:"Name or id"`
}

func (in *roleID) find(ctx context.Context, s *Toolset) (*role, error) {
	n, ok := number(in.ID) // those of outsiders are in no list
	if !ok {
		found, err := s.find(ctx, roles(), in.ID)
		if err != nil {
			return nil, err
		}
		n = found.ID
	}
	return roleEndpoint().read(ctx, s, n, "")
}

func showRole(s *Toolset) entry {
	return showTool[roleID, role](s, "show_role", "Show a role", "Show what a role may do and see.")
}
