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
	Project  string   `json:"project_id" jsonschema:"description=Project id or key or name"`
	Title    string   `json:"title" jsonschema:"minLength=1,description=Page title"`
	Text     *string  `json:"text,omitempty" jsonschema:"description=Whole new text. Needed for a new page. An existing one keeps its text without it"`
	Version  int      `json:"version,omitempty" jsonschema:"minimum=1,description=Version that you have read. The change is refused if there is a newer one"`
	Comments string   `json:"comments,omitempty" jsonschema:"description=What was changed and why"`
	Parent   string   `json:"parent_title,omitempty" jsonschema:"description=Title of the page above it. Write none for no page above it"`
	Rename   string   `json:"new_title,omitempty" jsonschema:"description=New title to rename the page to"`
	Uploads  []upload `json:"uploads,omitempty" jsonschema:"description=Files that were uploaded before"`
}

func writeWiki(s *Server) entry {
	return tool(s, "write_wiki_page", "Write a wiki page", "Create a wiki page or replace its text. It can also move or rename a page.\nGive the version you have read to be safe from changes by others.\nRedmine keeps the older versions.", changes,
		func(ctx context.Context, in writeWikiInput) (*toolpost.Result, error) {
			w, err := openWiki(ctx, s, in.Project, in.Title)
			if err != nil {
				return nil, err
			}
			if err := w.fill(&in); err != nil {
				return nil, err
			}
			return w.save(in.Uploads)
		})
}

type editWikiInput struct {
	Project  string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Title    string `json:"title" jsonschema:"minLength=1,description=Page title"`
	Old      string `json:"old_text" jsonschema:"minLength=1,description=Text to replace. It must stand there once"`
	New      string `json:"new_text" jsonschema:"description=Text to put in its place"`
	All      bool   `json:"replace_all,omitempty" jsonschema:"description=Whether to replace every occurrence"`
	Version  int    `json:"version,omitempty" jsonschema:"minimum=1,description=Version that you have read. The edit is refused if there is a newer one"`
	Comments string `json:"comments,omitempty" jsonschema:"description=What was changed and why"`
}

func editWiki(s *Server) entry {
	return tool(s, "edit_wiki_page", "Edit a wiki page", "Replace a part of a wiki page and leave the rest as it is.\nThe text to replace must stand there exactly once.", changes,
		func(ctx context.Context, in editWikiInput) (*toolpost.Result, error) {
			w, err := openWiki(ctx, s, in.Project, in.Title)
			if err != nil {
				return nil, err
			}
			if w.before == nil {
				return nil, missingWiki(ctx, s, w.in, in.Title, 0, &fault{status: http.StatusNotFound})
			}
			text, err := replaced(w.before.Text, in.Old, in.New, in.All)
			if err != nil {
				return nil, err
			}
			w.set["text"], w.set["comments"], w.set["version"] = text, in.Comments, cmp.Or(in.Version, w.before.Version)
			return w.save(nil)
		})
}

// A wikiWrite is a change of a page.
type wikiWrite struct {
	write
	in     named // the project
	title  string
	before *wikiPage // nil for a new one
}

func openWiki(ctx context.Context, s *Server, project, title string) (*wikiWrite, error) {
	p, err := s.project(ctx, project)
	if err != nil {
		return nil, err
	}
	w := &wikiWrite{write: write{s: s, ctx: ctx, project: p.ID, set: map[string]any{}}, in: p, title: wikiTitle(title)}
	if w.title == "" {
		return nil, toolpost.Retry("%q is no title of a wiki page; give letters or digits.", title)
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
		return toolpost.Retry("Wiki page %s does not exist, so it has no version %d. Leave the version out to create it.", w.title, in.Version)
	case w.before == nil && in.Rename != "":
		return toolpost.Retry("Wiki page %s does not exist, so it cannot be renamed.", w.title)
	case in.Text == nil && w.before == nil:
		return toolpost.Retry("Give the text of the new page %s.", w.title)
	case in.Text == nil:
		w.set["text"] = w.before.Text // Redmine wants it with every change
	default:
		w.set["text"] = *in.Text
	}
	w.set["comments"] = in.Comments
	if w.before != nil {
		w.set["version"] = cmp.Or(in.Version, w.before.Version)
	}
	if in.Rename != "" {
		w.set["title"] = wikiTitle(in.Rename)
	}
	if len(in.Uploads) > 0 {
		w.set["uploads"] = in.Uploads
	}
	return w.under(in.Parent)
}

// under sets the parent, of which Redmine says nothing if it does not exist.
func (w *wikiWrite) under(parent string) error {
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
		return toolpost.Retry("Wiki page %s cannot be under %s, which is that page or one under it.", w.title, all[i].Title)
	}
	w.set["parent_title"] = all[i].Title
	return nil
}

// save makes the change and answers with what became of it.
func (w *wikiWrite) save(sent []upload) (*toolpost.Result, error) {
	what := fmt.Sprintf("wiki page %s of project %s", w.title, w.in.Name)
	err := w.s.client.send(w.ctx, "PUT", wikiPath(w.in, w.title)+".json", map[string]any{"wiki_page": w.set}, nil)
	if err != nil {
		return nil, explain(err, what)
	}
	title := w.title
	if renamed, ok := w.set["title"].(string); ok {
		title = renamed
	}
	now, err := readWiki(w.ctx, w.s, w.in, title, 0)
	if status(err) == http.StatusNotFound {
		now, err = readWiki(w.ctx, w.s, w.in, w.title, 0) // not renamed
	}
	if err != nil {
		return nil, toolpost.Failed("Wrote %s, but it cannot be read back: %v", what, explain(err, what))
	}
	return w.told(now, sent)
}

func (w *wikiWrite) told(now *wikiPage, sent []upload) (*toolpost.Result, error) {
	var files []attachment
	done := fmt.Sprintf("Created wiki page %s", now.Title)
	switch {
	case w.before == nil:
	case w.before.Version == now.Version:
		done = fmt.Sprintf("Wiki page %s has the same text as before, and stays at version %d", now.Title, now.Version)
		files = w.before.Attachments
	default:
		done = fmt.Sprintf("Changed wiki page %s from version %d to %d", now.Title, w.before.Version, now.Version)
		files = w.before.Attachments
	}
	wrong := filesLost(files, now.Attachments, sent)
	wrong = append(wrong, unlike(w.set, map[string]any{"text": lf(now.Text), "title": now.Title, "parent_title": now.Parent.Title})...)
	answer := struct {
		Page    *wikiDetail `json:"wiki_page"`
		Ignored []string    `json:"not_taken,omitempty"`
	}{wikiDetailOf(w.in, now), wrong}
	return w.s.answer(outcome(done, notAllowed, wrong)+"\n"+answer.Page.head(), answer)
}

// filesLost tells the uploads that did not become files: for a wiki page Redmine
// says nothing about a token that it does not know.
func filesLost(before, now []attachment, sent []upload) []string {
	if got := len(now) - len(before); got != len(sent) {
		return []string{fmt.Sprintf("%d of %d files were added: each token is good for one use", got, len(sent))}
	}
	return nil
}

type deleteWikiInput struct {
	Project  string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Title    string `json:"title" jsonschema:"minLength=1,description=Page title"`
	Children string `json:"children,omitempty" jsonschema:"enum=keep,enum=delete,default=keep,description=What becomes of the pages under it. Kept ones have no page above them then"`
	Confirm  bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteWiki(s *Server) entry {
	return tool(s, "delete_wiki_page", "Delete a wiki page", "Delete a wiki page with all its versions and files, for good.\nWithout confirm the answer shows what would go, and nothing is deleted.", removes,
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
			if !in.Confirm {
				return wouldDeleteWiki(s, w.before, under)
			}
			path := wikiPath(w.in, w.title) + ".json?todo=nullify"
			if in.Children == "delete" {
				path = wikiPath(w.in, w.title) + ".json?todo=destroy"
			}
			if err := s.client.send(ctx, "DELETE", path, nil, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the deletion of wiki page %s of project %s", w.before.Title, w.in.Name))
			}
			if all, err = wikiPages(ctx, s, w.in); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(p wikiPage) bool { return p.Title == w.before.Title }) {
				return nil, toolpost.Failed("Redmine said that wiki page %s is deleted, but it is still there.", w.before.Title)
			}
			facts := map[string]any{"deleted": w.before.Title, "children": under, "children_are": in.Children}
			text := fmt.Sprintf("Deleted wiki page %s.", w.before.Title)
			switch {
			case len(under) > 0 && in.Children == "delete":
				text = fmt.Sprintf("Deleted wiki page %s and the pages under it: %s.", w.before.Title, strings.Join(under, ", "))
			case len(under) > 0:
				text = fmt.Sprintf("Deleted wiki page %s. The pages under it are kept: %s.", w.before.Title, strings.Join(under, ", "))
			}
			return s.done(text, facts)
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

// wouldDeleteWiki shows what goes with a page.
func wouldDeleteWiki(s *Server, w *wikiPage, under []string) (*toolpost.Result, error) {
	text := fmt.Sprintf("Nothing is deleted yet. With wiki page %s would go:\n- %d versions\n- %d files\n", w.Title, w.Version, len(w.Attachments))
	if len(under) > 0 {
		text += fmt.Sprintf("- unless they are kept, %d pages under it: %s\n", len(under), strings.Join(under, ", "))
	}
	if w.Parent.Title != "" {
		text += "It is under " + w.Parent.Title + ", which stays.\n"
	}
	return s.done(text+"Call again with confirm true to delete it.", map[string]any{
		"deleted": nil, "versions": w.Version, "files": len(w.Attachments), "children": under, "parent": w.Parent.Title,
	})
}
