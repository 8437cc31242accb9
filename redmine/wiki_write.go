package redmine

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type writeWikiInput struct {
	Project  string   `json:"project_id" desc:"Id, key or name"`
	Title    string   `json:"title" jsonschema:"minLength=1"`
	Text     *string  `json:"text,omitempty" jsonschema:"maxLength=1000000" desc:"Whole text; kept if left out"`
	Version  int      `json:"version,omitempty" jsonschema:"minimum=1" desc:"The one you read"`
	Comments string   `json:"comments,omitempty" jsonschema:"maxLength=1024"`
	Parent   string   `json:"parent_title,omitempty" desc:"Page above it, or none"`
	Rename   string   `json:"new_title,omitempty" desc:"Renames it"`
	Uploads  []upload `json:"uploads,omitempty" fill:"value"`
}

func writeWiki(s *Toolset) entry {
	return tool(s, "write_wiki_page", "Write a wiki page", "Create, replace, move or rename a wiki page.\nGive the version you read, so that changes by others are not lost.", changes,
		func(ctx context.Context, in writeWikiInput) (*toolpost.Result, error) {
			w, err := openWiki(ctx, s, in.Project, in.Title)
			if err != nil {
				return nil, err
			}
			if err := w.fill(&in); err != nil {
				return nil, err
			}
			return w.save()
		})
}

type editWikiInput struct {
	Project  string `json:"project_id" desc:"Id, key or name"`
	Title    string `json:"title" jsonschema:"minLength=1"`
	Old      string `json:"old_text" jsonschema:"minLength=1,maxLength=1000000" desc:"Must occur once"`
	New      string `json:"new_text" jsonschema:"maxLength=1000000"`
	All      bool   `json:"replace_all,omitempty"`
	Version  int    `json:"version,omitempty" jsonschema:"minimum=1" desc:"The one you read"`
	Comments string `json:"comments,omitempty" jsonschema:"maxLength=1024"`
}

func editWiki(s *Toolset) entry {
	return tool(s, "edit_wiki_page", "Edit a wiki page", "Replace a part of a wiki page.", changes,
		func(ctx context.Context, in editWikiInput) (*toolpost.Result, error) {
			// Edits of one page at the same time would refuse each other by their versions.
			unlock, err := s.editing.Lock(ctx, "wiki page "+strings.ToLower(in.Project+" "+wikiTitle(in.Title)))
			if err != nil {
				return nil, err
			}
			defer unlock()
			w, err := openWiki(ctx, s, in.Project, in.Title)
			if err != nil {
				return nil, err
			}
			if w.before == nil {
				return nil, missingWiki(ctx, s, w.in, in.Title, 0, &responseError{status: http.StatusNotFound})
			}
			text, err := replacePart(string(w.before.Text), in.Old, in.New, in.All)
			if err != nil {
				return nil, err
			}
			w.set["text"] = text
			w.with(in.Comments, in.Version)
			return w.save()
		})
}

// A wikiWrite is a change of a page.
type wikiWrite struct {
	*write
	in     idName // the project
	title  string
	before *wikiPage // nil for a new one
}

func openWiki(ctx context.Context, s *Toolset, project, title string) (*wikiWrite, error) {
	p, err := s.project(ctx, project)
	if err != nil {
		return nil, err
	}
	w := &wikiWrite{write: newWrite(ctx, s, p.ID), in: p, title: wikiTitle(title)}
	if w.title == "" {
		return nil, toolpost.Retry.Errorf("%q is not a valid title of a wiki page; give letters or digits.", title)
	}
	w.before, err = readWiki(ctx, s, p, title, 0)
	if err != nil && status(err) != http.StatusNotFound {
		return nil, missingWiki(ctx, s, p, title, 0, err)
	}
	return w, nil
}

func (w *wikiWrite) fill(in *writeWikiInput) error {
	switch {
	case w.before == nil && in.Version > 0:
		return toolpost.Retry.Errorf("Wiki page %s does not exist, so it has no version %d. Leave the version out to create it.", w.title, in.Version)
	case w.before == nil && in.Rename != "":
		return toolpost.Retry.Errorf("Wiki page %s does not exist, so it cannot be renamed.", w.title)
	case in.Text == nil && w.before == nil:
		return toolpost.Retry.Errorf("Give the text of the new page %s.", w.title)
	case in.Text == nil:
		w.set["text"] = string(w.before.Text)
		w.forced = append(w.forced, "text")
	default:
		w.set["text"] = *in.Text
	}
	w.with(in.Comments, in.Version)
	if in.Rename != "" {
		w.set["title"] = wikiTitle(in.Rename)
		w.moved = wikiPath(w.in, in.Rename, 0)
	}
	w.write.fill(in)
	return w.setParent(in.Parent)
}

// setParent sets the parent, of which Redmine says nothing if it does not exist.
func (w *wikiWrite) setParent(parent string) error {
	switch {
	case parent == "":
		return nil
	case strings.EqualFold(parent, none):
		w.set["parent_title"] = ""
		return nil
	}
	all, err := wikiPages(w.ctx, w.s, w.in)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p wikiPage) bool { return strings.EqualFold(p.Title, wikiTitle(parent)) })
	if i < 0 {
		return noWiki(w.in, parent, all)
	}
	if slices.Contains(subpages(all, w.title), all[i].Title) || strings.EqualFold(all[i].Title, w.title) {
		return toolpost.Retry.Errorf("Wiki page %s cannot be placed under %s, which is the same page or below it.", w.title, all[i].Title)
	}
	w.set["parent_title"] = all[i].Title
	return nil
}

// with sets what goes with each change of a text.
func (w *wikiWrite) with(comments string, version int) {
	w.set["comments"] = comments
	w.forced = append(w.forced, "comments")
	if w.before != nil {
		w.set["version"] = cmp.Or(version, w.before.Version)
		w.forced = append(w.forced, "version")
	}
}

// save makes the change and answers with what became of it.
func (w *wikiWrite) save() (*toolpost.Result, error) {
	k := wikiEndpoint()
	k.include, k.check = "attachments", func(_ *write, _, now *wikiPage) { w.compare(now) }
	if w.before != nil {
		w.write.before = w.before
	}
	return k.update(w.write, wikiPath(w.in, w.title, 0), fmt.Sprintf("wiki page %s of project %s", w.title, w.in.Name))
}

func (w *wikiWrite) compare(now *wikiPage) {
	var files []attachment
	if w.before != nil {
		files = w.before.Attachments
		if w.notes = append(w.notes, fmt.Sprintf("It was version %d and is now version %d.", w.before.Version, now.Version)); w.before.Version == now.Version {
			w.notes = []string{fmt.Sprintf("The text is the same as before, so it stays at version %d.", now.Version)}
		}
	}
	w.compareFiles(files, now.Attachments)
	now.Project, now.Text = &w.in, "" // whoever wrote the text knows it
}

type deleteWikiInput struct {
	Project  string `json:"project_id" desc:"Id, key or name"`
	Title    string `json:"title" jsonschema:"minLength=1"`
	Children string `json:"children,omitempty" jsonschema:"enum=keep,enum=delete,default=keep" desc:"Pages under it"`
	confirmation
}

func deleteWiki(s *Toolset) entry {
	return tool(s, "delete_wiki_page", "Delete a wiki page", "Delete a wiki page with its versions and files.", removes,
		func(ctx context.Context, in deleteWikiInput) (*toolpost.Result, error) {
			w, err := openWiki(ctx, s, in.Project, in.Title)
			if err != nil {
				return nil, err
			}
			all, err := wikiPages(ctx, s, w.in)
			if err != nil {
				return nil, err
			}
			if w.before == nil {
				return nil, noWiki(w.in, in.Title, all)
			}
			under := subpages(all, w.before.Title)
			r := &removal{
				at: wikiPath(w.in, w.title, 0), query: "?todo=nullify", what: "wiki page " + w.before.Title, id: w.before.Title, confirmed: in.Confirm,
				would: goesWithPage(w.before, under),
				facts: map[string]any{"versions": w.before.Version, "files": len(w.before.Attachments), "children": under, "parent": w.before.Parent.Title},
			}
			switch {
			case in.Children == "delete":
				r.query = "?todo=destroy"
				r.then = " and the pages under it: " + cmp.Or(strings.Join(under, ", "), "none")
			case len(under) > 0:
				r.then = ". The pages under it are kept: " + strings.Join(under, ", ")
			}
			return wikiEndpoint().remove(ctx, s, w.before, r)
		})
}

// subpages are the titles of all pages under one.
func subpages(all []wikiPage, title string) []string {
	var found []string
	for _, w := range all {
		if w.Parent.Title != "" && strings.EqualFold(w.Parent.Title, title) {
			found = append(append(found, w.Title), subpages(all, w.Title)...)
		}
	}
	return found
}

// goesWithPage shows what goes with a page.
func goesWithPage(w *wikiPage, under []string) string {
	text := fmt.Sprintf("Deleting wiki page %s would also delete:\n- %d versions\n- %d files\n", w.Title, w.Version, len(w.Attachments))
	if len(under) > 0 {
		text += fmt.Sprintf("- unless they are kept, %d pages under it: %s\n", len(under), strings.Join(under, ", "))
	}
	if w.Parent.Title != "" {
		text += "It is under " + w.Parent.Title + ", which stays.\n"
	}
	return text
}
