package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/toolpost/toolpost"
)

// A scope says among whom a user or group is looked for.
type scope struct {
	project int  // its members, and those of the own projects if it is 0
	users   bool // no groups
	groups  bool // no users
	outside bool // also those who are not members of the project
	exact   bool // the text must be the whole name: rights depend on it
}

// resolve finds a user or group: "me" or "current", an id, a login, or a name.
// Administrators find everybody, others the people of their projects.
func (s *Toolset) resolve(ctx context.Context, text string, in scope) (idName, error) {
	text = strings.TrimSpace(text)
	me, err := s.account(ctx)
	if err != nil {
		return idName{}, err
	}
	var found idName
	id, isID := number(text)
	switch {
	case in.groups:
		found, err = s.findGroup(ctx, me, text)
	case text == "" && in.users:
		return idName{}, toolpost.Retry.Errorf("Give a person: an id, a name or me.")
	case me.matches(text) && me.ID == 0:
		return idName{}, toolpost.Failed.Errorf("%q needs credentials: ask the user to set REDMINE_API_KEY", text)
	case me.matches(text), in.users && isID && id == me.ID:
		return idName{ID: me.ID, Name: me.name()}, nil
	case in.users && isID:
		return s.userWithID(ctx, me, id)
	case in.outside:
		found, err = s.findOutside(ctx, me, text, in)
	default:
		found, err = s.findMember(ctx, me, text, in.project)
	}
	if err != nil || !in.exact {
		return found, err
	}
	return found, s.requireExact(ctx, text, found, in)
}

// person finds a member of a project, or of the own projects if it is 0.
func (s *Toolset) person(ctx context.Context, project int, text string) (idName, error) {
	return s.resolve(ctx, text, scope{project: project})
}

func (s *Toolset) userWithID(ctx context.Context, me *user, id int) (idName, error) {
	u, err := userEndpoint().get(ctx, s, userEndpoint().recordPath(id), "")
	switch {
	case status(err) == http.StatusNotFound && !me.Admin:
		return idName{ID: id, Name: "somebody whom this account cannot see"}, nil
	case err != nil:
		return idName{}, explain(err, fmt.Sprintf("user %d", id))
	}
	return u.idName(), nil
}

// findMember finds a member of a project, and for administrators any user.
func (s *Toolset) findMember(ctx context.Context, me *user, text string, project int) (idName, error) {
	all, err := people(ctx, s, project)
	if err != nil {
		return idName{}, err
	}
	if found := matchExact(text, all); len(found) == 1 {
		return found[0], nil
	}
	if found := withName(text, all); len(found) == 1 {
		return found[0], nil
	} else if len(found) > 1 {
		return idName{}, unclear(text, found)
	}
	if id, ok := number(text); ok {
		return idName{ID: id, Name: fmt.Sprintf("user %d", id)}, nil // one that this account cannot list
	}
	switch {
	case me.Admin:
		return s.findUser(ctx, text, project, all)
	case me.ID > 0 && project == 0:
		return s.findColleague(ctx, "person", text, false)
	}
	return matchName("person", text, all)
}

// withName returns the people with a name, in any order of its parts.
func withName(text string, all []idName) []idName {
	return selectNamed(all, func(n idName) bool { return samePerson(n.Name, text) })
}

// findUser finds one of all users, as an administrator: by the login, then a member
// by a part of the name, then anybody by the mail address or a part of the login,
// name or mail address.
func (s *Toolset) findUser(ctx context.Context, text string, project int, members []idName) (idName, error) {
	users, err := searchUsers(ctx, s, text)
	if err != nil {
		return idName{}, err
	}
	if i := slices.IndexFunc(users, func(u user) bool { return foldName(u.Login) == foldName(text) }); i >= 0 {
		return users[i].idName(), nil
	}
	n, missing := matchName("person", text, members)
	if missing == nil {
		return n, nil
	}
	var all []idName
	for _, u := range users {
		if strings.EqualFold(u.Mail, text) {
			return u.idName(), nil
		}
		all = append(all, u.idName())
	}
	if found := withName(text, all); len(found) == 1 {
		return found[0], nil
	}
	switch n, err := matchName("person", text, all); {
	case err == nil:
		return n, nil
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return idName{}, unclear(text, all)
	case project == 0:
		return idName{}, toolpost.Retry.Errorf("There is no user %q: no login, name or mail address contains that. List the users to find the right one.", text)
	}
	return idName{}, missing
}

// findGroup finds a group. Accounts that are not administrators find the groups that
// are members of their own projects.
func (s *Toolset) findGroup(ctx context.Context, me *user, text string) (idName, error) {
	if me.Admin {
		return s.find(ctx, userGroups(), text)
	}
	if id, ok := number(text); ok {
		return idName{ID: id, Name: "group"}, nil
	}
	return s.findColleague(ctx, "group", text, true)
}

// findOutside finds a user or group who may not be a member of the project yet.
func (s *Toolset) findOutside(ctx context.Context, me *user, text string, in scope) (idName, error) {
	if me.Admin {
		groups, err := s.names(ctx, userGroups(), true)
		if err != nil {
			return idName{}, err
		}
		if found := matchExact(text, groups); len(found) > 0 {
			return s.onlyGroup(ctx, text, found[0])
		}
	}
	n, err := s.findMember(ctx, me, text, in.project)
	if err == nil || me.Admin {
		return n, err
	}
	all, err := visibleMembers(ctx, s)
	if err != nil {
		return idName{}, err
	}
	if n, err = matchName("person", text, all); err != nil {
		return idName{}, toolpost.Retry.Errorf("%v Only administrators can look up all users: give the id.", err)
	}
	return n, nil
}

// onlyGroup returns a group, unless the text is its name and that of users.
func (s *Toolset) onlyGroup(ctx context.Context, text string, group idName) (idName, error) {
	if _, isID := number(text); isID {
		return group, nil
	}
	users, err := searchUsers(ctx, s, group.Name)
	if err != nil {
		return idName{}, err
	}
	all := []idName{group}
	for i := range users {
		if u := &users[i]; strings.EqualFold(u.name(), group.Name) || strings.EqualFold(u.Login, group.Name) {
			all = append(all, u.idName())
		}
	}
	if len(all) > 1 {
		return idName{}, unclear(group.Name, all)
	}
	return group, nil
}

// requireExact refuses a text that is only a part of the name that it was found by.
func (s *Toolset) requireExact(ctx context.Context, text string, found idName, in scope) error {
	if len(matchExact(text, []idName{found})) > 0 {
		return nil
	}
	what, names := found.String(), []string{fmt.Sprint(found.ID), found.Name}
	if in.groups {
		what = "group " + what
	} else if u, err := userEndpoint().get(ctx, s, userEndpoint().recordPath(found.ID), ""); err == nil {
		names = u.wholeNames()
	}
	return requireWholeName(text, what, names...)
}

// people are the members of a project, or of the own projects if it is 0.
// Administrators have none of 0: they can list all users.
func people(ctx context.Context, s *Toolset, project int) ([]idName, error) {
	if project == 0 {
		me, err := s.account(ctx)
		if err != nil || me.Admin || me.ID == 0 {
			return nil, err
		}
		return s.colleagues(ctx, false)
	}
	members, err := membersOf(ctx, s, project)
	if err != nil {
		return nil, explain(err, "the members of the project")
	}
	var all []idName
	for _, m := range members {
		all = append(all, m.who())
	}
	return all, nil
}

// searchUsers returns the users who have a text in their login, name or mail
// address.
func searchUsers(ctx context.Context, s *Toolset, text string) ([]user, error) {
	text = strings.Join(strings.Fields(strings.ReplaceAll(norm.NFKC.String(text), ",", " ")), " ")
	users, total, err := userRows(ctx, s, url.Values{"name": {text}, "status": {""}}, 0, maxNames)
	switch {
	case err != nil:
		return nil, explain(err, "the list of users")
	case total > len(users):
		return nil, tooMany(text, total)
	}
	return users, nil
}

// colleagues are the users, or the groups, of the projects that this account is a
// member of.
func (s *Toolset) colleagues(ctx context.Context, groups bool) ([]idName, error) {
	return s.lists.get(fmt.Sprintf("own projects/groups %t/memberships.json", groups), false, func() ([]idName, error) {
		own, err := ownMemberships(ctx, s)
		if err != nil {
			return nil, err
		}
		return membersOfAll(ctx, s, own, groups)
	})
}

// findColleague finds one of them. They are read again for a name that is not known.
func (s *Toolset) findColleague(ctx context.Context, what, text string, groups bool) (idName, error) {
	all, err := s.colleagues(ctx, groups)
	if err != nil {
		return idName{}, err
	}
	if n, err := matchName(what, text, all); err == nil {
		return n, nil
	}
	s.forget("memberships")
	if all, err = s.colleagues(ctx, groups); err != nil {
		return idName{}, err
	}
	return matchName(what, text, all)
}

// maxOwnProjects bounds in how many of the own projects people are looked for.
const maxOwnProjects = 50

// membersOfAll are the users, or the groups, of several projects.
func membersOfAll(ctx context.Context, s *Toolset, in []member, groups bool) ([]idName, error) {
	in = in[:min(len(in), maxOwnProjects)]
	found, errs := make([][]member, len(in)), make([]error, len(in))
	var reads []func()
	for i := range in {
		reads = append(reads, func() { found[i], errs[i] = membersOf(ctx, s, in[i].Project.ID) })
	}
	runAll(reads...)
	var all []idName
	seen := map[int]bool{}
	for i, members := range found {
		if errs[i] != nil && status(errs[i]) != http.StatusForbidden { // of an archived project
			return nil, explain(errs[i], "the members of project "+in[i].Project.Name)
		}
		for _, m := range members {
			if n := m.who(); !seen[n.ID] && groups == (m.Group != nil) {
				seen[n.ID] = true
				all = append(all, n)
			}
		}
	}
	return all, nil
}

// maxNeighbours is in how many projects those who are no administrators look for
// people: they cannot list users.
const maxNeighbours = 20

// visibleMembers returns the members of the projects that this account sees.
func visibleMembers(ctx context.Context, s *Toolset) ([]idName, error) {
	near, err := s.names(ctx, projects(), false)
	if err != nil {
		return nil, err
	}
	var all []idName
	for _, p := range near[:min(len(near), maxNeighbours)] {
		some, err := people(ctx, s, p.ID)
		if err != nil {
			continue // its members are not for this account
		}
		for _, n := range some {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all, nil
}

// foldName is a name as it is compared: in one form of Unicode, without differences
// of case and width, and with single blanks.
func foldName(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(name))), " ")
}

// samePerson reports whether two names are of one person: also with the family name
// first, with a comma after it, and, in scripts without blanks, without one.
func samePerson(a, b string) bool {
	x, y := nameWords(a), nameWords(b)
	if slices.Equal(x, y) {
		return len(x) > 0
	}
	if !strings.ContainsFunc(foldName(a), wide) {
		return false
	}
	joined := func(words []string, turned bool) string {
		if words = slices.Clone(words); turned {
			slices.Reverse(words)
		}
		return strings.Join(words, "")
	}
	return joined(x, false) == joined(y, false) || joined(x, true) == joined(y, false) || joined(x, false) == joined(y, true)
}

// nameWords are the words of a name, in order of the alphabet.
func nameWords(name string) []string {
	words := strings.Fields(strings.ReplaceAll(foldName(name), ",", " "))
	slices.Sort(words)
	return words
}

// wide reports whether names in the script of a letter have no blanks.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
