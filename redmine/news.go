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
	Description string        `json:"description,omitempty" lines:"many"`
	CreatedOn   string        `json:"created_on"`
	Attachments []attachment  `json:"attachments,omitempty"`
	Comments    []newsComment `json:"comments,omitempty"`
}

type newsComment struct {
	ID      int    `json:"id"`
	Author  named  `json:"author"`
	Content string `json:"content" lines:"many"`
}

func newsTools(s *Server) []entry {
	return []entry{listNews(s), showNews(s), createNews(s), updateNews(s), deleteNews(s)}
}

type listNewsInput struct {
	Project string `json:"project_id,omitempty" jsonschema:"maxLength=255,description=Project id or key or name. All projects if left out"`
	rowSpan
}

func listNews(s *Server) entry {
	return tool(s, "list_news", "List news", "List news, the newest first, of one project or of all.\nThe full text comes with the tool that shows one.", reads,
		func(ctx context.Context, in listNewsInput) (*toolpost.Result, error) {
			path := "/news"
			if in.Project != "" {
				p, err := s.project(ctx, in.Project)
				if err != nil {
					return nil, err
				}
				path = newsPath(p)
			}
			all, total, err := rows[news](ctx, s, path+".json", url.Values{}, "news", in.Offset, in.most())
			if err != nil {
				return nil, explain(err, "the list of news")
			}
			for i := range all {
				all[i].Description = ""
			}
			l := listing[news]{what: "news", key: "news", rows: all, offset: in.Offset, total: total}
			return l.answer(s)
		})
}

func (n news) line() string {
	text := fmt.Sprintf("- [%d] %s | %s | %s | %s", n.ID, n.Title, n.Project, n.Author.Name, day(n.CreatedOn))
	if n.Summary != "" {
		text += " | " + lf(n.Summary)
	}
	return text
}

func newsPath(p named) string { return fmt.Sprintf("/projects/%d/news", p.ID) }

type newsID struct {
	ID string `json:"id" jsonschema:"maxLength=255,description=Id of the news"`
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

// newsKind is how news are read, written and compared with the files of before.
func newsKind(before []attachment) kind[news] {
	return kind[news]{
		key: "news", path: "/news", include: "attachments,comments",
		name: func(n *news) string { return fmt.Sprintf("news %d", n.ID) },
		is: func(n *news) map[string]any {
			return map[string]any{"title": n.Title, "summary": lf(n.Summary), "description": lf(n.Description)}
		},
		check: func(w *write, n *news) {
			sent, _ := w.set["uploads"].([]upload)
			w.wrong = append(w.wrong, notAttached(sent, before, n.Attachments)...)
		},
		view: func(n *news) view { return n.lf() },
	}
}

func readNews(ctx context.Context, s *Server, text string) (*news, error) {
	n, err := id("news", text)
	if err != nil {
		return nil, err
	}
	one, err := newsKind(nil).read(ctx, s, n, "attachments,comments")
	if err != nil {
		return nil, err
	}
	return one.lf(), nil
}

// lf has the texts with the line ends of the rest of the world.
func (n *news) lf() *news {
	n.Summary, n.Description = lf(n.Summary), lf(n.Description)
	for i := range n.Comments {
		n.Comments[i].Content = lf(n.Comments[i].Content)
	}
	return n
}

func (n *news) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# News [%d]: %s\n\n- project: %s\n- author: %s\n- created: %s\n", n.ID, n.Title, n.Project, n.Author, n.CreatedOn)
	if n.Summary != "" {
		fmt.Fprintf(&b, "- summary: %s\n", n.Summary)
	}
	b.WriteString(filesText(n.Attachments))
	if n.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", quoted(n.Description))
	}
	for _, c := range n.Comments {
		fmt.Fprintf(&b, "\n## Comment %d by %s\n%s\n", c.ID, c.Author, quoted(c.Content))
	}
	return b.String()
}

type createNewsInput struct {
	Project     string   `json:"project_id" jsonschema:"maxLength=255,description=Project id or key or name"`
	Title       string   `json:"title" jsonschema:"minLength=1,maxLength=60,description=Title"`
	Description string   `json:"description" jsonschema:"maxLength=1000000,minLength=1,description=Full text"`
	Summary     string   `json:"summary,omitempty" jsonschema:"maxLength=255,description=One or two sentences"`
	Uploads     []upload `json:"uploads,omitempty" jsonschema:"maxItems=200,description=Files that were uploaded before"`
}

func createNews(s *Server) entry {
	return tool(s, "create_news", "Create news", "Publish an item of news in a project.\nRedmine may send it to the members by mail.", adds,
		func(ctx context.Context, in createNewsInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			before, _, err := rows[news](ctx, s, newsPath(p)+".json", url.Values{}, "news", 0, 1)
			if err != nil {
				return nil, explain(err, "the news of project "+p.Name)
			}
			w := newWrite(ctx, s, p.ID)
			w.set["title"], w.set["summary"], w.set["description"] = in.Title, in.Summary, in.Description
			w.made = true
			if len(in.Uploads) > 0 {
				w.set["uploads"] = in.Uploads
			}
			if err := s.client.send(ctx, "POST", newsPath(p)+".json", w.body("news"), nil); err != nil {
				return nil, explain(err, "the news in project "+p.Name)
			}
			last := 0
			for _, n := range before {
				last = n.ID
			}
			return toldNews(w, p, last)
		})
}

// toldNews finds the news that was just made, as Redmine does not tell its id.
func toldNews(w *write, p named, last int) (*toolpost.Result, error) {
	title := w.set["title"].(string)
	all, _, err := rows[news](w.ctx, w.s, newsPath(p)+".json", url.Values{}, "news", 0, 10)
	found := 0
	for _, n := range all {
		if n.ID > max(last, found) && n.Title == title {
			found = n.ID
		}
	}
	switch {
	case err != nil:
		return w.s.done(fmt.Sprintf("Created the news %q in project %s. Do not repeat the change: it was made, but could not be read back: %v", title, p.Name, explain(err, "the list of news")), map[string]any{"done": true})
	case found == 0:
		return nil, toolpost.Failed("Redmine reported that the news %q in %s was created, but it is not in the list. Check before you create it again.", title, p.Name)
	}
	k := newsKind(nil)
	return k.told(w, k.at(found))
}

type updateNewsInput struct {
	newsID
	Title       *string  `json:"title,omitempty" jsonschema:"minLength=1,maxLength=60,description=New title"`
	Description *string  `json:"description,omitempty" jsonschema:"maxLength=1000000,minLength=1,description=New full text"`
	Summary     *string  `json:"summary,omitempty" jsonschema:"maxLength=255,description=New summary. Empty clears it"`
	Uploads     []upload `json:"uploads,omitempty" jsonschema:"maxItems=200,description=Files that were uploaded before"`
}

func updateNews(s *Server) entry {
	return tool(s, "update_news", "Change news", "Change an item of news or add files to it.\nOnly what is given is changed.", changes,
		func(ctx context.Context, in updateNewsInput) (*toolpost.Result, error) {
			before, err := readNews(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			w := newWrite(ctx, s, before.Project.ID)
			given(w, "title", in.Title)
			given(w, "summary", in.Summary)
			given(w, "description", in.Description)
			if len(in.Uploads) > 0 {
				w.set["uploads"] = in.Uploads
			}
			return newsKind(before.Attachments).change(w, before.ID, before)
		})
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
			k := newsKind(nil)
			return k.remove(ctx, s, &removal{
				at: k.at(n.ID), what: k.name(n) + ": " + n.Title, id: n.ID, confirmed: in.Confirm,
				would: fmt.Sprintf("Deleting news %d, %s, would also delete:\n- %d comments\n- %d files", n.ID, n.Title, len(n.Comments), len(n.Attachments)),
				facts: map[string]any{"title": n.Title, "comments": len(n.Comments), "files": len(n.Attachments)},
			})
		})
}
