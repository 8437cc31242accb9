package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/toolpost/toolpost"
)

// A news is an item of news of a project.
type news struct {
	ID          int          `json:"id"`
	Title       string       `json:"title" set:"title"`
	Project     idName       `json:"project" text:"project" row:"%s"`
	Author      idName       `json:"author" text:"author" row:"%n"`
	CreatedOn   timestamp    `json:"created_on" text:"created" row:"%s"`
	Summary     string       `json:"summary,omitempty" text:"summary" row:"%s" set:"summary"`
	Attachments files        `json:"attachments,omitempty"`
	Description longText     `json:"description,omitempty" set:"description"`
	Comments    newsComments `json:"comments,omitempty"`
}

func (n *news) title() string { return fmt.Sprintf("News [%d]: %s", n.ID, n.Title) }

// String returns the news as it stands in a list.
func (n *news) String() string { return fmt.Sprintf("[%d] %s", n.ID, n.Title) }

type newsComments []struct {
	ID      int      `json:"id"`
	Author  idName   `json:"author"`
	Content longText `json:"content"`
}

func (all newsComments) lines() (text string) {
	for _, c := range all {
		text += fmt.Sprintf("\n## Comment %d by %s%s", c.ID, c.Author, c.Content.lines())
	}
	return text
}

func newsTools(s *Toolset) []entry {
	return []entry{listNews(s), showNews(s), createNews(s), updateNews(s), deleteNews(s)}
}

type listNewsInput struct {
	optionalProject
	rowSpan
}

func listNews(s *Toolset) entry {
	return listTool(s, "list_news", "List news", "List news, newest first, without full texts.", "news", "news",
		func(ctx context.Context, in listNewsInput, p idName) (*listing, error) {
			path := "/news"
			if p.ID > 0 {
				path = newsPath(p)
			}
			all, total, err := rows[news](ctx, s, path+".json", url.Values{}, "news", in.Offset, in.most())
			for i := range all {
				all[i].Description = ""
			}
			return newListing(all, in.Offset, total), explain(err, "the list of news")
		})
}

func newsPath(p idName) string { return fmt.Sprintf("/projects/%d/news", p.ID) }

type newsID struct {
	ID string `json:"id"`
}

func (in *newsID) find(ctx context.Context, s *Toolset) (*news, error) {
	return newsEndpoint().find(ctx, s, "news", in.ID, newsEndpoint().include)
}

func showNews(s *Toolset) entry {
	return showTool[newsID, news](s, "show_news", "Show news", "Show news with its full text, comments and files.")
}

// newsEndpoint is how news are read, written and compared.
func newsEndpoint() endpoint[news] {
	return endpoint[news]{
		collection: collection{key: "news", path: "/news", include: "attachments,comments"},
		name:       func(n *news) string { return fmt.Sprintf("news %d", n.ID) },
		check: func(w *write, before, now *news) {
			var files []attachment
			if before != nil {
				files = before.Attachments
			}
			w.compareFiles(files, now.Attachments)
		},
	}
}

type createNewsInput struct {
	projectID
	Title       string   `json:"title" jsonschema:"minLength=1,maxLength=60"`
	Description string   `json:"description" jsonschema:"minLength=1,maxLength=1000000"`
	Summary     string   `json:"summary,omitempty"`
	Uploads     []upload `json:"uploads,omitempty" fill:"value"`
}

func createNews(s *Toolset) entry {
	return projectTool(s, "create_news", "Create news", "Publish news in a project.\nRedmine may mail it to the members.", adds,
		func(ctx context.Context, in createNewsInput, p idName) (*toolpost.Result, error) {
			before, _, err := rows[news](ctx, s, newsPath(p)+".json", url.Values{}, "news", 0, 1)
			if err != nil {
				return nil, explain(err, "the news of project "+p.Name)
			}
			w := newWrite(ctx, s, p.ID)
			w.noteMatch(in.Project, p)
			w.set["title"], w.set["summary"], w.set["description"] = in.Title, in.Summary, in.Description
			w.fill(&in)
			if err := s.client.send(ctx, http.MethodPost, newsPath(p)+".json", w.body("news"), nil); err != nil {
				return nil, explain(err, "the news in project "+p.Name)
			}
			last := 0
			for _, n := range before {
				last = n.ID
			}
			return readBackNews(w, p, last)
		})
}

// readBackNews finds the news that was just made, as Redmine does not return its id.
func readBackNews(w *write, p idName, last int) (*toolpost.Result, error) {
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
		return w.s.unread(fmt.Sprintf("Created the news %q in project %s", title, p.Name), explain(err, "the list of news"), map[string]any{"done": true})
	case found == 0:
		return nil, toolpost.Failed.Errorf("Redmine reported that the news %q in %s was created, but it is not in the list. Check before you create it again.", title, p.Name)
	}
	return newsEndpoint().readBack(w, newsEndpoint().recordPath(found))
}

type updateNewsInput struct {
	newsID
	Title       *string  `json:"title,omitempty" jsonschema:"minLength=1,maxLength=60"`
	Description *string  `json:"description,omitempty" jsonschema:"minLength=1,maxLength=1000000"`
	Summary     *string  `json:"summary,omitempty" desc:"Empty clears it"`
	Uploads     []upload `json:"uploads,omitempty" fill:"value"`
}

func updateNews(s *Toolset) entry {
	return changeTool(s, newsEndpoint, "update_news", "Change news", "Change news or add files to it.",
		func(w *write, in *updateNewsInput, _ *news) { w.fill(in) })
}

type deleteNewsInput struct {
	newsID
	confirmation
}

func deleteNews(s *Toolset) entry {
	return deleteTool(s, newsEndpoint, "delete_news", "Delete news", "Delete news with its comments and files.",
		func(_ context.Context, _ *deleteNewsInput, n *news, r *removal) error {
			r.what += ": " + n.Title
			r.would = fmt.Sprintf("Deleting news %d, %s, would also delete:\n- %d comments\n- %d files", n.ID, n.Title, len(n.Comments), len(n.Attachments))
			r.facts = map[string]any{"title": n.Title, "comments": len(n.Comments), "files": len(n.Attachments)}
			return nil
		})
}
