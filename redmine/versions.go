package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/toolpost/toolpost"
)

func versionTools(s *Server) []entry {
	return []entry{
		listVersions(s), showVersion(s), createVersion(s), updateVersion(s), deleteVersion(s),
		listCategories(s), createCategory(s), updateCategory(s), deleteCategory(s),
	}
}

// A version as Redmine tells it.
type version struct {
	named
	Project      named    `json:"project"`
	Description  string   `json:"description" lines:"many"`
	Status       string   `json:"status"`
	Due          string   `json:"due_date"`
	Sharing      string   `json:"sharing"`
	Wiki         string   `json:"wiki_page_title"`
	Estimated    *float64 `json:"estimated_hours"`
	Spent        *float64 `json:"spent_hours"`
	CustomFields []field  `json:"custom_fields"`
	CreatedOn    string   `json:"created_on"`
	UpdatedOn    string   `json:"updated_on"`
}

// A versionDetail is a version as it is shown.
type versionDetail struct {
	ID          int               `json:"id"`
	Name        string            `json:"name"`
	Project     named             `json:"project"`
	Status      string            `json:"status"`
	Due         string            `json:"due_date,omitempty"`
	Sharing     string            `json:"sharing"`
	Wiki        string            `json:"wiki_page_title,omitempty"`
	Estimated   string            `json:"estimated,omitempty"`
	Spent       string            `json:"spent,omitempty"`
	Issues      *int              `json:"issues,omitempty"`
	Open        *int              `json:"open_issues,omitempty"`
	Fields      map[string]string `json:"custom_fields,omitempty"`
	Created     string            `json:"created_on,omitempty"`
	Updated     string            `json:"updated_on,omitempty"`
	Description string            `json:"description,omitempty"`
}

func versionDetailOf(v *version) *versionDetail {
	d := &versionDetail{
		ID: v.ID, Name: v.Name, Project: v.Project, Status: v.Status, Due: v.Due, Sharing: v.Sharing, Wiki: v.Wiki,
		Fields: fieldsOf(v.CustomFields), Created: v.CreatedOn, Updated: v.UpdatedOn, Description: lf(v.Description),
	}
	if v.Estimated != nil {
		d.Estimated = hours(*v.Estimated)
	}
	if v.Spent != nil {
		d.Spent = hours(*v.Spent)
	}
	return d
}

// A versionRow is a version in the list of a project.
type versionRow struct {
	*versionDetail
	of int // the project
}

func (r versionRow) line() string {
	text := fmt.Sprintf("- %s [%d] | %s", r.Name, r.ID, r.Status)
	if r.Due != "" {
		text += " | due " + r.Due
	}
	if r.Sharing != "none" {
		text += " | shared: " + r.Sharing
	}
	if r.Project.ID != r.of {
		text += " | of project " + r.Project.String()
	}
	return text
}

func (d *versionDetail) text() string {
	var b sheet
	fmt.Fprintf(&b, "# Version %s [%d]\n\n- project: %s\n- status: %s\n- sharing: %s\n", d.Name, d.ID, d.Project, d.Status, d.Sharing)
	b.line("due", d.Due)
	b.line("wiki page", d.Wiki)
	if d.Issues != nil {
		b.line("issues", fmt.Sprintf("%d, %d open, as far as this account can see", *d.Issues, *d.Open))
	}
	b.line("estimated", d.Estimated)
	b.line("spent", d.Spent)
	b.fields(d.Fields)
	b.line("created", d.Created)
	b.line("updated", d.Updated)
	b.long(d.Description)
	return b.String()
}

type listVersionsInput struct {
	Project string `json:"project_id" jsonschema:"maxLength=255,description=Project id or key or name"`
	Status  string `json:"status,omitempty" jsonschema:"enum=open,enum=locked,enum=closed,enum=all,default=all,description=Which ones"`
	rowSpan
}

func listVersions(s *Server) entry {
	return tool(s, "list_versions", "List versions", "List the versions that issues of a project can be planned for, as one line each.\nThose that other projects share are among them.", reads,
		func(ctx context.Context, in listVersionsInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			all, _, err := rows[version](ctx, s, versions(p.ID).path, url.Values{}, "versions", 0, mostNames)
			if err != nil {
				return nil, explain(err, "the versions of project "+p.String())
			}
			all = slices.DeleteFunc(all, func(v version) bool { return in.Status != "" && in.Status != "all" && v.Status != in.Status })
			l := listing[versionRow]{what: "versions", key: "versions", offset: in.Offset, total: len(all)}
			for _, v := range window(all, in.Offset, in.Limit) {
				d := versionDetailOf(&v)
				d.Description, d.Created, d.Updated = "", "", ""
				l.rows = append(l.rows, versionRow{d, p.ID})
			}
			return l.answer(s)
		})
}

// openVersions are those that new issues of a project can be planned for.
func openVersions(ctx context.Context, s *Server, project int) ([]named, error) {
	all, _, err := rows[version](ctx, s, versions(project).path, url.Values{}, "versions", 0, mostNames)
	var open []named
	for _, v := range all {
		if v.Status == "open" {
			open = append(open, v.named)
		}
	}
	return open, err
}

// A versionID says which version.
type versionID struct {
	ID      string `json:"id" jsonschema:"maxLength=255,description=Version id. Or its name if the project is given"`
	Project string `json:"project_id,omitempty" jsonschema:"maxLength=255,description=Project id or key or name"`
}

func (in *versionID) find(ctx context.Context, s *Server) (*version, error) {
	n, err := inProject(ctx, s, in.Project, in.ID, versions)
	if err != nil {
		return nil, err
	}
	return versionKind().read(ctx, s, n, "")
}

// inProject finds what has a name only within its project.
func inProject(ctx context.Context, s *Server, project, text string, src func(int) source) (int, error) {
	if project == "" {
		if n, ok := number(text); ok {
			return n, nil
		}
		return 0, toolpost.Retry("Give the project too: %q is not an id, and a %s can only be found by name in its project.", text, src(0).what)
	}
	p, err := s.project(ctx, project)
	if err != nil {
		return 0, err
	}
	n, err := s.find(ctx, src(p.ID), text)
	return n.ID, err
}

func showVersion(s *Server) entry {
	return tool(s, "show_version", "Show a version", "Show one version with its full text, hours, and how many of its issues are open.", reads,
		func(ctx context.Context, in versionID) (*toolpost.Result, error) {
			v, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			nameFields(ctx, s, v.Project.ID, v.Project.ID, v.CustomFields)
			d := versionDetailOf(v)
			if err := d.count(ctx, s); err != nil {
				return nil, err
			}
			return s.answer(d.text(), d)
		})
}

// count finds how many issues the version has, and how many are open.
func (d *versionDetail) count(ctx context.Context, s *Server) error {
	for _, c := range []struct {
		status string
		to     **int
	}{{"*", &d.Issues}, {"open", &d.Open}} {
		query := url.Values{"fixed_version_id": {fmt.Sprint(d.ID)}, "status_id": {c.status}}
		n, err := count(ctx, s, "/issues.json", query, "issues")
		if err != nil {
			return explain(err, "the issues of version "+d.Name)
		}
		*c.to = &n
	}
	return nil
}
