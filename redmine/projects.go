package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func projectTools(s *Toolset) []entry {
	return []entry{
		listProjects(s), showProject(s), createProject(s), updateProject(s),
		archiveProject(s), unarchiveProject(s), closeProject(s), reopenProject(s), deleteProject(s),
		listProjectStatuses(s),
		listMemberships(s), createMembership(s), updateMembership(s), deleteMembership(s),
	}
}

// A project has issues, members, a wiki and so on. In lists it has no texts.
type project struct {
	ID             int            `json:"id"`
	Name           string         `json:"name" set:"name"`
	Identifier     string         `json:"identifier" text:"key" row:"key %s" set:"identifier"`
	Status         projectStatus  `json:"status" text:"status" row:"%s"`
	IsPublic       bool           `json:"is_public" text:"public,always" row:"!private" set:"is_public"`
	Parent         *idName        `json:"parent,omitempty" text:"in" row:"in %s" set:"parent_id"`
	Version        *idName        `json:"default_version,omitempty" text:"default version" set:"default_version_id"`
	Assignee       *idName        `json:"default_assignee,omitempty" text:"default assignee" set:"default_assigned_to_id"`
	InheritMembers inherited      `json:"inherit_members,omitempty" text:"members of the parent project" set:"inherit_members"`
	Homepage       string         `json:"homepage,omitempty" text:"homepage" set:"homepage"`
	CustomFields   customFields   `json:"custom_fields,omitzero"`
	Trackers       []idName       `json:"trackers,omitempty" text:"trackers" row:"\n  trackers: %s" set:"tracker_ids,omitempty"`
	Categories     []idName       `json:"issue_categories,omitempty" text:"issue categories" row:"\n  issue categories: %s"`
	Activities     []idName       `json:"time_entry_activities,omitempty" text:"time entry activities" row:"\n  time entry activities: %s"`
	IssueFields    []idName       `json:"issue_custom_fields,omitempty" text:"issue custom fields" row:"\n  issue custom fields: %s"`
	Modules        projectModules `json:"enabled_modules,omitempty" text:"modules" row:"\n  modules: %s" set:"enabled_module_names"`
	CreatedOn      timestamp      `json:"created_on,omitempty" text:"created"`
	UpdatedOn      timestamp      `json:"updated_on,omitempty" text:"updated"`
	Description    longText       `json:"description,omitempty" set:"description"`
}

func (p *project) idName() idName { return idName{p.ID, p.Name, p.Identifier} }

func (p *project) String() string { return p.idName().String() }

func (p *project) title() string { return "Project " + p.idName().String() }

// projectParts are what a project includes.
const projectParts = "trackers,issue_categories,enabled_modules,time_entry_activities,issue_custom_fields"

// The states of a project.
const (
	activeProject   = 1
	closedProject   = 5
	archivedProject = 9
)

// A projectStatus is the state of a project.
type projectStatus int

func (n projectStatus) String() string {
	return map[projectStatus]string{
		activeProject: "active", closedProject: "closed", archivedProject: "archived", 10: "scheduled for deletion",
	}[n]
}

// IsZero reports whether lists leave the state out.
func (n projectStatus) IsZero() bool { return n == activeProject }

// MarshalText implements [encoding.TextMarshaler].
func (n projectStatus) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// inherited reports whether a project has the members of its parent.
type inherited bool

func (inherited) String() string { return "inherited" }

// projectModules are the names of the modules that a project uses.
type projectModules []string

// UnmarshalJSON implements [json.Unmarshaler].
func (m *projectModules) UnmarshalJSON(data []byte) error {
	var all []idName
	err := json.Unmarshal(data, &all)
	*m = projectModules{}
	for _, one := range all {
		*m = append(*m, oneLine(one.Name))
	}
	return err
}

func (m projectModules) String() string { return strings.Join(m, ", ") }

// projectEndpoint is how projects are read, written and compared.
func projectEndpoint() endpoint[project] {
	return endpoint[project]{
		collection: collection{key: "project", path: "/projects", include: projectParts, stale: []string{"projects"}},
		name:       func(p *project) string { return "project " + p.idName().String() },
		check: func(w *write, _, p *project) {
			checkParts(w, p)
			namesakes(w, p)
		},
	}
}

// namesakes notes other projects that have the name that was given: Redmine takes
// it, but it names none of them from then on.
func namesakes(w *write, p *project) {
	if w.set["name"] == nil {
		return
	}
	all, err := w.s.names(w.ctx, projects(), false)
	same := selectNamed(all, func(n idName) bool { return n.ID != p.ID && strings.EqualFold(n.Name, p.Name) })
	if err == nil && len(same) > 0 {
		w.notes = append(w.notes, fmt.Sprintf("These projects have the same name: %s. Use their ids or keys.", listNames(same)))
	}
}

// row leaves of a project what a list shows.
func (p *project) row() *project {
	p.InheritMembers, p.Homepage, p.Description, p.Version, p.Assignee, p.CustomFields = false, "", "", nil, nil, nil
	p.CreatedOn, p.UpdatedOn = "", ""
	return p
}

type listProjectsInput struct {
	Status  string `json:"status,omitempty" jsonschema:"enum=active,enum=closed,enum=archived,enum=all,enum=1,enum=5,enum=9,default=all"`
	Name    string `json:"name,omitempty" desc:"Part of it"`
	Parent  string `json:"parent_id,omitempty" desc:"Id, key or name"`
	Include string `json:"include,omitempty" desc:"Some of trackers,issue categories,enabled modules,time entry activities,issue custom fields"`
	rowSpan
}

func listProjects(s *Toolset) entry {
	return listTool(s, "list_projects", "List projects", "List the projects that you can see.", "projects", "projects",
		func(ctx context.Context, in listProjectsInput, _ idName) (*listing, error) {
			query, err := projectQuery(ctx, s, &in)
			if err != nil {
				return nil, err
			}
			all, total, err := rows[project](ctx, s, "/projects.json", query, "projects", in.Offset, in.most())
			for i := range all {
				all[i].row()
			}
			l := newListing(all, in.Offset, total)
			l.note = " Archived ones are never listed."
			return l, explain(err, "the list of projects")
		})
}

// projectQuery returns the query of a list.
func projectQuery(ctx context.Context, s *Toolset, in *listProjectsInput) (url.Values, error) {
	query := url.Values{"status": {listedProjects}}
	switch in.Status {
	case "active", "1":
		query.Set("status", "1")
	case "closed", "5":
		query.Set("status", "5")
	case "archived", "9":
		return nil, toolpost.Failed.Errorf("Redmine never lists archived projects, not even for administrators. To restore one, call unarchive_project with its id or key; the user can find those in Redmine under Administration, Projects.")
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
	return checkIncludes(strings.Join(parts, ","), projectParts)
}

type showProjectInput struct {
	ID      string `json:"id" desc:"Id, key or name"`
	Include string `json:"include,omitempty" desc:"Some of trackers,issue categories,enabled modules,time entry activities,issue custom fields; all by default, or none"`
}

func (in *showProjectInput) find(ctx context.Context, s *Toolset) (*project, error) {
	include, err := includedParts(in.Include)
	if err != nil {
		return nil, err
	}
	p, err := s.project(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return projectEndpoint().read(ctx, s, p.ID, include)
}

func showProject(s *Toolset) entry {
	return showTool[showProjectInput, project](s, "show_project", "Show a project", "Show a project with its text, trackers, categories, modules and activities.")
}

// subprojects are the active and closed ones below a project, at any depth.
func subprojects(ctx context.Context, s *Toolset, top int) ([]idName, error) {
	all, _, err := rows[project](ctx, s, "/projects.json", url.Values{"status": {listedProjects}}, "projects", 0, maxNames)
	if err != nil {
		return nil, explain(err, "the list of projects")
	}
	inside := []int{top}
	var found []idName
	for i := range all { // parents come before what is in them
		if p := &all[i]; p.Parent != nil && slices.Contains(inside, p.Parent.ID) {
			inside = append(inside, p.ID)
			found = append(found, p.idName())
		}
	}
	return found, nil
}
