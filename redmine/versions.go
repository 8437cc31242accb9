package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func versionTools(s *Toolset) []entry {
	return []entry{
		listVersions(s), showVersion(s), createVersion(s), updateVersion(s), deleteVersion(s),
		listCategories(s), createCategory(s), updateCategory(s), deleteCategory(s),
	}
}

// A version is a milestone of a project.
type version struct {
	ID           int          `json:"id"`
	Name         string       `json:"name" set:"name"`
	Status       string       `json:"status" text:"status" row:"%s" set:"status"`
	Due          string       `json:"due_date,omitempty" text:"due" row:"due %s" set:"due_date"`
	Sharing      sharing      `json:"sharing" text:"sharing" row:"shared: %s" set:"sharing"`
	Project      idName       `json:"project,omitzero" text:"project" row:"of project %s"`
	Wiki         string       `json:"wiki_page_title,omitempty" text:"wiki page" set:"wiki_page_title"`
	Issues       *issueCount  `json:"issues,omitempty" text:"issues"`
	Estimated    *hours       `json:"estimated_hours,omitempty" text:"estimated"`
	Spent        *hours       `json:"spent_hours,omitempty" text:"spent"`
	CustomFields customFields `json:"custom_fields,omitzero"`
	CreatedOn    timestamp    `json:"created_on,omitempty" text:"created"`
	UpdatedOn    timestamp    `json:"updated_on,omitempty" text:"updated"`
	Description  longText     `json:"description,omitempty" set:"description"`
}

func (v *version) idName() idName { return idName{ID: v.ID, Name: v.Name} }

func (v *version) String() string { return v.idName().String() }

func (v *version) title() string { return "Version " + v.String() }

// sharing is which other projects have a version too.
type sharing string

// IsZero reports whether none has it.
func (s sharing) IsZero() bool { return s == "none" }

// An issueCount is how many issues a version has.
type issueCount struct {
	All  int `json:"all"`
	Open int `json:"open"`
}

func (c *issueCount) String() string {
	return fmt.Sprintf("%d, %d open, as far as this account can see", c.All, c.Open)
}

type listVersionsInput struct {
	projectID
	Status string `json:"status,omitempty" jsonschema:"enum=open,enum=locked,enum=closed,enum=all,default=all"`
	rowSpan
}

func listVersions(s *Toolset) entry {
	return listTool(s, "list_versions", "List versions", "List the versions that issues of a project can be planned for.", "versions", "versions",
		func(ctx context.Context, in listVersionsInput, p idName) (*listing, error) {
			all, err := readAll[version](ctx, s, versions(p.ID).path, "versions", "the versions of project "+p.String())
			all = slices.DeleteFunc(all, func(v version) bool { return in.Status != "" && in.Status != "all" && v.Status != in.Status })
			shown := pageOf(all, in.rowSpan)
			for i := range shown {
				v := &shown[i]
				v.Description, v.CreatedOn, v.UpdatedOn = "", "", ""
				if v.Project.ID == p.ID {
					v.Project = idName{}
				}
			}
			return wholeList(all, in.rowSpan), err
		})
}

// openVersions are those that new issues of a project can be planned for.
func openVersions(ctx context.Context, s *Toolset, project int) ([]idName, error) {
	all, _, err := rows[version](ctx, s, versions(project).path, url.Values{}, "versions", 0, maxNames)
	var open []idName
	for _, v := range all {
		if v.Status == "open" {
			open = append(open, v.idName())
		}
	}
	return open, err
}

// A versionID says which version.
type versionID struct {
	ID      string `json:"id" desc:"Id, or name if the project is given"`
	Project string `json:"project_id,omitempty" desc:"Id, key or name"`
}

func (in *versionID) find(ctx context.Context, s *Toolset) (*version, error) {
	n, err := inProject(ctx, s, in.Project, in.ID, versions)
	if err != nil {
		return nil, err
	}
	return versionEndpoint().read(ctx, s, n, "")
}

// inProject finds what has a name only within its project.
func inProject(ctx context.Context, s *Toolset, project, text string, src func(int) source) (int, error) {
	if project == "" {
		if n, ok := number(text); ok {
			return n, nil
		}
		return 0, toolpost.Retry.Errorf("Give the project too: %q is not an id, and a %s can only be found by name in its project.", text, src(0).what)
	}
	p, err := s.project(ctx, project)
	if err != nil {
		return 0, err
	}
	n, err := s.find(ctx, src(p.ID), text)
	return n.ID, err
}

type showVersionInput struct{ versionID }

func (in *showVersionInput) find(ctx context.Context, s *Toolset) (*version, error) {
	v, err := in.versionID.find(ctx, s)
	if err != nil {
		return nil, err
	}
	return v, v.count(ctx, s)
}

func showVersion(s *Toolset) entry {
	return showTool[showVersionInput, version](s, "show_version", "Show a version", "Show a version with its text, hours and open issues.")
}

// count finds how many issues the version has, and how many are open.
func (v *version) count(ctx context.Context, s *Toolset) error {
	v.Issues = &issueCount{}
	for _, c := range []struct {
		status string
		n      *int
	}{{"*", &v.Issues.All}, {"open", &v.Issues.Open}} {
		query := url.Values{"fixed_version_id": {fmt.Sprint(v.ID)}, "status_id": {c.status}}
		var err error
		if *c.n, err = count(ctx, s, "/issues.json", query, "issues"); err != nil {
			return explain(err, "the issues of version "+v.Name)
		}
	}
	return nil
}

// A versionInput is what the arguments of a tool may set of a version.
type versionInput struct {
	Status      string     `json:"status,omitempty" jsonschema:"enum=open,enum=locked,enum=closed" fill:"plain"`
	Sharing     string     `json:"sharing,omitempty" jsonschema:"enum=none,enum=descendants,enum=hierarchy,enum=tree,enum=system" fill:"plain"`
	Due         string     `json:"due_date,omitempty" desc:"Such as 2026-01-31; none clears it" fill:"date"`
	Description *string    `json:"description,omitempty" jsonschema:"maxLength=1000000" desc:"Empty clears it"`
	Wiki        *string    `json:"wiki_page_title,omitempty" desc:"Empty clears it"`
	Default     *bool      `json:"default_project_version,omitempty"`
	Fields      []setField `json:"custom_fields,omitempty"`
}

// versionEndpoint is how versions are read, written and compared.
func versionEndpoint() endpoint[version] {
	return endpoint[version]{
		collection: collection{key: "version", path: "/versions"},
		name:       func(v *version) string { return "version " + v.String() },
		check: func(w *write, _, v *version) {
			checkDefault(w, v)
			checkPage(w, v)
		},
	}
}

// checkDefault compares whether the project has it as its default, which the
// version itself does not say.
func checkDefault(w *write, v *version) {
	asked, ok := w.set["default_project_version"].(bool)
	if !ok {
		return
	}
	p, err := projectEndpoint().read(w.ctx, w.s, v.Project.ID, "")
	if err != nil {
		w.notes = append(w.notes, fmt.Sprintf("Whether it is the default of the project could not be read back: %v", err))
		return
	}
	is := map[string]any{"default_project_version": p.Version != nil && p.Version.ID == v.ID}
	w.wrong = append(w.wrong, diffValues(map[string]any{"default_project_version": asked}, is)...)
}

// checkPage notes a page that is not there: Redmine takes any title.
func checkPage(w *write, v *version) {
	if title, _ := w.set["wiki_page_title"].(string); title == "" {
		return
	}
	err := w.s.client.get(w.ctx, wikiPath(v.Project, v.Wiki, 0)+".json", nil, &struct{}{})
	if err != nil {
		w.notes = append(w.notes, fmt.Sprintf("The wiki of project %s has no page %q yet, or this account may not see it.", v.Project, v.Wiki))
	}
}

type createVersionInput struct {
	projectID
	Name string `json:"name" jsonschema:"minLength=1,maxLength=60" fill:"trimmed"`
	versionInput
}

func createVersion(s *Toolset) entry {
	return projectTool(s, "create_version", "Create a version", "Create a version in a project.", adds,
		func(ctx context.Context, in createVersionInput, p idName) (*toolpost.Result, error) {
			w, of := newWrite(ctx, s, p.ID), versions(p.ID)
			w.noteMatch(in.Project, p)
			w.fill(&in)
			w.custom(in.Fields, func() ([]field, error) { return likeFields(ctx, s, of.path, of.key, of.what) })
			return versionEndpoint().create(w, strings.TrimSuffix(of.path, ".json"), "the new version in project "+p.String())
		})
}

type updateVersionInput struct {
	versionID
	Name string `json:"name,omitempty" jsonschema:"maxLength=60" fill:"trimmed"`
	versionInput
}

func updateVersion(s *Toolset) entry {
	return changeTool(s, versionEndpoint, "update_version", "Change a version", "Change a version. Only what is given is changed.",
		func(w *write, in *updateVersionInput, _ *version) {
			w.fill(in)
			w.custom(in.Fields, nil)
		})
}

type deleteVersionInput struct {
	versionID
	confirmation
}

func deleteVersion(s *Toolset) entry {
	return deleteTool(s, deletedVersionEndpoint, "delete_version", "Delete a version", "Delete a version that no issue and no file uses.",
		func(ctx context.Context, in *deleteVersionInput, v *version, r *removal) error {
			if err := v.count(ctx, s); err != nil {
				return err
			}
			if v.Issues.All > 0 {
				return toolpost.Failed.Errorf("Version %s cannot be deleted: %d issues are planned for it, %d of them open. List them with list_issues and fixed_version_id %d, and move them with update_issue; or close the version.", v, v.Issues.All, v.Issues.Open, v.ID)
			}
			r.what += " of project " + v.Project.String()
			r.given, r.names = in.ID, []string{fmt.Sprint(v.ID), v.Name}
			return nil
		})
}

func deletedVersionEndpoint() endpoint[version] {
	k := versionEndpoint()
	k.explain = versionInUse
	return k
}

// versionInUse explains a refusal to delete a version, which has no reason.
func versionInUse(err error, what string) error {
	if status(err) != http.StatusUnprocessableEntity {
		return explain(err, what)
	}
	return toolpost.Failed.Errorf("Redmine refuses %s: something still uses it, such as a file, a custom field, or an issue that this account does not see.", what)
}

// ofVersion finds a version of the project, or any by its id.
func ofVersion(ctx context.Context, s *Toolset, project int, text string) (idName, error) {
	if project > 0 {
		all, err := s.names(ctx, versions(project), true)
		if err != nil {
			return idName{}, err
		}
		n, err := matchName("version", text, all)
		if _, ok := number(text); !ok || len(matchExact(text, all)) > 0 {
			return n, err
		}
	}
	n, ok := number(text)
	if !ok {
		return idName{}, toolpost.Retry.Errorf("Give the project too: every version belongs to a project.")
	}
	err := s.client.get(ctx, fmt.Sprintf("/versions/%d.json", n), nil, &struct{}{})
	return idName{ID: n}, explain(err, "version "+text)
}
