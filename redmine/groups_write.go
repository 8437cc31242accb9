package redmine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type createGroupInput struct {
	Name   string     `json:"name" jsonschema:"maxLength=255,description=Name"`
	Users  []string   `json:"user_ids,omitempty" jsonschema:"description=All users in it by id or login or name"`
	Fields []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
}

func createGroup(s *Server) entry {
	return tool(s, "create_group", "Create a group of users", "Create a group of users, for administrators.", adds,
		func(ctx context.Context, in createGroupInput) (*toolpost.Result, error) {
			if strings.TrimSpace(in.Name) == "" {
				return nil, toolpost.Retry("Give the group a name.")
			}
			w := &groupWrite{write: write{s: s, ctx: ctx, set: map[string]any{}}}
			if err := w.fill(in.Name, in.Users, in.Fields); err != nil {
				return nil, err
			}
			var answer struct {
				Group userGroup `json:"group"`
			}
			if err := s.client.send(ctx, "POST", "/groups.json", map[string]any{"group": w.set}, &answer); err != nil {
				return nil, forAdmins(err, "the new group "+in.Name)
			}
			return w.told(answer.Group.ID, "Created")
		})
}

type updateGroupInput struct {
	ID     string     `json:"id" jsonschema:"description=Group id or name"`
	Name   string     `json:"name,omitempty" jsonschema:"maxLength=255,description=New name"`
	Users  []string   `json:"user_ids,omitempty" jsonschema:"description=All users in it from now on by id or login or name. Write none for nobody"`
	Fields []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
}

func updateGroup(s *Server) entry {
	return tool(s, "update_group", "Change a group of users", "Change the name of a group or all of its users, for administrators.\nTo add or remove one user there are tools of their own.", changes,
		func(ctx context.Context, in updateGroupInput) (*toolpost.Result, error) {
			g, err := readGroup(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			w := &groupWrite{write: write{s: s, ctx: ctx, set: map[string]any{}}}
			if err := w.fill(in.Name, in.Users, in.Fields); err != nil {
				return nil, err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give a name, users or custom fields.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/groups/%d.json", g.ID), map[string]any{"group": w.set}, nil); err != nil {
				return nil, forAdmins(err, "the change of group "+g.String())
			}
			return w.told(g.ID, "Changed")
		})
}

// A groupWrite is a change of a group: what is asked for, and what became of it.
type groupWrite struct {
	write
	fields []wireField
}

// fill finds the ids of what is to be set.
func (w *groupWrite) fill(name string, users []string, fields []setField) error {
	w.text("name", name)
	if len(users) > 0 {
		ids := []int{}
		for _, text := range users {
			if strings.EqualFold(text, none) {
				continue
			}
			who, err := human(w.ctx, w.s, text)
			if err != nil {
				return err
			}
			ids = append(ids, who.ID)
		}
		slices.Sort(ids)
		w.set["user_ids"] = slices.Compact(ids)
	}
	if len(fields) == 0 {
		return nil
	}
	known, err := definedFields(w.ctx, w.s, "group")
	if err != nil {
		return err
	}
	if w.fields, err = setFields(w.ctx, w.s, 0, fields, known); err == nil {
		w.set["custom_fields"] = w.fields
	}
	return err
}

// told answers with the group as it is now, and with what is not as it was asked.
func (w *groupWrite) told(n int, done string) (*toolpost.Result, error) {
	w.s.forget("groups")
	w.s.forget("memberships")
	now, err := readGroup(w.ctx, w.s, fmt.Sprint(n))
	if err != nil {
		return nil, toolpost.Failed("%s group %d, but it cannot be read back: %v", done, n, err)
	}
	wrong := append(unlike(w.set, map[string]any{"name": now.Name}), unset(w.fields, now.CustomFields)...)
	if ids, ok := w.set["user_ids"].([]int); ok && !are(now.Users, ids) {
		wrong = append(wrong, "the users are "+cmp.Or(list40(now.Users), "none"))
	}
	return answerGroup(w.s, outcome(fmt.Sprintf("%s group %d", done, n), "this account may not set it", wrong)+"\n", now)
}

type deleteGroupInput struct {
	ID      string `json:"id" jsonschema:"description=Group id or name"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteGroup(s *Server) entry {
	return tool(s, "delete_group", "Delete a group of users", "Delete a group of users for good, for administrators. The users stay.\nWithout confirm the answer shows what would go, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteGroupInput) (*toolpost.Result, error) {
			g, err := readGroup(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			if !in.Confirm {
				return answerGroup(s, fmt.Sprintf("Nothing is deleted yet. With group %s its %d users would lose the roles that they have by it in %d projects, "+
					"and what is assigned to it would be assigned to nobody. Call again with confirm true to delete it.\n\n", g, len(g.Users), len(g.Memberships)), g)
			}
			if err := whole(in.ID, "group "+g.String(), fmt.Sprint(g.ID), g.Name); err != nil {
				return nil, err
			}
			if err := s.client.send(ctx, "DELETE", fmt.Sprintf("/groups/%d.json", g.ID), nil, nil); err != nil {
				return nil, forAdmins(err, "the deletion of group "+g.String())
			}
			s.forget("groups")
			s.forget("memberships")
			if left, err := s.names(ctx, source{"group", "/groups.json", "groups"}, true); err == nil && slices.ContainsFunc(left, func(n named) bool { return n.ID == g.ID }) {
				return nil, toolpost.Failed("Redmine said that group %s is deleted, but it is still there.", g)
			}
			return s.done(fmt.Sprintf("Deleted group %d: %s.", g.ID, g.Name), map[string]any{"deleted": g.ID})
		})
}
