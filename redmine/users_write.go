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

// A userInput is what may be set of a user, as tools are told it.
type userInput struct {
	Password  string     `json:"password,omitempty" jsonschema:"description=Password. It is never shown"`
	Generate  bool       `json:"generate_password,omitempty" jsonschema:"description=Whether Redmine makes up a password. It is never shown so have it sent"`
	Change    string     `json:"must_change_passwd,omitempty" jsonschema:"enum=true,enum=false,description=Whether the password must be changed at the next login"`
	Source    string     `json:"auth_source_id,omitempty" jsonschema:"description=Id of the directory that checks the password instead"`
	Mails     string     `json:"mail_notification,omitempty" jsonschema:"enum=all,enum=selected,enum=only_my_events,enum=only_assigned,enum=only_owner,enum=none,description=What mail is sent about"`
	Admin     string     `json:"admin,omitempty" jsonschema:"enum=true,enum=false,description=Whether the user is an administrator"`
	Status    string     `json:"status,omitempty" jsonschema:"enum=active,enum=registered,enum=locked,enum=1,enum=2,enum=3,description=State of the account. Locked keeps everything but lets nobody log in"`
	Groups    []string   `json:"group_ids,omitempty" jsonschema:"description=All groups that the user is in by name or id. Write none for no group"`
	Fields    []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
	SendLogin bool       `json:"send_information,omitempty" jsonschema:"description=Whether to mail the login data to the user"`
}

type createUserInput struct {
	Login string `json:"login" jsonschema:"maxLength=60,description=Login"`
	First string `json:"firstname" jsonschema:"maxLength=30,description=First name"`
	Last  string `json:"lastname" jsonschema:"maxLength=255,description=Last name"`
	Mail  string `json:"mail" jsonschema:"description=Mail address"`
	userInput
}

func createUser(s *Server) entry {
	return tool(s, "create_user", "Create a user", "Create a user account, for administrators.\nGive a password, or have one made up and sent by mail.", adds,
		func(ctx context.Context, in createUserInput) (*toolpost.Result, error) {
			if in.Password == "" && !in.Generate && in.Source == "" {
				return nil, toolpost.Retry("Give a password, or generate_password with send_information, or auth_source_id.")
			}
			w := &userWrite{write: write{s: s, ctx: ctx, set: map[string]any{}}}
			w.who(in.Login, in.First, in.Last, in.Mail)
			if err := w.fill(&in.userInput, nil); err != nil {
				return nil, err
			}
			groups := w.set["group_ids"] // which Redmine only takes from a user that is there
			delete(w.set, "group_ids")
			var answer struct {
				User user `json:"user"`
			}
			if err := s.client.send(ctx, "POST", "/users.json", w.body(in.SendLogin), &answer); err != nil {
				return nil, forAdmins(err, "the new user "+in.Login)
			}
			n := answer.User.ID
			if groups != nil {
				w.set["group_ids"] = groups
				only := map[string]any{"user": map[string]any{"group_ids": groups}}
				if err := s.client.send(ctx, "PUT", fmt.Sprintf("/users/%d.json", n), only, nil); err != nil {
					return nil, toolpost.Failed("Created user %d, but the groups could not be set: %v", n, explain(err, "the groups of the user"))
				}
			}
			return w.told(n, "Created")
		})
}

type updateUserInput struct {
	ID    string `json:"id" jsonschema:"description=User id or login or name"`
	Login string `json:"login,omitempty" jsonschema:"maxLength=60,description=Login"`
	First string `json:"firstname,omitempty" jsonschema:"maxLength=30,description=First name"`
	Last  string `json:"lastname,omitempty" jsonschema:"maxLength=255,description=Last name"`
	Mail  string `json:"mail,omitempty" jsonschema:"description=Mail address"`
	userInput
}

func updateUser(s *Server) entry {
	return tool(s, "update_user", "Change a user", "Change a user account, for administrators. Only what is given is changed.\nThe status locked shuts somebody out and keeps all of their work.", changes,
		func(ctx context.Context, in updateUserInput) (*toolpost.Result, error) {
			who, err := human(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			before, err := readUser(ctx, s, who.ID, "")
			if err != nil {
				return nil, err
			}
			if err := spare(ctx, s, before, &in.userInput); err != nil {
				return nil, err
			}
			w := &userWrite{write: write{s: s, ctx: ctx, set: map[string]any{}}}
			w.who(in.Login, in.First, in.Last, in.Mail)
			if err := w.fill(&in.userInput, before); err != nil {
				return nil, err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/users/%d.json", who.ID), w.body(in.SendLogin), nil); err != nil {
				return nil, forAdmins(err, "the change of user "+who.String())
			}
			return w.told(who.ID, "Changed")
		})
}

// spare keeps the own account from being shut out, and shows the way to it.
func spare(ctx context.Context, s *Server, u *user, in *userInput) error {
	me, err := s.account(ctx)
	if err != nil || me.ID != u.ID {
		return err
	}
	if !me.Admin {
		return toolpost.Retry("Only administrators may call update_user. To change the own account call update_account.")
	}
	if in.Admin == "false" || in.Status != "" && in.Status != "active" && in.Status != "1" {
		return toolpost.Failed("%s is the account that these tools use: it cannot lock itself or give up its own rights here.", u.name())
	}
	return nil
}

// A userWrite is a change of a user: what is asked for, and what became of it.
type userWrite struct {
	write
	fields []wireField
}

func (w *userWrite) who(login, first, last, mail string) {
	w.text("login", login)
	w.text("firstname", first)
	w.text("lastname", last)
	w.text("mail", mail)
}

func (w *userWrite) body(send bool) map[string]any {
	body := map[string]any{"user": w.set}
	if send {
		body["send_information"] = true
	}
	return body
}

// fill finds the ids of what is to be set. Before is nil for a new user.
func (w *userWrite) fill(in *userInput, before *user) error {
	w.text("password", in.Password)
	w.text("auth_source_id", in.Source)
	w.text("mail_notification", in.Mails)
	for _, t := range []struct{ name, text string }{{"must_change_passwd", in.Change}, {"admin", in.Admin}} {
		if t.text != "" {
			w.set[t.name] = t.text == "true"
		}
	}
	if in.Generate {
		w.set["generate_password"] = true
	}
	if in.Status != "" {
		n, err := userStatus(in.Status)
		if err != nil {
			return err
		}
		w.set["status"] = n
	}
	if err := w.groups(in.Groups); err != nil {
		return err
	}
	return w.custom(in.Fields, before)
}

func (w *userWrite) groups(texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	ids := []int{}
	for _, text := range texts {
		if strings.EqualFold(text, none) {
			continue
		}
		g, err := team(w.ctx, w.s, text)
		if err != nil {
			return err
		}
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	w.set["group_ids"] = slices.Compact(ids)
	return nil
}

func (w *userWrite) custom(set []setField, before *user) (err error) {
	if len(set) == 0 {
		return nil
	}
	var known []field
	if before != nil {
		known = before.CustomFields
	} else if known, err = definedFields(w.ctx, w.s, "user"); err != nil {
		return err
	}
	if w.fields, err = setFields(w.ctx, w.s, 0, set, known); err == nil {
		w.set["custom_fields"] = w.fields
	}
	return err
}

// told answers with the user as it is now, and with what is not as it was asked.
func (w *userWrite) told(n int, done string) (*toolpost.Result, error) {
	forgetMe(w.s, n)
	w.s.forget("memberships")
	now, err := readUser(w.ctx, w.s, n, "memberships,groups")
	if err != nil {
		return nil, toolpost.Failed("%s user %d, but it cannot be read back: %v", done, n, err)
	}
	wrong := append(unlike(w.set, map[string]any{
		"login": now.Login, "firstname": now.FirstName, "lastname": now.LastName, "mail": now.Mail, "admin": now.Admin,
		"status": cmp.Or(now.Status, 1),
	}), unset(w.fields, now.CustomFields)...)
	if ids, ok := w.set["group_ids"].([]int); ok && !are(now.Groups, ids) {
		wrong = append(wrong, "the groups are "+cmp.Or(list40(now.Groups), "none"))
	}
	answer := struct {
		User    *userDetail `json:"user"`
		Ignored []string    `json:"not_taken,omitempty"`
	}{userDetailOf(now), wrong}
	return w.s.answer(outcome(fmt.Sprintf("%s user %d", done, n), "this account may not set it", wrong)+"\n"+answer.User.text(), answer)
}

// are says whether these have the ids, which are sorted.
func are(all []named, ids []int) bool {
	var have []int
	for _, n := range all {
		have = append(have, n.ID)
	}
	slices.Sort(have)
	return slices.Equal(have, ids)
}

// forgetMe has the own account read again, if it is the one that was changed.
func forgetMe(s *Server, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.me != nil && s.me.ID == n {
		s.me = nil
	}
}

type deleteUserInput struct {
	ID      string `json:"id" jsonschema:"description=User id or login or name"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete the account. Without this the answer only shows what would become of its work"`
}

func deleteUser(s *Server) entry {
	return tool(s, "delete_user", "Delete a user", "Delete a user account for good, for administrators. Locking it is usually better.\nWithout confirm the answer shows what would become of its work, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteUserInput) (*toolpost.Result, error) {
			who, err := human(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			u, err := readUser(ctx, s, who.ID, "memberships,groups")
			if err != nil {
				return nil, err
			}
			me, err := s.account(ctx)
			switch {
			case err != nil:
				return nil, err
			case !me.Admin:
				return nil, toolpost.Failed("Only administrators may delete users, and this account is none.")
			case me.ID == u.ID:
				return nil, toolpost.Failed("%s is the account that these tools use; it cannot delete itself here.", u.name())
			case !in.Confirm:
				return wouldDeleteUser(ctx, s, u)
			}
			if err := whole(in.ID, "user "+who.String(), fmt.Sprint(u.ID), u.Login, u.name()); err != nil {
				return nil, err
			}
			if err := s.client.send(ctx, "DELETE", fmt.Sprintf("/users/%d.json", u.ID), nil, nil); err != nil {
				return nil, forAdmins(err, "the deletion of user "+who.String())
			}
			if _, err := readUser(ctx, s, u.ID, ""); err == nil {
				return nil, toolpost.Failed("Redmine said that user %s is deleted, but it is still there.", who)
			}
			s.forget("memberships")
			return s.done(fmt.Sprintf("Deleted user %d: %s, %s.", u.ID, u.Login, u.name()), map[string]any{"deleted": u.ID})
		})
}

// whole refuses to delete what text only names a part of.
func whole(text, what string, names ...string) error {
	if slices.Contains(names, strings.TrimPrefix(strings.TrimSpace(text), "#")) {
		return nil
	}
	return toolpost.Retry("Nothing was deleted: %q is not all of the name of %s. Call again with its id or its full name.", text, what)
}

// wouldDeleteUser shows what becomes of the work of a user.
func wouldDeleteUser(ctx context.Context, s *Server, u *user) (*toolpost.Result, error) {
	counts := map[string]int{}
	for _, c := range []struct{ name, path, key, filter string }{
		{"issues_written", "/issues.json", "issues", "author_id"},
		{"issues_assigned", "/issues.json", "issues", "assigned_to_id"},
		{"time_entries", "/time_entries.json", "time_entries", "user_id"},
	} {
		query := url.Values{c.filter: {fmt.Sprint(u.ID)}}
		if c.key == "issues" {
			query.Set("status_id", "*")
		}
		_, total, err := rows[named](ctx, s, c.path, query, c.key, 0, 1)
		if err != nil {
			return nil, explain(err, "what user "+u.Login+" has done")
		}
		counts[c.name] = total
	}
	text := fmt.Sprintf("Nothing is deleted yet. If user %d, %s, %s, were deleted:\n"+
		"- %d issues and all comments, files, wiki pages and news that they wrote would be by Anonymous\n"+
		"- %d issues assigned to them would be assigned to nobody\n"+
		"- %d time entries would be Anonymous's\n"+
		"- %d memberships, %d groups, their private queries, watches and API key would go\n"+
		"This cannot be undone. Usually locking is better, which keeps the name on the work: call update_user with status locked.\n"+
		"Call again with confirm true to delete the user.",
		u.ID, u.Login, u.name(), counts["issues_written"], counts["issues_assigned"], counts["time_entries"], len(u.Memberships), len(u.Groups))
	facts := map[string]any{"deleted": nil, "memberships": len(u.Memberships), "groups": len(u.Groups)}
	for name, n := range counts {
		facts[name] = n
	}
	return s.done(text, facts)
}
