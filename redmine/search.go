package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

type searchInput struct {
	Query       string   `json:"q" jsonschema:"minLength=1,maxLength=1000" desc:"Words; a phrase in quotes"`
	Project     string   `json:"project_id,omitempty" desc:"Id, key or name; default all"`
	Scope       string   `json:"scope,omitempty" jsonschema:"enum=project,enum=subprojects,enum=my_projects,enum=all"`
	Types       []string `json:"types,omitempty" jsonschema:"enum=issues,enum=news,enum=documents,enum=changesets,enum=wiki_pages,enum=messages,enum=projects" desc:"Default all"`
	AllWords    bool     `json:"all_words,omitempty" jsonschema:"default=true"`
	TitlesOnly  bool     `json:"titles_only,omitempty"`
	OpenIssues  bool     `json:"open_issues,omitempty"`
	Attachments string   `json:"attachments,omitempty" jsonschema:"enum=no,enum=yes,enum=only,default=no" desc:"Names and descriptions of files"`
	rowSpan
}

// A hit is what a search found.
type hit struct {
	ID          int       `json:"id"`
	Title       string    `json:"title"`
	Type        string    `json:"type"`
	URL         string    `json:"url"`
	Description longText  `json:"description"`
	Time        timestamp `json:"datetime"`
}

// A hitRow is a hit as it is shown.
type hitRow struct {
	ID      int       `json:"id"`
	Type    string    `json:"type"`
	Title   string    `json:"title"`
	Project string    `json:"project_id,omitempty"` // of a wiki page
	Page    string    `json:"page,omitempty"`       // title of a wiki page
	On      timestamp `json:"on" row:"%s"`
	Path    string    `json:"path" row:"%s"`
	Excerpt string    `json:"excerpt,omitempty" row:"\n  %s"`
}

func (r hitRow) String() string { return fmt.Sprintf("%s [%d] %s", r.Type, r.ID, r.Title) }

func searchTools(s *Toolset) []entry {
	return []entry{
		tool(s, "search", "Search", "Find words in issues, wiki pages, news, documents, messages, projects and revisions.", reads,
			func(ctx context.Context, in searchInput) (*toolpost.Result, error) { return search(ctx, s, &in) }),
	}
}

func search(ctx context.Context, s *Toolset, in *searchInput) (*toolpost.Result, error) {
	used, unused := searchWords(in.Query)
	if len(used) == 0 {
		return nil, toolpost.Retry.Errorf("Redmine finds nothing for %q: words need at least two letters. Give a longer word, or list issues with a filter on the subject.", in.Query)
	}
	path := "/search.json"
	switch {
	case in.Project != "":
		p, err := s.project(ctx, in.Project)
		if err != nil {
			return nil, err
		}
		path = fmt.Sprintf("/projects/%d/search.json", p.ID)
	case in.Scope == "project" || in.Scope == "subprojects":
		return nil, toolpost.Retry.Errorf("Give the project to search in, or another scope.")
	}
	all, total, err := rows[hit](ctx, s, path, in.query(), "results", in.Offset, in.most())
	if err != nil {
		return nil, explain(err, "the search")
	}
	if slices.ContainsFunc(all, func(h hit) bool { return len(in.Types) > 0 && !slices.Contains(in.Types, kindOf(h.Type)) }) {
		return nil, toolpost.Retry.Errorf("Redmine does not search %s there for this account: the module may be switched off, or a project does not contain that kind. Search other types, or all projects.", strings.Join(in.Types, ", "))
	}
	return answerHits(s, in, all, total, used, unused)
}

// kindOf is the kind, as it is asked for, of a type of hit.
func kindOf(hit string) string {
	switch hit {
	case "wiki-page":
		return "wiki_pages"
	case "reply":
		return "messages"
	case "news":
		return hit
	}
	return strings.TrimSuffix(hit, "-closed") + "s"
}

// query is that of the search. A flag is on if it has any value, "0" too.
func (in *searchInput) query() url.Values {
	query := url.Values{"q": {in.Query}}
	flag := func(name string, on bool) {
		if query.Set(name, ""); on {
			query.Set(name, "1")
		}
	}
	flag("all_words", in.AllWords)
	flag("titles_only", in.TitlesOnly)
	flag("open_issues", in.OpenIssues)
	for _, kind := range in.Types {
		query.Set(kind, "1")
	}
	switch in.Attachments {
	case "yes":
		query.Set("attachments", "1")
	case "only":
		query.Set("attachments", "only")
	}
	if in.Scope != "" && in.Scope != "project" {
		query.Set("scope", in.Scope)
	}
	return query
}

var searchWord = lazyregexp.New(`"[^"]+"|\S+`)

// searchWords are those which Redmine searches for, and those which it leaves out
// without a word: short ones, and all after the first five.
func searchWords(q string) (used, unused []string) {
	for _, w := range searchWord.FindAllString(q, -1) {
		w = strings.TrimSpace(strings.Trim(w, `"`))
		switch {
		case slices.Contains(used, w) || w == "":
		case len(used) < 5 && (utf8.RuneCountInString(w) > 1 || strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Han, r) })):
			used = append(used, w)
		default:
			unused = append(unused, w)
		}
	}
	return used, unused
}

var wikiAddress = lazyregexp.New(`/projects/([^/]+)/wiki/([^/]+)$`)

func answerHits(s *Toolset, in *searchInput, all []hit, total int, used, unused []string) (*toolpost.Result, error) {
	rows := make([]hitRow, 0, len(all))
	for _, h := range all {
		f := hitRow{ID: h.ID, Type: h.Type, Title: h.Title, On: h.Time, Excerpt: excerpt(string(h.Description), used)}
		if u, err := url.Parse(h.URL); err == nil {
			f.Path = u.RequestURI()
			if m := wikiAddress.FindStringSubmatch(u.Path); m != nil {
				f.Project, f.Page = m[1], m[2]
			}
		}
		rows = append(rows, f)
	}
	l := newListing(rows, in.Offset, total)
	l.what, l.key = "results", "results"
	if len(unused) > 0 {
		l.facts = map[string]any{"words_left_out": unused}
		l.note = fmt.Sprintf("\nRedmine searches for at most five words of two letters or more; these were left out: %s.", strings.Join(unused, ", "))
	}
	return l.answer(s)
}

// excerpt is one line of a text, from shortly before the first of the words on.
func excerpt(text string, words []string) string {
	const before, long = 60, 200
	runes := []rune(oneLine(strings.Join(strings.Fields(text), " ")))
	at := len(runes)
	lower := strings.ToLower(string(runes))
	for _, w := range words {
		if i := strings.Index(lower, strings.ToLower(w)); i >= 0 {
			at = min(at, utf8.RuneCountInString(lower[:i]))
		}
	}
	if at == len(runes) {
		at = 0 // it is in the title
	}
	from := max(0, at-before)
	to := min(from+long, len(runes))
	line := string(runes[from:to])
	if from > 0 {
		line = "…" + line
	}
	if to < len(runes) {
		line += "…"
	}
	return line
}
