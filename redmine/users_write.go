package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/toolpost/toolpost"
)

// A userInput is what the arguments of a tool may set of a user.
type userInput struct {
	Password  string     `json:"password,omitempty" fill:"plain"`
	Generate  bool       `json:"generate_password,omitempty" desc:"Have it sent by mail" fill:"value"`
	Change    string     `json:"must_change_passwd,omitempty" jsonschema:"enum=true,enum=false" fill:"yes-no"`
	Source    string     `json:"auth_source_id,omitempty" desc:"Directory that checks the password instead" fill:"plain"`
	Mails     string     `json:"mail_notification,omitempty" jsonschema:"enum=all,enum=selected,enum=only_my_events,enum=only_assigned,enum=only_owner,enum=none" fill:"plain"`
	Admin     string     `json:"admin,omitempty" jsonschema:"enum=true,enum=false" fill:"yes-no"`
	Status    string     `json:"status,omitempty" jsonschema:"enum=active,enum=registered,enum=locked,enum=1,enum=2,enum=3" fill:"user-status"`
	Groups    []string   `json:"group_ids,omitempty" desc:"All of them by name or id, or none"`
	Fields    []setField `json:"custom_fields,omitempty"`
	SendLogin bool       `json:"send_information,omitempty" desc:"Mails the login data"`
}

type createUserInput struct {
	Login string `json:"login" jsonschema:"maxLength=60" fill:"plain"`
	First string `json:"firstname" jsonschema:"maxLength=30" fill:"plain"`
	Last  string `json:"lastname" fill:"plain"`
	Mail  string `json:"mail" fill:"plain"`
	userInput
}

func createUser(s *Toolset) entry {
	return tool(s, "create_user", "Create a user", "Create a user account, for administrators.\nGive a password, or have one generated and mailed.", adds,
		func(ctx context.Context, in createUserInput) (*toolpost.Result, error) {
			w := newWrite(ctx, s, 0)
			if in.Password == "" && !in.Generate && in.Source == "" {
				w.notes = append(w.notes, "No password was given, so the user cannot log in yet: set one with update_user, or give generate_password with send_information.")
			}
			fillUser(w, &in, &in.userInput)
			groups, grouped := w.set["group_ids"] // which Redmine only takes from a user that is there
			delete(w.set, "group_ids")
			n, err := changedUserEndpoint().post(w, "/users", "the new user "+in.Login)
			if err != nil {
				return nil, err
			}
			if grouped {
				w.set["group_ids"] = groups
				only := map[string]any{"user": map[string]any{"group_ids": groups}}
				if err := s.client.send(ctx, http.MethodPut, userEndpoint().recordPath(n)+".json", only, nil); err != nil {
					w.notes = append(w.notes, explain(err, "the groups of the user").Error())
				}
			}
			return changedUserEndpoint().readBack(w, userEndpoint().recordPath(n))
		})
}

// A userID says which user.
type userID struct {
	ID string `json:"id" desc:"Id, login or name"`
}

func (in *userID) find(ctx context.Context, s *Toolset) (*user, error) {
	who, err := s.resolve(ctx, in.ID, scope{users: true})
	if err != nil {
		return nil, err
	}
	return readUser(ctx, s, who.ID, userEndpoint().include)
}

type updateUserInput struct {
	userID
	Login string `json:"login,omitempty" jsonschema:"maxLength=60" fill:"plain"`
	First string `json:"firstname,omitempty" jsonschema:"maxLength=30" fill:"plain"`
	Last  string `json:"lastname,omitempty" fill:"plain"`
	Mail  string `json:"mail,omitempty" fill:"plain"`
	userInput
}

func updateUser(s *Toolset) entry {
	return changeTool(s, changedUserEndpoint, "update_user", "Change a user", "Change a user account, for administrators. Only what is given is changed.\nThe status locked locks the person out and keeps their work.",
		func(w *write, in *updateUserInput, before *user) {
			if w.err = refuseSelfLockout(w.ctx, s, before, in); w.err == nil {
				fillUser(w, in, &in.userInput)
			}
		})
}

// refuseSelfLockout refuses to lock the own account or to take its rights. It also
// refuses a change of the rights or the login of another user who is named by a part of
// the name.
func refuseSelfLockout(ctx context.Context, s *Toolset, u *user, in *updateUserInput) error {
	me, err := s.account(ctx)
	if err != nil {
		return err
	}
	locks := in.Status != "" && in.Status != "active" && in.Status != "1"
	switch {
	case me.ID != u.ID && (in.Status+in.Admin+in.Password+in.Source+in.Login+in.Mail != "" || in.Generate || in.Groups != nil):
		return requireWholeName(in.ID, userEndpoint().name(u), u.wholeNames()...)
	case me.ID != u.ID:
		return nil
	case !me.Admin:
		return toolpost.Retry.Errorf("Only administrators may call update_user. To change your own account, call update_account.")
	case in.Admin == "false" || locks:
		return toolpost.Failed.Errorf("%s is the account that these tools use: these tools cannot lock it or remove its rights.", u.name())
	}
	return nil
}

// wholeNames are what names a user whole.
func (u *user) wholeNames() []string { return []string{fmt.Sprint(u.ID), u.Login, u.name(), u.Mail} }

// changedUserEndpoint is that of users, with notes on what Redmine does not show.
func changedUserEndpoint() endpoint[user] {
	k := userEndpoint()
	k.check = func(w *write, before, now *user) {
		forgetMe(w.s, now.ID)
		w.notes = append(w.notes, unknownOf(w, before, now)...)
	}
	return k
}

// unknownOf returns notes on what cannot be read back. Of a password there is the
// time of its change, in seconds.
func unknownOf(w *write, before, now *user) (notes []string) {
	unknown := []string{"auth_source_id", "language", "mail_notification", "must_change_passwd"}
	if now.PasswordSet == "" || before != nil && before.PasswordSet == now.PasswordSet {
		unknown = append(unknown, "password", "generate_password")
	}
	if now.Status == 0 {
		unknown = append(unknown, "status")
	}
	for _, name := range unknown {
		if w.set[name] != nil {
			notes = append(notes, fmt.Sprintf("Redmine does not show %s, so it is not known whether it was saved.", name))
		}
	}
	return notes
}

// fillUser finds the ids of what is to be set.
func fillUser(w *write, arguments any, in *userInput) {
	w.fill(arguments)
	setList(w, "group_ids", in.Groups, func(text string) (int, error) {
		g, err := w.s.resolve(w.ctx, text, scope{groups: true, exact: true})
		return g.ID, err
	})
	if in.SendLogin {
		w.beside = map[string]any{"send_information": true}
	}
	if in.Source != "" && (in.Password != "" || in.Generate) {
		w.put("", nil, toolpost.Retry.Errorf("Give a password or auth_source_id, not both: Redmine ignores the password of a user in a directory."))
	}
	w.custom(in.Fields, func() ([]field, error) { return definedFields(w.ctx, w.s, "user") })
}

// forgetMe has the own account read again, if it is the one that was changed.
func forgetMe(s *Toolset, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.me != nil && s.me.ID == n {
		s.me = nil
	}
}

type deleteUserInput struct {
	userID
	confirmation
}

func deleteUser(s *Toolset) entry {
	return deleteTool(s, userEndpoint, "delete_user", "Delete a user", "Delete a user account, for administrators.\nLocking it is usually better.",
		func(ctx context.Context, in *deleteUserInput, u *user, r *removal) error {
			me, err := s.account(ctx)
			switch {
			case err != nil:
				return err
			case !me.Admin:
				return toolpost.Failed.Errorf("Only administrators may delete users, and this account is not one.")
			case me.ID == u.ID:
				return toolpost.Failed.Errorf("%s is the account that these tools use; these tools cannot delete it.", u.name())
			}
			r.given, r.names, r.what = in.ID, u.wholeNames(), fmt.Sprintf("user %d: %s, %s", u.ID, u.Login, u.name())
			r.would, r.facts, err = goesWithUser(ctx, s, u)
			return err
		})
}

// goesWithUser shows what becomes of the work of a user.
func goesWithUser(ctx context.Context, s *Toolset, u *user) (would string, facts map[string]any, err error) {
	facts = map[string]any{"memberships": len(u.Memberships), "groups": len(u.Groups)}
	for _, c := range []struct{ name, path, key, filter string }{
		{"issues_written", "/issues.json", "issues", "author_id"},
		{"issues_assigned", "/issues.json", "issues", "assigned_to_id"},
		{"time_entries", "/time_entries.json", "time_entries", "user_id"},
	} {
		query := url.Values{c.filter: {fmt.Sprint(u.ID)}}
		if c.key == "issues" {
			query.Set("status_id", "*")
		}
		n, err := count(ctx, s, c.path, query, c.key)
		if err != nil {
			return "", nil, explain(err, "what user "+u.Login+" has done")
		}
		facts[c.name] = n
	}
	return fmt.Sprintf("If user %d, %s, %s, were deleted:\n"+
		"- %d issues and all comments, files, wiki pages and news that they wrote would be by Anonymous\n"+
		"- %d issues assigned to them would be assigned to nobody\n"+
		"- %d time entries would be Anonymous's\n"+
		"- %d memberships, %d groups, their private queries, watches and API key would go\n"+
		"The counts are of what this account sees, without archived projects.\n"+
		"This cannot be undone. Usually locking is better, which keeps the name on the work: call update_user with status locked.",
		u.ID, u.Login, u.name(), facts["issues_written"], facts["issues_assigned"], facts["time_entries"], len(u.Memberships), len(u.Groups)), facts, nil
}
