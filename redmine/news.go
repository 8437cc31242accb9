package redmine

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

// A news is an item of news, as Redmine tells it and as it is shown.
type news struct {
	ID          int           `json:"id"`
	Project     named         `json:"project"`
	Author      named         `json:"author"`
	Title       string        `json:"title"`
	Summary     string        `json:"summary,omitempty"`
	Description string        `json:"description,omitempty"`
	CreatedOn   string        `json:"created_on"`
	Attachments []attachment  `json:"attachments,omitempty"`
	Comments    []newsComment `json:"comments,omitempty"`
}

type newsComment struct {
	ID      int    `json:"id"`
	Author  named  `json:"author"`
	Content string `json:"content"`
}

func newsTools(s *Server) []entry {
	return []entry{listNews(s), showNews(s), createNews(s), updateNews(s), deleteNews(s)}
}

type listNewsInput struct {
	Project string `json:"project_id,omitempty" jsonschema:"description=Project id or key or name. All projects if left out"`
	Offset  int    `json:"offset,omitempty" jsonschema:"minimum=0,description=News to skip"`
	Limit   int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=News to show"`
}

func listNews(s *Server) entry {
	return tool(s, "list_news", "List news", "List news, the newest first, of one project or of all.\nThe full text comes with the tool that shows one.", reads,
		func(ctx context.Context, in listNewsInput) (*toolpost.Result, error) {
			path := "/news.json"
			if in.Project != "" {
				p, err := s.project(ctx, in.Project)
				if err != nil {
					return nil, err
				}
				path = newsPath(p)
			}
			all, total, err := rows[news](ctx, s, path, url.Values{}, "news", in.Offset, limitOf(in.Limit))
			if err != nil {
				return nil, explain(err, "the list of news")
			}
			shown := []news{}
			text := span("news", len(all), in.Offset, total) + "\n"
			for _, n := range all {
				text += fmt.Sprintf("- [%d] %s | %s | %s | %s", n.ID, n.Title, n.Project, n.Author.Name, day(n.CreatedOn))
				if n.Summary != "" {
					text += " | " + lf(n.Summary)
				}
				text += "\n"
				n.Description = ""
				shown = append(shown, n)
			}
			return s.answer(text, map[string]any{"news": shown, "total": total, "offset": in.Offset})
		})
}

func newsPath(p named) string { return fmt.Sprintf("/projects/%d/news.json", p.ID) }

type newsID struct {
	ID string `json:"id" jsonschema:"description=Id of the news"`
}

func showNews(s *Server) entry {
	return tool(s, "show_news", "Show news", "Show an item of news with its full text, comments and files.", reads,
		func(ctx context.Context, in newsID) (*toolpost.Result, error) {
			n, err := readNews(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return s.answer(n.text(), n)
		})
}

func readNews(ctx context.Context, s *Server, text string) (*news, error) {
	n, err := id("news", text)
	if err != nil {
		return nil, err
	}
	var answer struct {
		News news `json:"news"`
	}
	if err := s.client.get(ctx, fmt.Sprintf("/news/%d.json", n), url.Values{"include": {"attachments,comments"}}, &answer); err != nil {
		return nil, explain(err, fmt.Sprintf("news %d", n))
	}
	one := &answer.News
	one.Summary, one.Description = lf(one.Summary), lf(one.Description)
	for i := range one.Comments {
		one.Comments[i].Content = lf(one.Comments[i].Content)
	}
	return one, nil
}

func (n *news) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# News [%d]: %s\n\n- project: %s\n- author: %s\n- created: %s\n", n.ID, n.Title, n.Project, n.Author, n.CreatedOn)
	if n.Summary != "" {
		fmt.Fprintf(&b, "- summary: %s\n", n.Summary)
	}
	b.WriteString(filesText(n.Attachments))
	if n.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", n.Description)
	}
	for _, c := range n.Comments {
		fmt.Fprintf(&b, "\n## Comment %d by %s\n%s\n", c.ID, c.Author, c.Content)
	}
	return b.String()
}

type createNewsInput struct {
	Project     string   `json:"project_id" jsonschema:"description=Project id or key or name"`
	Title       string   `json:"title" jsonschema:"minLength=1,maxLength=60,description=Title"`
	Description string   `json:"description" jsonschema:"minLength=1,description=Full text"`
	Summary     string   `json:"summary,omitempty" jsonschema:"maxLength=255,description=One or two sentences"`
	Uploads     []upload `json:"uploads,omitempty" jsonschema:"description=Files that were uploaded before"`
}

func createNews(s *Server) entry {
	return tool(s, "create_news", "Create news", "Publish an item of news in a project.\nRedmine may send it to the members by mail.", adds,
		func(ctx context.Context, in createNewsInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			before, _, err := rows[news](ctx, s, newsPath(p), url.Values{}, "news", 0, 1)
			if err != nil {
				return nil, explain(err, "the news of project "+p.Name)
			}
			set := map[string]any{"title": in.Title, "summary": in.Summary, "description": in.Description}
			w := &write{s: s, ctx: ctx, project: p.ID, set: set}
			if len(in.Uploads) > 0 {
				w.set["uploads"] = in.Uploads
			}
			if err := s.client.send(ctx, "POST", newsPath(p), map[string]any{"news": w.set}, nil); err != nil {
				return nil, explain(err, "the news in project "+p.Name)
			}
			last := 0
			for _, n := range before {
				last = n.ID
			}
			n, err := newNews(ctx, s, p, in.Title, last)
			if err != nil {
				return nil, err
			}
			return toldNews(w, n, "Created")
		})
}

// newNews finds the news that was just made: Redmine does not tell its id.
func newNews(ctx context.Context, s *Server, p named, title string, last int) (string, error) {
	all, _, err := rows[news](ctx, s, newsPath(p), url.Values{}, "news", 0, 10)
	if err != nil {
		return "", toolpost.Failed("Created the news %q in %s, but it cannot be read back: %v", title, p.Name, explain(err, "the list of news"))
	}
	found := 0
	for _, n := range all {
		if n.ID > max(last, found) && n.Title == title {
			found = n.ID
		}
	}
	if found == 0 {
		return "", toolpost.Failed("Redmine said that the news %q in %s is made, but it is not in the list.", title, p.Name)
	}
	return fmt.Sprint(found), nil
}

type updateNewsInput struct {
	newsID
	Title       *string  `json:"title,omitempty" jsonschema:"minLength=1,maxLength=60,description=New title"`
	Description *string  `json:"description,omitempty" jsonschema:"minLength=1,description=New full text"`
	Summary     *string  `json:"summary,omitempty" jsonschema:"maxLength=255,description=New summary. Empty clears it"`
	Uploads     []upload `json:"uploads,omitempty" jsonschema:"description=Files that were uploaded before"`
}

func updateNews(s *Server) entry {
	return tool(s, "update_news", "Change news", "Change an item of news or add files to it.\nOnly what is given is changed.", changes,
		func(ctx context.Context, in updateNewsInput) (*toolpost.Result, error) {
			before, err := readNews(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			w := &write{s: s, ctx: ctx, project: before.Project.ID, set: map[string]any{}}
			for name, text := range map[string]*string{"title": in.Title, "summary": in.Summary, "description": in.Description} {
				if text != nil {
					w.set[name] = *text
				}
			}
			if len(in.Uploads) > 0 {
				w.set["uploads"] = in.Uploads
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give a title, a summary, a description or files.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/news/%d.json", before.ID), map[string]any{"news": w.set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the change of news %d", before.ID))
			}
			return toldNews(w, in.ID, "Changed")
		})
}

// toldNews answers with the news as it is now, and with what is not as it was
// asked.
func toldNews(w *write, id, done string) (*toolpost.Result, error) {
	now, err := readNews(w.ctx, w.s, id)
	if err != nil {
		return nil, toolpost.Failed("%s news %s, but it cannot be read back: %v", done, id, err)
	}
	wrong := unlike(w.set, map[string]any{"title": now.Title, "summary": now.Summary, "description": now.Description})
	answer := struct {
		News    *news    `json:"news"`
		Ignored []string `json:"not_taken,omitempty"`
	}{now, wrong}
	return w.s.answer(outcome(fmt.Sprintf("%s news %d", done, now.ID), notAllowed, wrong)+"\n"+now.text(), answer)
}

type deleteNewsInput struct {
	newsID
	Confirm bool `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteNews(s *Server) entry {
	return tool(s, "delete_news", "Delete news", "Delete an item of news with its comments and files, for good.\nWithout confirm the answer shows what would go, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteNewsInput) (*toolpost.Result, error) {
			n, err := readNews(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			if !in.Confirm {
				text := fmt.Sprintf("Nothing is deleted yet. With news %d, %s, would go:\n- %d comments\n- %d files\nCall again with confirm true to delete it.",
					n.ID, n.Title, len(n.Comments), len(n.Attachments))
				return s.done(text, map[string]any{"deleted": nil, "title": n.Title, "comments": len(n.Comments), "files": len(n.Attachments)})
			}
			if err := s.client.send(ctx, "DELETE", fmt.Sprintf("/news/%d.json", n.ID), nil, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the deletion of news %d", n.ID))
			}
			if _, err := readNews(ctx, s, in.ID); err == nil {
				return nil, toolpost.Failed("Redmine said that news %d is deleted, but it is still there.", n.ID)
			}
			return s.done(fmt.Sprintf("Deleted news %d: %s.", n.ID, n.Title), map[string]any{"deleted": n.ID})
		})
}
