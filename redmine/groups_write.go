package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type createGroupInput struct {
	Name   string     `json:"name"`
	Users  []string   `json:"user_ids,omitempty" desc:"Ids, logins or names"`
	Fields []setField `json:"custom_fields,omitempty"`
}

func createGroup(s *Server) entry {
	return tool(s, "create_group", "Create a group of users", "Create a group of users, for administrators.", adds,
		func(ctx context.Context, in createGroupInput) (*toolpost.Result, error) {
			if strings.TrimSpace(in.Name) == "" {
				return nil, toolpost.Retry("Give the group a name.")
			}
			w := newWrite(ctx, s, 0)
			fillGroup(w, in.Name, in.Users, in.Fields)
			return groupKind().create(w, "/groups", "the new group "+in.Name)
		})
}

type updateGroupInput struct {
	ID     string     `json:"id" desc:"Id or name"`
	Name   string     `json:"name,omitempty"`
	Users  []string   `json:"user_ids,omitempty" desc:"All its users; ids, logins, names or none"`
	Fields []setField `json:"custom_fields,omitempty"`
}

func updateGroup(s *Server) entry {
	return tool(s, "update_group", "Change a group of users", "Change the name of a group or all of its users, for administrators.", changes,
		func(ctx context.Context, in updateGroupInput) (*toolpost.Result, error) {
			g, err := readGroup(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			if err := wholeGroup(in.ID, g.ID, g.Name); err != nil {
				return nil, err
			}
			w := newWrite(ctx, s, 0)
			fillGroup(w, in.Name, in.Users, in.Fields)
			return groupKind().change(w, g)
		})
}

// fillGroup finds the ids of what is to be set.
func fillGroup(w *write, name string, users []string, fields []setField) {
	plain(w, "name", strings.TrimSpace(name))
	several(w, "user_ids", users, func(text string) (int, error) {
		who, err := human(w.ctx, w.s, text)
		if err == nil {
			err = entire(w.ctx, w.s, text, who)
		}
		return who.ID, err
	})
	w.custom(fields, func() ([]field, error) { return definedFields(w.ctx, w.s, "group") })
}

type deleteGroupInput struct {
	ID      string `json:"id" desc:"Id or name"`
	Confirm bool   `json:"confirm,omitempty" desc:"Without it, only a preview"`
}

func deleteGroup(s *Server) entry {
	return tool(s, "delete_group", "Delete a group of users", "Delete a group of users, for administrators. The users stay.", removes,
		func(ctx context.Context, in deleteGroupInput) (*toolpost.Result, error) {
			g, err := readGroup(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return groupKind().remove(ctx, s, g, &removal{
				confirmed: in.Confirm, given: in.ID, names: []string{fmt.Sprint(g.ID), g.Name},
				what: groupKind().name(g), facts: map[string]any{"group": g},
				would: fmt.Sprintf("Deleting group %s would take from its %d users the roles that they have through it in %d projects, and would unassign what is assigned to it.\n\n%s",
					g, len(g.Users), len(g.Memberships), textOf(g)),
			})
		})
}
