package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/toolpost/toolpost"
)

// An idName identifies a record: most of Redmine's records have an id and a name.
type idName struct {
	ID         int    `json:"id"`
	Name       string `json:"name" set:"name"`
	Identifier string `json:"identifier,omitempty"` // of a project
}

func (n idName) name() string { return n.Name }

// withPart are the records with a text in their names, in any case.
func withPart[R any](all []R, text string, name func(R) string) []R {
	text = strings.ToLower(strings.TrimSpace(text))
	return slices.DeleteFunc(all, func(r R) bool { return !strings.Contains(strings.ToLower(name(r)), text) })
}

func (n idName) String() string { return strings.TrimSpace(fmt.Sprintf("%s [%d]", n.Name, n.ID)) }

// maxNames are read of what a name is looked for in.
const maxNames = 10_000

// A source is where the names of one kind of thing come from.
type source struct {
	what string // in errors: "status"
	path string
	key  string // of the list in the answer
}

func statuses() source { return source{"status", "/issue_statuses.json", "issue_statuses"} }
func trackers() source { return source{"tracker", "/trackers.json", "trackers"} }
func roles() source    { return source{"role", "/roles.json", "roles"} }
func projects() source { return source{"project", "/projects.json", "projects"} }

func priorities() source {
	return source{"priority", "/enumerations/issue_priorities.json", "issue_priorities"}
}

func userGroups() source { return source{"group", "/groups.json", "groups"} }

func activities() source {
	return source{"activity", "/enumerations/time_entry_activities.json", "time_entry_activities"}
}

// listedProjects are the active and the closed ones: Redmine leaves closed ones
// out of its list unless it is asked for them, and archived ones always.
const listedProjects = "1|5"

// Versions and categories belong to a project.
func versions(project int) source   { return projectSource(project, "version", "versions") }
func categories(project int) source { return projectSource(project, "category", "issue_categories") }

func projectSource(project int, what, key string) source {
	return source{what, fmt.Sprintf("/projects/%d/%s.json", project, key), key}
}

// names returns all of a source: those of a project from Redmine, and others again from
// it if they must be.
func (s *Toolset) names(ctx context.Context, src source, again bool) ([]idName, error) {
	read := func() ([]idName, error) {
		query := url.Values{}
		if src == projects() {
			query.Set("status", listedProjects)
		}
		all, _, err := rows[idName](ctx, s, src.path, query, src.key, 0, maxNames)
		return all, explain(err, "the "+src.what+" names")
	}
	if strings.HasPrefix(src.path, "/projects/") {
		return read()
	}
	return s.lists.get(src.path, again, read)
}

// forget has lists of a kind read again, after a change of what is in them.
func (s *Toolset) forget(key string) { s.lists.forget("/" + key + ".json") }

// forgetAll has everything read again.
func (s *Toolset) forgetAll() {
	s.lists.forget("")
	s.roles.forget("")
	s.formats.forget("")
}

// find returns what a text names: an id, a name in any case, or a part of a name
// that only one has.
func (s *Toolset) find(ctx context.Context, src source, text string) (idName, error) {
	all, err := s.names(ctx, src, false)
	if err != nil {
		return idName{}, err
	}
	if found := matchExact(text, all); len(found) == 1 {
		return found[0], nil
	}
	if again, err := s.names(ctx, src, true); err == nil {
		all = again
	}
	return matchName(src.what, text, all)
}

// longestName is more than any name in Redmine has, in bytes. A longer one would be
// compared with thousands.
const longestName = 1000

// matchName is find in a list.
func matchName(what, text string, all []idName) (idName, error) {
	if text = strings.TrimSpace(text); len(text) > longestName {
		return idName{}, toolpost.Retry.Errorf("There is no %s with a name of %d bytes.", what, len(text))
	}
	if text == "" {
		return idName{}, noMatchError(what, text, all)
	}
	found := matchExact(text, all)
	if _, id := number(text); len(found) == 0 && !id { // an id that is not there is no part of a name
		found = selectNamed(all, func(n idName) bool { return strings.Contains(foldName(n.Name), foldName(text)) })
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return idName{}, unclear(text, found)
	}
	return idName{}, noMatchError(what, text, all)
}

// unclear returns the error that text names more than one.
func unclear(text string, found []idName) error {
	if id, ok := number(text); ok && slices.ContainsFunc(found, func(n idName) bool { return n.ID == id }) {
		return toolpost.Retry.Errorf("%q is the id of one and the name of another: %s. Call again with # and the id.", text, listNames(found))
	}
	return toolpost.Retry.Errorf("%q can mean several: %s. Call again with one of the ids.", text, listNames(found))
}

// matchExact returns what text names whole: by its id or, if that is a number too, its
// name; else by its name or key, else by its name in any case and width.
func matchExact(text string, all []idName) (found []idName) {
	if text = strings.TrimSpace(text); len(text) > longestName {
		return nil
	}
	id, _ := number(text)
	for _, same := range []func(n idName) bool{
		func(n idName) bool { return n.ID == id || id > 0 && n.Name == text },
		func(n idName) bool { return n.Name == text || n.Identifier != "" && n.Identifier == text },
		func(n idName) bool { return text != "" && foldName(n.Name) == foldName(text) },
	} {
		if found = selectNamed(all, same); len(found) > 0 {
			break
		}
	}
	return found
}

// selectNamed are the ones for which same holds.
func selectNamed(all []idName, same func(n idName) bool) (found []idName) {
	for _, n := range all {
		if same(n) {
			found = append(found, n)
		}
	}
	return found
}

// noMatchError returns the error that text names none of all. Of many it shows those
// whose names are most like text first.
func noMatchError(what, text string, all []idName) error {
	archived := ""
	if what == projects().what {
		archived = " An archived project is not listed: unarchive it first."
	}
	switch {
	case len(all) == 0:
		return toolpost.Retry.Errorf("There is no %s %q: this account sees none here. Ask the user for another account or project.%s", what, text, archived)
	case text == "":
		return toolpost.Retry.Errorf("Name a %s. There are: %s.", what, listNames(all))
	case len(all) > maxListed:
		all = slices.Clone(all)
		sort.SliceStable(all, func(i, j int) bool { return likeness(text, all[i]) > likeness(text, all[j]) })
		return toolpost.Retry.Errorf("There is no %s %q. Most like it are: %s.%s", what, text, listNames(all), archived)
	}
	return toolpost.Retry.Errorf("There is no %s %q. There are: %s.%s", what, text, listNames(all), archived)
}

// likeness is how much of text is in the name or the key of n: in per mille, the
// pairs of characters that both have.
func likeness(text string, n idName) (most int) {
	wanted := pairs(text)
	for _, name := range []string{n.Name, n.Identifier} {
		has, both := pairs(name), 0
		for pair := range wanted {
			if has[pair] {
				both++
			}
		}
		most = max(most, 2000*both/max(1, len(wanted)+len(has)))
	}
	return most
}

// pairs are the pairs of characters in a name, in any case and width.
func pairs(name string) map[string]bool {
	all := map[string]bool{}
	runes := []rune(foldName(name))
	for i := 1; i < len(runes); i++ {
		all[string(runes[i-1:i+1])] = true
	}
	return all
}

// maxListed is how many names an error shows.
const maxListed = 40

// listNames names at most [maxListed].
func listNames(all []idName) string {
	var b strings.Builder
	for i, n := range all {
		switch {
		case i == maxListed:
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(n.String())
	}
	return b.String()
}

// project finds a project by id, identifier or name.
func (s *Toolset) project(ctx context.Context, text string) (idName, error) {
	text = strings.TrimSpace(text)
	if text != "" && !strings.ContainsAny(text, " /?#%") {
		var answer struct {
			Project idName `json:"project"`
		}
		err := s.client.get(ctx, "/projects/"+url.PathEscape(text)+".json", nil, &answer)
		switch {
		case err == nil && answer.Project.ID > 0:
			return answer.Project, nil
		case err == nil:
			return idName{}, toolpost.Failed.Errorf("Redmine's answer for project %q has no project in it. Ask the user to check that this is the address of Redmine itself.", text)
		}
		if status(err) == http.StatusForbidden {
			if n, ok := projectByName(ctx, s, text); ok {
				return n, nil
			}
			return idName{}, explain(err, "project "+text)
		}
	}
	return s.find(ctx, projects(), text)
}

// projectByName finds the project that has a name, which is another one's key or leads to a
// page of Redmine, such as "new".
func projectByName(ctx context.Context, s *Toolset, text string) (idName, bool) {
	all, err := s.names(ctx, projects(), false)
	found := selectNamed(all, func(n idName) bool { return strings.EqualFold(n.Name, text) })
	if _, id := number(text); err != nil || id || len(found) != 1 {
		return idName{}, false
	}
	return found[0], true
}

// requireWholeName refuses a text that is only a part of a name, before a deletion or
// a change of rights.
func requireWholeName(text, what string, names ...string) error {
	text = strings.TrimPrefix(strings.TrimSpace(text), "#")
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, text) }) {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" }) // not shown to this account
	return toolpost.Retry.Errorf("Nothing was done: %q is only a part of the name of %s. Call again with one of: %s.", text, what, strings.Join(names, ", "))
}
