package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost"
)

// A wikiPage is a page of a project's wiki. In lists it has no text.
type wikiPage struct {
	Title       string     `json:"title" row:"%s" set:"title"`
	Project     *idName    `json:"project,omitempty" text:"project"` // not in Redmine's answer
	Version     int        `json:"version" text:"version" row:"version %s"`
	Author      *idName    `json:"author,omitempty" text:"author"`
	UpdatedOn   timestamp  `json:"updated_on" text:"updated" row:"%s"`
	CreatedOn   timestamp  `json:"created_on"`
	Parent      wikiParent `json:"parent,omitzero" text:"parent" row:"under %s" set:"parent_title"`
	Comments    string     `json:"comments,omitempty" text:"comments"`
	Attachments files      `json:"attachments,omitempty"`
	Text        longText   `json:"text,omitempty" set:"text"`
}

func (w *wikiPage) title() string { return "Wiki page " + w.Title }

type wikiParent struct {
	Title string `json:"title"`
}

func (p wikiParent) String() string { return p.Title }

func wikiTools(s *Toolset) []entry {
	return []entry{listWiki(s), getWiki(s), writeWiki(s), editWiki(s), deleteWiki(s)}
}

type listWikiInput struct {
	projectID
	rowSpan
}

func listWiki(s *Toolset) entry {
	return listTool(s, "list_wiki_pages", "List wiki pages", "List the wiki pages of a project.", "wiki pages", "wiki_pages",
		func(ctx context.Context, in listWikiInput, p idName) (*listing, error) {
			all, err := wikiPages(ctx, s, p)
			l := wholeList(all, in.rowSpan)
			l.facts = map[string]any{"project": p}
			return l, err
		})
}

// wikiPages are the pages of a project, without texts. Redmine has no pages of
// this list.
func wikiPages(ctx context.Context, s *Toolset, p idName) ([]wikiPage, error) {
	var answer struct {
		Pages []wikiPage `json:"wiki_pages"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/projects/%d/wiki/index.json", p.ID), nil, &answer)
	return answer.Pages, explain(err, "the wiki of project "+p.Name)
}

type getWikiInput struct {
	projectID
	Title   string `json:"title,omitempty" desc:"Default is the start page"`
	Version string `json:"version,omitempty" desc:"Default is the newest"`
}

func getWiki(s *Toolset) entry {
	return projectTool(s, "get_wiki_page", "Show a wiki page", "Show a wiki page with its version and files.", reads,
		func(ctx context.Context, in getWikiInput, p idName) (*toolpost.Result, error) {
			version, err := 0, error(nil)
			if in.Version != "" {
				version, err = id("a version", in.Version)
			}
			if err != nil {
				return nil, err
			}
			w, err := readWiki(ctx, s, p, in.Title, version)
			if err != nil {
				return nil, missingWiki(ctx, s, p, in.Title, version, err)
			}
			w.Project = &p
			return s.show("", w, nil)
		})
}

// wikiTitle is a title as Redmine keeps it.
func wikiTitle(title string) string {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) }), "_") // wide spaces stay
	title = strings.Map(func(r rune) rune {
		if strings.ContainsRune(",./?;|:", r) {
			return -1
		}
		return r
	}, title)
	for i, r := range title {
		return string(unicode.ToUpper(r)) + title[i+len(string(r)):]
	}
	return ""
}

// wikiEndpoint is how the wiki pages of a project are read, written and compared.
func wikiEndpoint() endpoint[wikiPage] {
	return endpoint[wikiPage]{
		collection: collection{key: "wiki_page"},
		name:       func(w *wikiPage) string { return "wiki page " + w.Title },
	}
}

// wikiPath is where a page is: the start page without a title, the newest version
// for 0.
func wikiPath(p idName, title string, version int) string {
	at := fmt.Sprintf("/projects/%d/wiki", p.ID)
	if title = wikiTitle(title); title != "" {
		at += "/" + url.PathEscape(title)
	}
	if version > 0 {
		at += fmt.Sprintf("/%d", version)
	}
	return at
}

func readWiki(ctx context.Context, s *Toolset, p idName, title string, version int) (*wikiPage, error) {
	return wikiEndpoint().get(ctx, s, wikiPath(p, title, version), "attachments")
}

// missingWiki explains why a page cannot be read, and says which ones there are.
func missingWiki(ctx context.Context, s *Toolset, p idName, title string, version int, err error) error {
	switch status(err) {
	case http.StatusNotAcceptable: // Redmine redirects to an address that is none of its API
		return toolpost.Retry.Errorf("Wiki page %s of %s was renamed. List the wiki pages to find its new title.", title, p.Name)
	case http.StatusNotFound:
	default:
		return explain(err, fmt.Sprintf("wiki page %s of project %s", title, p.Name))
	}
	all, listErr := wikiPages(ctx, s, p)
	switch {
	case listErr != nil:
		return listErr
	case wikiTitle(title) == "" && version > 0:
		return toolpost.Retry.Errorf("The start page of the wiki of %s has no version %d.", p.Name, version)
	case wikiTitle(title) == "":
		return noStart(p, all)
	}
	if i := slices.IndexFunc(all, func(w wikiPage) bool { return strings.EqualFold(w.Title, wikiTitle(title)) }); i >= 0 {
		return toolpost.Retry.Errorf("Wiki page %s has no version %d; the newest is %d.", all[i].Title, version, all[i].Version)
	}
	return noWiki(p, title, all)
}

// noStart returns the error that a wiki has no start page.
func noStart(p idName, all []wikiPage) error {
	if len(all) == 0 {
		return toolpost.Retry.Errorf("The wiki of %s is empty.", p.Name)
	}
	return toolpost.Retry.Errorf("The wiki of %s has no start page. Give a title: %s.", p.Name, titles(all))
}

// titles are the first of them.
func titles(all []wikiPage) string {
	var some []string
	for _, w := range pageOf(all, rowSpan{Limit: maxListed}) {
		some = append(some, w.Title)
	}
	return strings.Join(some, ", ")
}

func noWiki(p idName, title string, all []wikiPage) error {
	if len(all) == 0 {
		return toolpost.Retry.Errorf("There is no wiki page %q: the wiki of %s is empty.", title, p.Name)
	}
	return toolpost.Retry.Errorf("There is no wiki page %q in %s. It has %d pages: %s.", title, p.Name, len(all), titles(all))
}
