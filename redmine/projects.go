package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func projectTools(s *Server) []entry {
	return []entry{
		listProjects(s), showProject(s), createProject(s), updateProject(s),
		archiveProject(s), unarchiveProject(s), closeProject(s), reopenProject(s), deleteProject(s),
		listProjectStatuses(s),
		listMemberships(s), createMembership(s), updateMembership(s), deleteMembership(s),
	}
}

// A project as Redmine tells it.
type project struct {
	ID             int     `json:"id"`
	Name           string  `json:"name"`
	Identifier     string  `json:"identifier"`
	Description    string  `json:"description" lines:"many"`
	Homepage       string  `json:"homepage"`
	Parent         *named  `json:"parent"`
	Status         int     `json:"status"`
	IsPublic       bool    `json:"is_public"`
	InheritMembers bool    `json:"inherit_members"`
	Version        *named  `json:"default_version"`
	Assignee       *named  `json:"default_assignee"`
	CustomFields   []field `json:"custom_fields"`
	Trackers       []named `json:"trackers"`
	Categories     []named `json:"issue_categories"`
	Modules        []named `json:"enabled_modules"`
	Activities     []named `json:"time_entry_activities"`
	IssueFields    []named `json:"issue_custom_fields"`
	CreatedOn      string  `json:"created_on"`
	UpdatedOn      string  `json:"updated_on"`
}

func (p *project) named() named { return named{p.ID, p.Name, p.Identifier} }

// projectParts are what a project includes.
const projectParts = "trackers,issue_categories,enabled_modules,time_entry_activities,issue_custom_fields"

// The states of a project.
const (
	activeProject   = 1
	closedProject   = 5
	archivedProject = 9
)

var projectStates = map[int]string{
	activeProject: "active", closedProject: "closed", archivedProject: "archived", 10: "scheduled for deletion",
}

// projectKind is how projects are read, written and compared.
func projectKind() kind[project] {
	return kind[project]{
		key: "project", path: "/projects", include: projectParts, stale: []string{"projects"},
		name:   func(p *project) string { return "project " + p.named().String() },
		is:     projectFacts,
		fields: func(p *project) []field { return p.CustomFields },
		check: func(w *write, p *project) {
			checkParts(w, p)
			namesakes(w, p)
		},
		view: func(p *project) view { return projectDetailOf(p) },
	}
}

// namesakes tells other projects that have the name that was given: Redmine takes
// it, but it names none of them from then on.
func namesakes(w *write, p *project) {
	if w.set["name"] == nil {
		return
	}
	all, err := w.s.names(w.ctx, projects(), false)
	same := those(all, func(n named) bool { return n.ID != p.ID && strings.EqualFold(n.Name, p.Name) })
	if err == nil && len(same) > 0 {
		w.notes = append(w.notes, fmt.Sprintf("These projects have the same name: %s. Use their ids or keys.", listed(same)))
	}
}

// projectFacts are what may be set of a project, as it is.
func projectFacts(p *project) map[string]any {
	facts := map[string]any{
		"name": p.Name, "identifier": p.Identifier, "description": lf(p.Description), "homepage": p.Homepage, "is_public": p.IsPublic,
		"inherit_members": p.InheritMembers, "parent_id": refOf(p.Parent), "default_version_id": refOf(p.Version), "default_assigned_to_id": refOf(p.Assignee),
		"enabled_module_names": slices.Sorted(slices.Values(p.modules())),
	}
	if len(p.Trackers) > 0 {
		facts["tracker_ids"] = idsOf(p.Trackers)
	}
	return facts
}

func (p *project) modules() []string {
	var names []string
	for _, m := range p.Modules {
		names = append(names, m.Name)
	}
	return names
}

// A projectDetail is a project as it is shown. In lists it is without texts.
type projectDetail struct {
	ID             int               `json:"id"`
	Name           string            `json:"name"`
	Identifier     string            `json:"identifier"`
	Status         string            `json:"status"`
	Public         bool              `json:"is_public"`
	Parent         *named            `json:"parent,omitempty"`
	InheritMembers bool              `json:"inherit_members,omitempty"`
	Homepage       string            `json:"homepage,omitempty"`
	Description    string            `json:"description,omitempty"`
	Version        *named            `json:"default_version,omitempty"`
	Assignee       *named            `json:"default_assignee,omitempty"`
	Fields         map[string]string `json:"custom_fields,omitempty"`
	Trackers       []named           `json:"trackers,omitempty"`
	Categories     []named           `json:"issue_categories,omitempty"`
	Modules        []string          `json:"enabled_modules,omitempty"`
	Activities     []named           `json:"time_entry_activities,omitempty"`
	IssueFields    []named           `json:"issue_custom_fields,omitempty"`
	Created        string            `json:"created_on,omitempty"`
	Updated        string            `json:"updated_on,omitempty"`
}

// projectRow is a project in a list.
func projectRow(p *project) *projectDetail {
	return &projectDetail{
		ID: p.ID, Name: p.Name, Identifier: p.Identifier, Status: projectStates[p.Status], Public: p.IsPublic, Parent: p.Parent,
		Trackers: p.Trackers, Categories: p.Categories, Activities: p.Activities, IssueFields: p.IssueFields, Modules: p.modules(),
	}
}

func projectDetailOf(p *project) *projectDetail {
	d := projectRow(p)
	d.InheritMembers, d.Homepage, d.Description = p.InheritMembers, p.Homepage, lf(p.Description)
	d.Version, d.Assignee, d.Fields = p.Version, p.Assignee, fieldsOf(p.CustomFields)
	d.Created, d.Updated = p.CreatedOn, p.UpdatedOn
	return d
}

// line is a project in a list as text, with lines of what is included.
func (d *projectDetail) line() string {
	text := fmt.Sprintf("%s [%d] | key %s", d.Name, d.ID, d.Identifier)
	if d.Status != projectStates[activeProject] {
		text += " | " + d.Status
	}
	if !d.Public {
		text += " | private"
	}
	if d.Parent != nil {
		text += " | in " + d.Parent.String()
	}
	for _, p := range d.parts() {
		text += fmt.Sprintf("\n  %s: %s", p[0], p[1])
	}
	return text
}

// parts are what is included, with labels.
func (d *projectDetail) parts() (parts [][2]string) {
	for _, p := range [][2]string{
		{"trackers", listed(d.Trackers)}, {"issue categories", listed(d.Categories)}, {"time entry activities", listed(d.Activities)},
		{"issue custom fields", listed(d.IssueFields)}, {"modules", strings.Join(d.Modules, ", ")},
	} {
		if p[1] != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

func (d *projectDetail) text() string {
	var b sheet
	fmt.Fprintf(&b, "# Project %s [%d]\n\n- key: %s\n- status: %s\n- public: %t\n", d.Name, d.ID, d.Identifier, d.Status, d.Public)
	for _, n := range []struct {
		label string
		named *named
	}{{"in", d.Parent}, {"default version", d.Version}, {"default assignee", d.Assignee}} {
		if n.named != nil {
			b.line(n.label, n.named.String())
		}
	}
	if d.InheritMembers {
		b.line("members of the parent project", "inherited")
	}
	b.line("homepage", d.Homepage)
	b.fields(d.Fields)
	for _, p := range d.parts() {
		b.line(p[0], p[1])
	}
	b.line("created", d.Created)
	b.line("updated", d.Updated)
	b.long(d.Description)
	return b.String()
}

type listProjectsInput struct {
	Status  string `json:"status,omitempty" jsonschema:"enum=active,enum=closed,enum=archived,enum=all,enum=1,enum=5,enum=9,default=all,description=Which ones. 1 is active and 5 closed and 9 archived. Redmine never lists archived ones"`
	Name    string `json:"name,omitempty" jsonschema:"maxLength=255,description=Text that the name contains"`
	Parent  string `json:"parent_id,omitempty" jsonschema:"maxLength=255,description=Project id or key or name to list only the projects directly in it"`
	Include string `json:"include,omitempty" jsonschema:"maxLength=255,description=What to add separated by commas: trackers or issue categories or enabled modules or time entry activities or issue custom fields"`
	rowSpan
}

func listProjects(s *Server) entry {
	return tool(s, "list_projects", "List projects", "List the projects that this account can see, active and closed ones, as one line each.\nThe answer has the total and the offset to continue from.", reads,
		func(ctx context.Context, in listProjectsInput) (*toolpost.Result, error) {
			query, err := projectQuery(ctx, s, &in)
			if err != nil {
				return nil, err
			}
			all, total, err := rows[project](ctx, s, "/projects.json", query, "projects", in.Offset, limitOf(in.Limit))
			if err != nil {
				return nil, explain(err, "the list of projects")
			}
			l := listing[*projectDetail]{what: "projects", key: "projects", offset: in.Offset, total: total, note: " Archived ones are never listed."}
			for i := range all {
				l.rows = append(l.rows, projectRow(&all[i]))
			}
			return l.answer(s)
		})
}

// projectQuery returns the query of a list.
func projectQuery(ctx context.Context, s *Server, in *listProjectsInput) (url.Values, error) {
	query := url.Values{"status": {listedProjects}}
	switch in.Status {
	case "active", "1":
		query.Set("status", "1")
	case "closed", "5":
		query.Set("status", "5")
	case "archived", "9":
		return nil, toolpost.Failed("Redmine never lists archived projects, not even for administrators. To restore one, call unarchive_project with its id or key; the user can find those in Redmine under Administration, Projects.")
	}
	if in.Name != "" {
		name, err := texts(nil, "~", []string{in.Name})
		if err != nil {
			return nil, err
		}
		query.Set("name", "~"+name[0])
	}
	if in.Parent != "" {
		p, err := s.project(ctx, in.Parent)
		if err != nil {
			return nil, err
		}
		query.Set("parent_id", fmt.Sprint(p.ID))
	}
	if in.Include != "" {
		include, err := includedParts(in.Include)
		if err != nil {
			return nil, err
		}
		query.Set("include", include)
	}
	return query, nil
}

// includedParts checks what to include of projects, also with spaces in the names.
func includedParts(text string) (string, error) {
	var parts []string
	for _, part := range strings.Split(strings.ToLower(text), ",") {
		parts = append(parts, strings.ReplaceAll(strings.TrimSpace(part), " ", "_"))
	}
	return included(strings.Join(parts, ","), projectParts)
}

type showProjectInput struct {
	ID      string `json:"id" jsonschema:"maxLength=255,description=Project id or key or name"`
	Include string `json:"include,omitempty" jsonschema:"maxLength=255,description=What to add separated by commas: trackers or issue categories or enabled modules or time entry activities or issue custom fields. All of them if left out; none for nothing"`
}

func showProject(s *Server) entry {
	return tool(s, "show_project", "Show a project", "Show one project with its full text.\nTrackers, categories, modules and activities come with it.", reads,
		func(ctx context.Context, in showProjectInput) (*toolpost.Result, error) {
			include, err := includedParts(in.Include)
			if err != nil {
				return nil, err
			}
			n, err := s.project(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			p, err := projectKind().read(ctx, s, n.ID, include)
			if err != nil {
				return nil, err
			}
			nameFields(ctx, s, p.ID, p.ID, p.CustomFields)
			d := projectDetailOf(p)
			return s.answer(d.text(), d)
		})
}

// subprojects are the active and closed ones below a project, at any depth.
func subprojects(ctx context.Context, s *Server, top int) ([]named, error) {
	all, _, err := rows[project](ctx, s, "/projects.json", url.Values{"status": {listedProjects}}, "projects", 0, mostNames)
	if err != nil {
		return nil, explain(err, "the list of projects")
	}
	inside := []int{top}
	var found []named
	for i := range all { // parents come before what is in them
		if p := &all[i]; p.Parent != nil && slices.Contains(inside, p.Parent.ID) {
			inside = append(inside, p.ID)
			found = append(found, p.named())
		}
	}
	return found, nil
}
