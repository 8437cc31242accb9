package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/toolpost/toolpost"
)

// A named is what has an id and a name.
type named struct {
	ID         int    `json:"id"`
	Name       string `json:"name" set:"name"`
	Identifier string `json:"identifier,omitempty"` // of a project
}

func (n named) String() string { return strings.TrimSpace(fmt.Sprintf("%s [%d]", n.Name, n.ID)) }

// mostNames are read of what a name is looked for in.
const mostNames = 10_000

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
func versions(project int) source   { return within(project, "version", "versions") }
func categories(project int) source { return within(project, "category", "issue_categories") }

func within(project int, what, key string) source {
	return source{what, fmt.Sprintf("/projects/%d/%s.json", project, key), key}
}

// names returns all of a source, again from Redmine if they must be or are of a project.
func (s *Toolset) names(ctx context.Context, src source, again bool) ([]named, error) {
	if again || strings.HasPrefix(src.path, "/projects/") {
		s.lists.drop(src.path)
	}
	return s.lists.get(src.path, func() ([]named, error) {
		query := url.Values{}
		if src == projects() {
			query.Set("status", listedProjects)
		}
		all, _, err := rows[named](ctx, s, src.path, query, src.key, 0, mostNames)
		return all, explain(err, "the list of names of kind "+src.what)
	})
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
func (s *Toolset) find(ctx context.Context, src source, text string) (named, error) {
	all, err := s.names(ctx, src, false)
	if err != nil {
		return named{}, err
	}
	if found := matchExact(text, all); len(found) == 1 {
		return found[0], nil
	}
	if again, err := s.names(ctx, src, true); err == nil {
		all = again
	}
	return matchName(src.what, text, all)
}

// matchName is find in a list.
func matchName(what, text string, all []named) (named, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return named{}, unnamed(what, text, all)
	}
	found := matchExact(text, all)
	if _, id := number(text); len(found) == 0 && !id { // an id that is not there is no part of a name
		found = selectNamed(all, func(n named) bool { return strings.Contains(folded(n.Name), folded(text)) })
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return named{}, unclear(text, found)
	}
	return named{}, unnamed(what, text, all)
}

// unclear returns the error that text names more than one.
func unclear(text string, found []named) error {
	if id, ok := number(text); ok && slices.ContainsFunc(found, func(n named) bool { return n.ID == id }) {
		return toolpost.Retry("%q is the id of one and the name of another: %s. Call again with # and the id.", text, listed(found))
	}
	return toolpost.Retry("%q can mean several: %s. Call again with one of the ids.", text, listed(found))
}

// matchExact returns what text names whole: by its id or, if that is a number too, its
// name; else by its name or key, else by its name in any case and width.
func matchExact(text string, all []named) (found []named) {
	text = strings.TrimSpace(text)
	id, _ := number(text)
	for _, same := range []func(n named) bool{
		func(n named) bool { return n.ID == id || id > 0 && n.Name == text },
		func(n named) bool { return n.Name == text || n.Identifier != "" && n.Identifier == text },
		func(n named) bool { return text != "" && folded(n.Name) == folded(text) },
	} {
		if found = selectNamed(all, same); len(found) > 0 {
			break
		}
	}
	return found
}

// selectNamed are the ones for which same holds.
func selectNamed(all []named, same func(n named) bool) (found []named) {
	for _, n := range all {
		if same(n) {
			found = append(found, n)
		}
	}
	return found
}

// unnamed returns the error that text names none of all. Of many it shows those
// whose names are most like text first.
func unnamed(what, text string, all []named) error {
	archived := ""
	if what == projects().what {
		archived = " An archived project is not listed: unarchive it first."
	}
	switch {
	case len(all) == 0:
		return toolpost.Retry("There is no %s %q: this account can see none here.%s", what, text, archived)
	case text == "":
		return toolpost.Retry("Name a %s. There are: %s.", what, listed(all))
	case len(all) > mostListed:
		all = slices.Clone(all)
		slices.SortStableFunc(all, func(a, b named) int { return likeness(text, b) - likeness(text, a) })
		return toolpost.Retry("There is no %s %q. Most like it are: %s.%s", what, text, listed(all), archived)
	}
	return toolpost.Retry("There is no %s %q. There are: %s.%s", what, text, listed(all), archived)
}

// likeness is how much of text is in the name or the key of n: in per mille, the
// pairs of characters that both have.
func likeness(text string, n named) (most int) {
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
	runes := []rune(folded(name))
	for i := 1; i < len(runes); i++ {
		all[string(runes[i-1:i+1])] = true
	}
	return all
}

// mostListed is how many names an error shows.
const mostListed = 40

// listed names at most [mostListed].
func listed(all []named) string {
	var b strings.Builder
	for i, n := range all {
		switch {
		case i == mostListed:
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(n.String())
	}
	return b.String()
}

// number reads an id: 12, #12 or １２.
func number(text string) (int, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(norm.NFKC.String(text)), "#")
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

var addressOfID = regexp.MustCompile(`^https?://\S+?/[a-z_]+/(\d+)(?:\.json)?(?:[?#]\S*)?$`)

// id reads the id of something without a name: a number, or the address of its page.
func id(what, text string) (int, error) {
	text = strings.TrimSpace(text)
	if m := addressOfID.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if n, ok := number(strings.TrimSuffix(text, ".0")); ok {
		return n, nil
	}
	return 0, toolpost.Retry("%q is not the id of %s; give the number, such as 12.", text, what)
}

// project finds a project by id, identifier or name.
func (s *Toolset) project(ctx context.Context, text string) (named, error) {
	text = strings.TrimSpace(text)
	if text != "" && !strings.ContainsAny(text, " /?#%") {
		var answer struct {
			Project named `json:"project"`
		}
		err := s.client.get(ctx, "/projects/"+url.PathEscape(text)+".json", nil, &answer)
		if err == nil {
			return answer.Project, nil
		}
		if status(err) == 403 {
			if n, ok := titled(ctx, s, text); ok {
				return n, nil
			}
			return named{}, explain(err, "project "+text)
		}
	}
	return s.find(ctx, projects(), text)
}

// titled finds the project that has a name, which is another one's key or leads to a
// page of Redmine, such as "new".
func titled(ctx context.Context, s *Toolset, text string) (named, bool) {
	all, err := s.names(ctx, projects(), false)
	found := selectNamed(all, func(n named) bool { return strings.EqualFold(n.Name, text) })
	if _, id := number(text); err != nil || id || len(found) != 1 {
		return named{}, false
	}
	return found[0], true
}

// rows reads a list, page by page, up to most rows from offset on.
func rows[T any](ctx context.Context, s *Toolset, path string, query url.Values, key string, offset, most int) (all []T, total int, err error) {
	for try := 1; ; try++ {
		var steady bool
		all, total, steady, err = pages[T](ctx, s, path, query, key, offset, most)
		ctx = anew(ctx)
		if err != nil || steady || try == tries {
			return all, total, err
		}
	}
}

// pages reads a list once, and reports whether it had the same length all the time: if
// not, a row may be there twice, or be missing.
func pages[T any](ctx context.Context, s *Toolset, path string, query url.Values, key string, offset, most int) (all []T, total int, steady bool, err error) {
	for first := -1; ; {
		start, size := offset+len(all), min(100, most-len(all))
		part, total, paged, err := page[T](ctx, s, path, query, key, start, size)
		if first < 0 {
			first = total
		}
		switch {
		case err != nil:
			return nil, 0, false, err
		case paged && unasked(len(part), start, size, total):
			from := min(offset, len(part))
			return part[from:min(from+most, len(part))], len(part), true, nil
		}
		if all = append(all, part...); !paged || len(part) < size || len(all) >= most || total != first {
			return all, total, total == first, nil
		}
	}
}

// unasked reports whether a part of a list is all of it: Redmine 6.0.0 and
// 6.0.1 give all projects, whatever part is asked for.
func unasked(rows, start, size, total int) bool {
	return rows > size || start > 0 && rows > 0 && rows == total
}

// page reads a part of a list, if it has parts, and how long the list is.
func page[T any](ctx context.Context, s *Toolset, path string, query url.Values, key string, start, size int) (part []T, total int, paged bool, err error) {
	query.Set("offset", strconv.Itoa(start))
	query.Set("limit", strconv.Itoa(size))
	var answer map[string]json.RawMessage
	if err := s.client.get(ctx, path, query, &answer); err != nil {
		return nil, 0, false, err
	}
	if err := s.client.decode(path, answer[key], &part); err != nil {
		return nil, 0, false, err
	}
	total = start + len(part)
	if raw := answer["total_count"]; raw != nil {
		_ = json.Unmarshal(raw, &total) // null where Redmine did not count
	}
	_, paged = answer["limit"]
	return part, total, paged, nil
}
