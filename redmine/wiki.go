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

// A wikiPage as Redmine tells it. Lists have no text.
type wikiPage struct {
	Title  string `json:"title"`
	Parent struct {
		Title string `json:"title"`
	} `json:"parent"`
	Text        string       `json:"text"`
	Version     int          `json:"version"`
	Author      named        `json:"author"`
	Comments    string       `json:"comments"`
	CreatedOn   string       `json:"created_on"`
	UpdatedOn   string       `json:"updated_on"`
	Attachments []attachment `json:"attachments"`
}

func wikiTools(s *Server) []entry {
	return []entry{listWiki(s), getWiki(s), writeWiki(s), editWiki(s), deleteWiki(s)}
}

type listWikiInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Offset  int    `json:"offset,omitempty" jsonschema:"minimum=0,description=Pages to skip"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Pages to show"`
}

// A wikiRow is a page in a list.
type wikiRow struct {
	Title   string `json:"title"`
	Parent  string `json:"parent,omitempty"`
	Version int    `json:"version"`
	Updated string `json:"updated_on"`
}

func listWiki(s *Server) entry {
	return tool(s, "list_wiki_pages", "List wiki pages", "List the wiki pages of a project by title, without their texts.", reads,
		func(ctx context.Context, in listWikiInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			all, err := wikiPages(ctx, s, p)
			if err != nil {
				return nil, err
			}
			shown := window(all, in.Offset, in.Limit)
			found := []wikiRow{}
			text := span("wiki pages", len(shown), in.Offset, len(all)) + "\n"
			for _, w := range shown {
				r := wikiRow{w.Title, w.Parent.Title, w.Version, w.UpdatedOn}
				text += fmt.Sprintf("- %s | version %d | %s", r.Title, r.Version, day(r.Updated))
				if r.Parent != "" {
					text += " | under " + r.Parent
				}
				text += "\n"
				found = append(found, r)
			}
			return s.answer(text, map[string]any{"project": p, "wiki_pages": found, "total": len(all), "offset": in.Offset})
		})
}

// wikiPages are the pages of a project, without texts. Redmine has no pages of
// this list.
func wikiPages(ctx context.Context, s *Server, p named) ([]wikiPage, error) {
	var answer struct {
		Pages []wikiPage `json:"wiki_pages"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/projects/%d/wiki/index.json", p.ID), nil, &answer)
	return answer.Pages, explain(err, "the wiki of project "+p.Name)
}

type getWikiInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Title   string `json:"title,omitempty" jsonschema:"description=Page title. The start page if left out"`
	Version string `json:"version,omitempty" jsonschema:"description=Number of an older version. The newest if left out"`
}

func getWiki(s *Server) entry {
	return tool(s, "get_wiki_page", "Show a wiki page", "Show the text of a wiki page, its version and its files.\nOlder versions can be shown too.", reads,
		func(ctx context.Context, in getWikiInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			version := 0
			if in.Version != "" {
				if version, err = id("a version", in.Version); err != nil {
					return nil, err
				}
			}
			w, err := readWiki(ctx, s, p, in.Title, version)
			if err != nil {
				return nil, missingWiki(ctx, s, p, in.Title, version, err)
			}
			d := wikiDetailOf(p, w)
			return s.answer(d.text(), d)
		})
}

// wikiTitle is a title as Redmine keeps it.
func wikiTitle(title string) string {
	title = strings.Join(strings.Fields(title), "_")
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

func wikiPath(p named, title string) string {
	return fmt.Sprintf("/projects/%d/wiki/%s", p.ID, url.PathEscape(wikiTitle(title)))
}

// readWiki reads a page: the start page without a title, the newest version for 0.
func readWiki(ctx context.Context, s *Server, p named, title string, version int) (*wikiPage, error) {
	path := wikiPath(p, title)
	if wikiTitle(title) == "" {
		path = fmt.Sprintf("/projects/%d/wiki", p.ID)
	}
	if version > 0 {
		path += fmt.Sprintf("/%d", version)
	}
	var answer struct {
		Page wikiPage `json:"wiki_page"`
	}
	if err := s.client.get(ctx, path+".json", url.Values{"include": {"attachments"}}, &answer); err != nil {
		return nil, err
	}
	return &answer.Page, nil
}

// missingWiki explains why a page cannot be read, and says which ones there are.
func missingWiki(ctx context.Context, s *Server, p named, title string, version int, err error) error {
	switch status(err) {
	case http.StatusNotAcceptable: // Redmine redirects to an address that is none of its API
		return toolpost.Retry("Wiki page %s of %s was renamed. List the wiki pages to find its new title.", title, p.Name)
	case http.StatusNotFound:
	default:
		return explain(err, fmt.Sprintf("wiki page %s of project %s", title, p.Name))
	}
	all, listErr := wikiPages(ctx, s, p)
	if listErr != nil {
		return listErr
	}
	if i := slices.IndexFunc(all, func(w wikiPage) bool { return strings.EqualFold(w.Title, wikiTitle(title)) }); i >= 0 {
		return toolpost.Retry("Wiki page %s has no version %d; the newest is %d.", all[i].Title, version, all[i].Version)
	}
	return noWiki(p, title, all)
}

func noWiki(p named, title string, all []wikiPage) error {
	if len(all) == 0 {
		return toolpost.Retry("There is no wiki page %q: the wiki of %s is empty.", title, p.Name)
	}
	var titles []string
	for _, w := range window(all, 0, 40) {
		titles = append(titles, w.Title)
	}
	return toolpost.Retry("There is no wiki page %q in %s. Of %d pages there are: %s.", title, p.Name, len(all), strings.Join(titles, ", "))
}

// A wikiDetail is a page as it is shown.
type wikiDetail struct {
	Title    string       `json:"title"`
	Project  named        `json:"project"`
	Version  int          `json:"version"`
	Parent   string       `json:"parent,omitempty"`
	Author   named        `json:"author"`
	Comments string       `json:"comments,omitempty"`
	Created  string       `json:"created_on"`
	Updated  string       `json:"updated_on"`
	Text     string       `json:"text"`
	Files    []attachment `json:"attachments,omitempty"`
}

func wikiDetailOf(p named, w *wikiPage) *wikiDetail {
	return &wikiDetail{
		Title: w.Title, Project: p, Version: w.Version, Parent: w.Parent.Title, Author: w.Author, Comments: w.Comments,
		Created: w.CreatedOn, Updated: w.UpdatedOn, Text: lf(w.Text), Files: w.Attachments,
	}
}

func (d *wikiDetail) text() string { return d.head() + "\n" + d.Text + "\n" }

// head is all but the text.
func (d *wikiDetail) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Wiki page %s\n\n- project: %s\n- version: %d, by %s, %s\n", d.Title, d.Project, d.Version, d.Author, d.Updated)
	if d.Parent != "" {
		fmt.Fprintf(&b, "- parent: %s\n", d.Parent)
	}
	if d.Comments != "" {
		fmt.Fprintf(&b, "- comments: %s\n", d.Comments)
	}
	b.WriteString(filesText(d.Files))
	return b.String()
}
