package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A userGroup as Redmine tells it, and as it is shown but for its fields and
// memberships.
type userGroup struct {
	ID           int      `json:"id"`
	Name         string   `json:"name"`
	CustomFields []field  `json:"custom_fields"`
	Users        []named  `json:"users"`
	Memberships  []member `json:"memberships"`
}

func (g *userGroup) String() string { return named{ID: g.ID, Name: g.Name}.String() }

func (g *userGroup) has(user int) bool {
	return slices.ContainsFunc(g.Users, func(n named) bool { return n.ID == user })
}

// team finds a group of users, for who is no administrator among those that are
// members of the own projects.
func team(ctx context.Context, s *Server, text string) (named, error) {
	me, err := s.account(ctx)
	if err != nil {
		return named{}, err
	}
	if me.Admin {
		return s.find(ctx, source{"group", "/groups.json", "groups"}, text)
	}
	if n, ok := number(text); ok {
		return named{ID: n, Name: "group"}, nil
	}
	all, err := companions(ctx, s, true)
	if err != nil {
		return named{}, err
	}
	return pick("group", text, all)
}

func readGroup(ctx context.Context, s *Server, text string) (*userGroup, error) {
	n, err := team(ctx, s, text)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Group userGroup `json:"group"`
	}
	err = s.client.get(ctx, fmt.Sprintf("/groups/%d.json", n.ID), url.Values{"include": {"users,memberships"}}, &answer)
	return &answer.Group, explain(err, "group "+strings.TrimSpace(text))
}

type groupDetail struct {
	ID          int               `json:"id"`
	Name        string            `json:"name"`
	Fields      map[string]string `json:"custom_fields,omitempty"`
	Users       []named           `json:"users"`
	Memberships []membership      `json:"memberships,omitempty"`
}

// answerGroup answers with a group after what was done.
func answerGroup(s *Server, done string, g *userGroup) (*toolpost.Result, error) {
	d := &groupDetail{g.ID, g.Name, fieldsOf(g.CustomFields), append([]named{}, g.Users...), membershipsOf(g.Memberships)}
	var b sheet
	b.WriteString(done)
	fmt.Fprintf(&b, "# Group %d: %s\n\n", d.ID, d.Name)
	b.fields(d.Fields)
	b.line(fmt.Sprintf("%d users", len(d.Users)), list40(d.Users))
	b.memberships(d.Memberships)
	return s.answer(b.String(), d)
}

type listGroupsInput struct {
	Name   string `json:"name,omitempty" jsonschema:"description=Part of the name"`
	Offset int    `json:"offset,omitempty" jsonschema:"minimum=0,description=Groups to skip"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Groups to show"`
}

func listGroups(s *Server) entry {
	return tool(s, "list_groups", "List groups of users", "List the groups of users, for administrators.", reads,
		func(ctx context.Context, in listGroupsInput) (*toolpost.Result, error) {
			all, _, err := rows[named](ctx, s, "/groups.json", url.Values{}, "groups", 0, 10_000) // in one piece
			if err != nil {
				return nil, forAdmins(err, "the list of groups")
			}
			all = slices.DeleteFunc(all, func(n named) bool {
				return !strings.Contains(strings.ToLower(n.Name), strings.ToLower(strings.TrimSpace(in.Name)))
			})
			total := len(all)
			from := min(in.Offset, total)
			all = all[from:min(from+limitOf(in.Limit), total)]
			var b strings.Builder
			b.WriteString(span("groups", len(all), in.Offset, total) + "\n")
			for _, n := range all {
				b.WriteString(n.String() + "\n")
			}
			return s.answer(b.String(), map[string]any{"groups": append([]named{}, all...), "total": total, "offset": in.Offset})
		})
}

type groupID struct {
	ID string `json:"id" jsonschema:"description=Group id or name"`
}

func showGroup(s *Server) entry {
	return tool(s, "show_group", "Show a group of users", "Show a group with its users and its roles in projects.", reads,
		func(ctx context.Context, in groupID) (*toolpost.Result, error) {
			g, err := readGroup(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return answerGroup(s, "", g)
		})
}

type groupUserInput struct {
	Group string `json:"group_id" jsonschema:"description=Group id or name"`
	User  string `json:"user_id" jsonschema:"description=User id or login or name"`
}

func addGroupUser(s *Server) entry {
	return tool(s, "add_group_user", "Add a user to a group", "Put a user into a group, for administrators.\nThe user gets the roles of the group in its projects.", changes,
		func(ctx context.Context, in groupUserInput) (*toolpost.Result, error) { return join(ctx, s, in, true) })
}

func removeGroupUser(s *Server) entry {
	return tool(s, "remove_group_user", "Remove a user from a group", "Take a user out of a group, for administrators.\nThe user loses the roles that came with the group.", changes,
		func(ctx context.Context, in groupUserInput) (*toolpost.Result, error) { return join(ctx, s, in, false) })
}

// join changes who is in a group. Redmine refuses who is in it already as if
// there were no such user.
func join(ctx context.Context, s *Server, in groupUserInput, on bool) (*toolpost.Result, error) {
	g, err := readGroup(ctx, s, in.Group)
	if err != nil {
		return nil, err
	}
	who, err := human(ctx, s, in.User)
	if err != nil {
		return nil, err
	}
	if g.has(who.ID) == on {
		return answerGroup(s, fmt.Sprintf("Nothing to change: %s is %s group %s.\n\n", who, where(on), g), g)
	}
	path := fmt.Sprintf("/groups/%d/users", g.ID)
	if on {
		err = s.client.send(ctx, "POST", path+".json", map[string]int{"user_id": who.ID}, nil)
	} else {
		err = s.client.send(ctx, "DELETE", fmt.Sprintf("%s/%d.json", path, who.ID), nil, nil)
	}
	if err != nil {
		return nil, forAdmins(err, "the change of group "+g.String())
	}
	s.forget("memberships")
	now, err := readGroup(ctx, s, in.Group)
	if err != nil {
		return nil, err
	}
	if now.has(who.ID) != on {
		return nil, toolpost.Failed("Redmine took the request, but the users of group %s are: %s.", g, listed(now.Users))
	}
	return answerGroup(s, fmt.Sprintf("%s is %s group %s now.\n\n", who, where(on), g), now)
}

func where(in bool) string {
	if in {
		return "in"
	}
	return "not in"
}
