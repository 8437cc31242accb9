package redmine

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

// A category groups the issues of a project.
type category struct {
	idName
	Project  idName  `json:"project"`
	Assignee *idName `json:"assigned_to,omitempty" row:"new issues go to %s" set:"assigned_to_id"`
}

// categoryEndpoint is how categories of issues are read, written and compared.
func categoryEndpoint() endpoint[category] {
	return endpoint[category]{
		collection: collection{key: "issue_category", path: "/issue_categories"},
		name:       func(c *category) string { return fmt.Sprintf("issue category %s of project %s", c, c.Project) },
	}
}

type listCategoriesInput struct {
	projectID
	rowSpan
}

func listCategories(s *Toolset) entry {
	return listTool(s, "list_issue_categories", "List issue categories", "List the issue categories of a project and who gets their new issues.", "issue categories", "issue_categories",
		func(ctx context.Context, in listCategoriesInput, p idName) (*listing, error) {
			src := categories(p.ID)
			all, err := readAll[category](ctx, s, src.path, src.key, "the issue categories of project "+p.String())
			return wholeList(all, in.rowSpan), err
		})
}

type createCategoryInput struct {
	projectID
	Name     string `json:"name" jsonschema:"minLength=1,maxLength=60" fill:"trimmed"`
	Assignee string `json:"assigned_to_id,omitempty" desc:"Gets new issues; id, name or me" fill:"person"`
}

func createCategory(s *Toolset) entry {
	return projectTool(s, "create_issue_category", "Create an issue category", "Create an issue category in a project.", adds,
		func(ctx context.Context, in createCategoryInput, p idName) (*toolpost.Result, error) {
			w := newWrite(ctx, s, p.ID)
			w.noteMatch(in.Project, p)
			w.fill(&in)
			return categoryEndpoint().create(w, strings.TrimSuffix(categories(p.ID).path, ".json"), "the new issue category in project "+p.String())
		})
}

// A categoryID says which category.
type categoryID struct {
	ID      string `json:"id" desc:"Id, or name if the project is given"`
	Project string `json:"project_id,omitempty" desc:"Id, key or name"`
}

func (in *categoryID) find(ctx context.Context, s *Toolset) (*category, error) {
	n, err := inProject(ctx, s, in.Project, in.ID, categories)
	if err != nil {
		return nil, err
	}
	return categoryEndpoint().read(ctx, s, n, "")
}

type updateCategoryInput struct {
	categoryID
	Name     string `json:"name,omitempty" jsonschema:"maxLength=60" fill:"trimmed"`
	Assignee string `json:"assigned_to_id,omitempty" desc:"Gets new issues; id, name, me or none" fill:"person"`
}

func updateCategory(s *Toolset) entry {
	return changeTool(s, categoryEndpoint, "update_issue_category", "Change an issue category", "Change an issue category.",
		func(w *write, in *updateCategoryInput, _ *category) { w.fill(in) })
}

type deleteCategoryInput struct {
	categoryID
	To string `json:"reassign_to_id,omitempty" desc:"Category that its issues get instead of none; name or id"`
	confirmation
}

func deleteCategory(s *Toolset) entry {
	return deleteTool(s, categoryEndpoint, "delete_issue_category", "Delete an issue category", "Delete an issue category. Its issues stay.",
		func(ctx context.Context, in *deleteCategoryInput, c *category, r *removal) error {
			query := url.Values{"project_id": {fmt.Sprint(c.Project.ID)}, "category_id": {fmt.Sprint(c.ID)}, "status_id": {"*"}}
			n, err := count(ctx, s, "/issues.json", query, "issues")
			if err != nil {
				return explain(err, "the issues of category "+c.String())
			}
			after := "have no category"
			if in.To != "" {
				to, err := s.find(ctx, categories(c.Project.ID), in.To)
				if err != nil {
					return err
				}
				if to.ID == c.ID {
					return toolpost.Retry.Errorf("The issues cannot move to the category that is being deleted: give another category.")
				}
				r.query = fmt.Sprintf("?reassign_to_id=%d", to.ID)
				after = "have category " + to.String()
			}
			r.given, r.names, r.facts = in.ID, []string{fmt.Sprint(c.ID), c.Name}, map[string]any{"issues": n}
			r.would = fmt.Sprintf("%s would be deleted; as far as this account can see, %d issues have it and would then %s.", upper(r.what), n, after)
			r.then = fmt.Sprintf("; %d issues %s now, as far as this account can see", n, after)
			return nil
		})
}
