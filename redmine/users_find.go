package redmine

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// human finds a user, and never a group: "me" or "current", an id, a login, or a
// name; for who is no administrator among the people of the own projects.
func human(ctx context.Context, s *Server, text string) (named, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return named{}, toolpost.Retry("Give a person: an id, a name or me.")
	}
	me, err := s.account(ctx)
	if err != nil {
		return named{}, err
	}
	n, ok := number(text)
	switch {
	case ok && n == me.ID:
		return s.person(ctx, 0, "me")
	case ok:
		u, err := userKind().get(ctx, s, userKind().at(n), "")
		switch {
		case status(err) == 404 && !me.Admin:
			return named{ID: n, Name: "somebody whom this account cannot see"}, nil
		case err != nil:
			return named{}, explain(err, fmt.Sprintf("user %d", n))
		}
		return u.named(), nil
	}
	return s.person(ctx, 0, text)
}

// companions are the people, or the groups, of the projects that the account is a
// member of.
func companions(ctx context.Context, s *Server, inGroups bool) ([]named, error) {
	path := "/users/memberships.json"
	if inGroups {
		path = "/groups/memberships.json"
	}
	s.lists.mu.Lock()
	known := s.lists.known[path]
	s.lists.mu.Unlock()
	if known != nil && time.Since(known.read) < fresh {
		return known.all, nil
	}
	me, err := userKind().get(ctx, s, "/users/current", "memberships")
	if err != nil {
		return nil, explain(err, "your own projects")
	}
	all, err := membersOfAll(ctx, s, me.Memberships, inGroups)
	if err != nil {
		return nil, err
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	s.lists.known[path] = &list{all, time.Now()}
	return all, nil
}

// mostOwnProjects bounds in how many of the own projects people are looked for.
const mostOwnProjects = 50

// membersOfAll are the users, or the groups, of several projects.
func membersOfAll(ctx context.Context, s *Server, in []member, groups bool) ([]named, error) {
	in = in[:min(len(in), mostOwnProjects)]
	found, errs := make([][]member, len(in)), make([]error, len(in))
	var reads []func()
	for i := range in {
		reads = append(reads, func() {
			path := fmt.Sprintf("/projects/%d/memberships.json", in[i].Project.ID)
			found[i], _, errs[i] = rows[member](ctx, s, path, url.Values{}, "memberships", 0, mostNames)
		})
	}
	atOnce(reads...)
	var all []named
	seen := map[int]bool{}
	for i, members := range found {
		if errs[i] != nil && status(errs[i]) != 403 { // of an archived project
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

// companion finds one of them. They are read again for a name that is not known,
// unless they were read just now.
func companion(ctx context.Context, s *Server, what string, inGroups bool, text string) (named, error) {
	start := time.Now()
	all, err := companions(ctx, s, inGroups)
	if err != nil {
		return named{}, err
	}
	n, missing := pick(what, text, all)
	if missing == nil || s.lists.readSince("memberships", start) {
		return n, missing
	}
	s.forget("memberships")
	if all, err = companions(ctx, s, inGroups); err != nil {
		return named{}, err
	}
	return pick(what, text, all)
}

// mostNeighbours is in how many projects those who are no administrators look for
// people: they cannot list users.
const mostNeighbours = 20

// neighbours are the members of the projects that this account sees.
func neighbours(ctx context.Context, s *Server) ([]named, error) {
	near, err := s.names(ctx, projects(), false)
	if err != nil {
		return nil, err
	}
	var all []named
	for _, p := range near[:min(len(near), mostNeighbours)] {
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

// readSince reports whether all known lists of a kind were read after a time.
func (l *lists) readSince(key string, start time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, known := range l.known {
		if strings.HasSuffix(path, "/"+key+".json") && known.read.Before(start) {
			return false
		}
	}
	return true
}

// userRows reads a list of users. From 5.1 on Redmine finds no name of several
// words that are not in the same part of it: it is asked for the longest one.
func userRows(ctx context.Context, s *Server, query url.Values, offset, most int) ([]user, int, error) {
	words := strings.Fields(strings.ToLower(query.Get("name")))
	if len(words) < 2 {
		return wordRows(ctx, s, query, offset, most)
	}
	query = maps.Clone(query)
	query.Set("name", slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) }))
	all, total, err := wordRows(ctx, s, query, 0, mostNames)
	if total > len(all) {
		return nil, 0, tooMany(query.Get("name"), total)
	}
	all = slices.DeleteFunc(all, func(u user) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return !strings.Contains(strings.ToLower(u.FirstName), w) && !strings.Contains(strings.ToLower(u.LastName), w)
		})
	})
	from := min(offset, len(all))
	return all[from:min(from+most, len(all))], len(all), err
}

// tooMany says that a text is no name to look for.
func tooMany(text string, users int) error {
	return toolpost.Retry("%q matches the login, name or mail address of %d users: give more of it, or the id.", text, users)
}

// wordRows are userRows of a name of one word, or of none. Those of any status are
// asked for by an empty one until 5.1, as "*" is nobody in 5.0, and by "*" from 6.0
// on, which refuses the empty one.
func wordRows(ctx context.Context, s *Server, query url.Values, offset, most int) (all []user, total int, err error) {
	all, total, err = rows[user](ctx, s, "/users.json", query, "users", offset, most)
	if status(err) == 422 && query.Get("status") == "" {
		query.Set("status", "*")
		return rows[user](ctx, s, "/users.json", query, "users", offset, most)
	}
	return all, total, err
}
