package redmine

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

// A category of issues, as Redmine tells it and as it is shown.
type category struct {
	named
	Project  named  `json:"project"`
	Assignee *named `json:"assigned_to,omitempty"`
}

func (c category) line() string {
	text := "- " + c.String()
	if c.Assignee != nil {
		text += " | new issues go to " + c.Assignee.String()
	}
	return text
}

type listCategoriesInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	rowSpan
}

func listCategories(s *Server) entry {
	return tool(s, "list_issue_categories", "List issue categories", "List the categories that issues of a project can have, and who gets their new issues.", reads,
		func(ctx context.Context, in listCategoriesInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			all, _, err := rows[category](ctx, s, categories(p.ID).path, url.Values{}, "issue_categories", 0, 10_000)
			if err != nil {
				return nil, explain(err, "the issue categories of project "+p.String())
			}
			shown := window(all, in.Offset, in.Limit)
			l := listing[category]{what: "issue categories", key: "issue_categories", rows: shown, offset: in.Offset, total: len(all)}
			return l.answer(s)
		})
}

func readCategory(ctx context.Context, s *Server, id int) (*category, error) {
	var answer struct {
		Category category `json:"issue_category"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/issue_categories/%d.json", id), nil, &answer)
	return &answer.Category, explain(err, fmt.Sprintf("issue category %d", id))
}

type createCategoryInput struct {
	Project  string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Name     string `json:"name" jsonschema:"minLength=1,maxLength=60,description=Name"`
	Assignee string `json:"assigned_to_id,omitempty" jsonschema:"description=Person who gets new issues of it by id or name or me"`
}

func createCategory(s *Server) entry {
	return tool(s, "create_issue_category", "Create an issue category", "Create a category for the issues of a project.", adds,
		func(ctx context.Context, in createCategoryInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			w := &write{s: s, ctx: ctx, project: p.ID, set: map[string]any{"name": strings.TrimSpace(in.Name)}}
			if w.person("assigned_to_id", in.Assignee); w.err != nil {
				return nil, w.err
			}
			var answer struct {
				Category named `json:"issue_category"`
			}
			if err := s.client.send(ctx, "POST", categories(p.ID).path, map[string]any{"issue_category": w.set}, &answer); err != nil {
				return nil, explain(err, "the new issue category in project "+p.String())
			}
			return toldCategory(w, answer.Category.ID, "Created")
		})
}

// A categoryID says which category.
type categoryID struct {
	ID      string `json:"id" jsonschema:"description=Category id. Or its name if the project is given"`
	Project string `json:"project_id,omitempty" jsonschema:"description=Project id or key or name"`
}

func (in *categoryID) find(ctx context.Context, s *Server) (*category, error) {
	n, err := inProject(ctx, s, in.Project, in.ID, categories)
	if err != nil {
		return nil, err
	}
	return readCategory(ctx, s, n)
}

type updateCategoryInput struct {
	categoryID
	Name     string `json:"name,omitempty" jsonschema:"maxLength=60,description=New name"`
	Assignee string `json:"assigned_to_id,omitempty" jsonschema:"description=Person who gets new issues of it by id or name or me. Write none to clear it"`
}

func updateCategory(s *Server) entry {
	return tool(s, "update_issue_category", "Change an issue category", "Change a category of issues. Only what is given is changed.", changes,
		func(ctx context.Context, in updateCategoryInput) (*toolpost.Result, error) {
			c, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			w := &write{s: s, ctx: ctx, project: c.Project.ID, set: map[string]any{}}
			w.text("name", strings.TrimSpace(in.Name))
			if w.person("assigned_to_id", in.Assignee); w.err != nil {
				return nil, w.err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/issue_categories/%d.json", c.ID), map[string]any{"issue_category": w.set}, nil); err != nil {
				return nil, explain(err, "the change of issue category "+c.String())
			}
			return toldCategory(w, c.ID, "Changed")
		})
}

// toldCategory answers with the category as it is now, and with what is not as it
// was asked.
func toldCategory(w *write, id int, done string) (*toolpost.Result, error) {
	w.s.forget("issue_categories")
	now, err := readCategory(w.ctx, w.s, id)
	if err != nil {
		return nil, toolpost.Failed("%s issue category %d, but it cannot be read back: %v", done, id, err)
	}
	is := map[string]any{"name": now.Name, "assigned_to_id": ""}
	if now.Assignee != nil {
		is["assigned_to_id"] = now.Assignee.ID
	}
	wrong := unlike(w.set, is)
	text := outcome(fmt.Sprintf("%s issue category %d of project %s", done, id, now.Project), "this account may not set it", wrong)
	return w.s.answer(text+now.line()+"\n", map[string]any{"issue_category": now, "not_taken": wrong})
}

type deleteCategoryInput struct {
	categoryID
	To      string `json:"reassign_to_id,omitempty" jsonschema:"description=Category of the same project that its issues get by name or id. Without it they have none"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteCategory(s *Server) entry {
	return tool(s, "delete_issue_category", "Delete an issue category", "Delete a category of issues. The issues stay, and get another category or none.\nWithout confirm the answer shows how many issues have it, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteCategoryInput) (*toolpost.Result, error) {
			c, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			query := url.Values{"project_id": {fmt.Sprint(c.Project.ID)}, "category_id": {fmt.Sprint(c.ID)}, "status_id": {"*"}}
			n, err := count(ctx, s, "/issues.json", query, "issues")
			if err != nil {
				return nil, explain(err, "the issues of category "+c.String())
			}
			path, after := fmt.Sprintf("/issue_categories/%d.json", c.ID), "have no category"
			if in.To != "" {
				to, err := s.find(ctx, categories(c.Project.ID), in.To)
				if err != nil {
					return nil, err
				}
				if to.ID == c.ID {
					return nil, toolpost.Retry("Issues cannot get the category that is deleted; give another one.")
				}
				path += fmt.Sprintf("?reassign_to_id=%d", to.ID)
				after = "have category " + to.String()
			}
			if !in.Confirm {
				return s.done(fmt.Sprintf("Nothing is deleted yet. Issue category %s of project %s would go; %d issues have it, and would then %s.\nCall again with confirm true to delete it.", c, c.Project, n, after), map[string]any{"deleted": nil, "issues": n})
			}
			if err := whole(in.ID, "category "+c.String(), fmt.Sprint(c.ID), c.Name); err != nil {
				return nil, err
			}
			if err := s.client.send(ctx, "DELETE", path, nil, nil); err != nil {
				return nil, explain(err, "the deletion of issue category "+c.String())
			}
			s.forget("issue_categories")
			return s.done(fmt.Sprintf("Deleted issue category %s of project %s; %d issues %s now.", c, c.Project, n, after), map[string]any{"deleted": c.ID, "issues": n})
		})
}
