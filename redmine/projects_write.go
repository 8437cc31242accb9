package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A projectInput is what may be set of a project, as tools are told it.
type projectInput struct {
	Description    *string    `json:"description,omitempty" jsonschema:"description=Full text. Empty clears it"`
	Homepage       *string    `json:"homepage,omitempty" jsonschema:"description=Web address. Empty clears it"`
	IsPublic       *bool      `json:"is_public,omitempty" jsonschema:"description=Whether everybody sees it"`
	Parent         string     `json:"parent_id,omitempty" jsonschema:"description=Project id or key or name that it is in. Write none for none"`
	InheritMembers *bool      `json:"inherit_members,omitempty" jsonschema:"description=Whether the members of the parent project are members of it"`
	Trackers       []string   `json:"tracker_ids,omitempty" jsonschema:"description=All its trackers by name or id"`
	Modules        []string   `json:"enabled_module_names,omitempty" jsonschema:"description=All its modules such as issue tracking or time tracking or wiki or news or boards"`
	IssueFields    []string   `json:"issue_custom_field_ids,omitempty" jsonschema:"description=All custom fields of its issues by name or id. Those for all projects need not be given"`
	Version        string     `json:"default_version_id,omitempty" jsonschema:"description=Version of new issues by name or id. Write none to clear it"`
	Assignee       string     `json:"default_assigned_to_id,omitempty" jsonschema:"description=Person who gets new issues by id or name or me. Write none to clear it"`
	Fields         []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields of the project to set by name or id"`
}

type createProjectInput struct {
	Name string `json:"name" jsonschema:"minLength=1,maxLength=255,description=Name for people"`
	Key  string `json:"identifier" jsonschema:"minLength=1,maxLength=100,description=Key in addresses. Small letters and digits and dashes. It can never be changed"`
	projectInput
}

func createProject(s *Server) entry {
	return tool(s, "create_project", "Create a project", "Create a project. Names are taken as well as ids.\nThe answer is the project as Redmine has it, with what it did not take.", adds,
		func(ctx context.Context, in createProjectInput) (*toolpost.Result, error) {
			w := &projectWrite{write: write{s: s, ctx: ctx, set: map[string]any{"name": strings.TrimSpace(in.Name), "identifier": in.Key}}}
			if err := w.fill(&in.projectInput); err != nil {
				return nil, err
			}
			var answer struct {
				Project named `json:"project"`
			}
			if err := s.client.send(ctx, "POST", "/projects.json", map[string]any{"project": w.set}, &answer); err != nil {
				return nil, explain(err, "the new project "+in.Name)
			}
			return w.told(answer.Project.ID, "Created")
		})
}

type updateProjectInput struct {
	ID   string `json:"id" jsonschema:"description=Project id or key or name"`
	Name string `json:"name,omitempty" jsonschema:"maxLength=255,description=New name for people"`
	Key  string `json:"identifier,omitempty" jsonschema:"description=Key in addresses. It cannot be changed so leave it out"`
	projectInput
}

func updateProject(s *Server) entry {
	return tool(s, "update_project", "Change a project", "Change a project. Only what is given is changed. Names are taken as well as ids.\nThe key of a project cannot be changed.\nThe answer says what Redmine did not take.", changes,
		func(ctx context.Context, in updateProjectInput) (*toolpost.Result, error) {
			n, err := s.project(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			before, err := readProject(ctx, s, n.ID, "enabled_modules")
			if err != nil {
				return nil, err
			}
			if in.Key != "" && in.Key != before.Identifier {
				return nil, toolpost.Failed("The key of a project cannot be changed: project %s keeps %q. Nothing was changed; call again without identifier.", n, before.Identifier)
			}
			w := &projectWrite{write: write{s: s, ctx: ctx, project: n.ID, set: map[string]any{}}, before: before}
			w.text("name", strings.TrimSpace(in.Name))
			if err := w.fill(&in.projectInput); err != nil {
				return nil, err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/projects/%d.json", n.ID), map[string]any{"project": w.set}, nil); err != nil {
				return nil, explain(err, "the change of project "+n.String())
			}
			return w.told(n.ID, "Changed")
		})
}

// A projectWrite is a change of a project.
type projectWrite struct {
	write
	before *project // nil for a new one
}

// fill finds the ids of what is to be set.
func (w *projectWrite) fill(in *projectInput) error {
	given(&w.write, "description", in.Description)
	given(&w.write, "homepage", in.Homepage)
	given(&w.write, "is_public", in.IsPublic)
	given(&w.write, "inherit_members", in.InheritMembers)
	w.parent(in.Parent)
	w.several("tracker_ids", in.Trackers, "tracker", func() ([]named, error) { return w.s.names(w.ctx, trackers(), false) })
	w.several("issue_custom_field_ids", in.IssueFields, "custom field", w.issueFields)
	w.modules(in.Modules)
	w.inside("default_version_id", in.Version, func() (named, error) { return w.s.find(w.ctx, versions(w.project), in.Version) })
	w.inside("default_assigned_to_id", in.Assignee, func() (named, error) { return w.s.person(w.ctx, w.project, in.Assignee) })
	w.custom(in.Fields, w.known)
	return w.err
}

func (w *projectWrite) parent(text string) {
	switch {
	case text == "" || w.err != nil:
	case strings.EqualFold(text, none):
		w.set["parent_id"] = ""
	default:
		n, err := w.s.project(w.ctx, text)
		w.put("parent_id", n.ID, err)
	}
}

// several finds names, in the order of their ids.
func (w *projectWrite) several(name string, texts []string, what string, all func() ([]named, error)) {
	if len(texts) == 0 || w.err != nil {
		return
	}
	known, err := all()
	var found []int
	for _, text := range texts {
		if err == nil {
			var n named
			n, err = pick(what, text, known)
			found = append(found, n.ID)
		}
	}
	slices.Sort(found)
	w.put(name, slices.Compact(found), err)
}

// inside finds what only a project that exists can have.
func (w *projectWrite) inside(name, text string, find func() (named, error)) {
	switch {
	case text == "" || w.err != nil:
	case strings.EqualFold(text, none):
		w.set[name] = ""
	case w.before == nil:
		w.err = toolpost.Retry("A new project has no versions or members yet: create it without %s, then add them and update it.", name)
	default:
		n, err := find()
		w.put(name, n.ID, err)
	}
}

// knownModules are those of Redmine itself; plug-ins add more.
var knownModules = strings.Fields("issue_tracking time_tracking news documents files wiki repository boards calendar gantt")

func (w *projectWrite) modules(texts []string) {
	if len(texts) == 0 || w.err != nil {
		return
	}
	var found []string
	for _, text := range texts {
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_")
		if name == "forums" {
			name = "boards" // as Redmine shows it
		}
		if !slices.Contains(knownModules, name) && !w.elsewhere(name) {
			w.put("", nil, toolpost.Retry("There is no module %q. There are: %s, and those of plug-ins that some project has.", text, strings.Join(knownModules, ", ")))
			return
		}
		found = append(found, name)
	}
	slices.Sort(found)
	w.set["enabled_module_names"] = slices.Compact(found)
}

// elsewhere says whether a project that this account sees has a module. Redmine
// takes any name.
func (w *projectWrite) elsewhere(module string) bool {
	query := url.Values{"status": {listedProjects}, "include": {"enabled_modules"}}
	all, _, err := rows[project](w.ctx, w.s, "/projects.json", query, "projects", 0, mostRows)
	return err == nil && slices.ContainsFunc(all, func(p project) bool {
		return slices.ContainsFunc(p.Modules, func(m named) bool { return m.Name == module })
	})
}

// issueFields are the custom fields that the issues of the project may have.
func (w *projectWrite) issueFields() ([]named, error) {
	fields, err := issueFields(w.ctx, w.s, w.project, 0)
	var all []named
	for _, f := range fields {
		all = append(all, named{ID: f.ID, Name: f.Name})
	}
	return all, err
}

// known are the custom fields of projects: all have the same ones.
func (w *projectWrite) known() ([]field, error) {
	if w.before != nil {
		return w.before.CustomFields, nil
	}
	return likeFields(w.ctx, w.s, "/projects.json", "projects", "project")
}

// likeFields are the custom fields that the first of a list has, or all of a kind
// for administrators if there is none.
func likeFields(ctx context.Context, s *Server, path, key, kind string) ([]field, error) {
	type record struct {
		Fields []field `json:"custom_fields"`
	}
	some, _, err := rows[record](ctx, s, path, url.Values{}, key, 0, 1)
	if err != nil {
		return nil, explain(err, "a "+kind+", to learn its custom fields")
	}
	if len(some) > 0 {
		return some[0].Fields, nil
	}
	me, err := s.account(ctx)
	if err != nil || !me.Admin {
		return nil, err
	}
	return definedFields(ctx, s, kind)
}

// told answers with the project as it is now, and with what is not as it was
// asked.
func (w *projectWrite) told(id int, done string) (*toolpost.Result, error) {
	w.s.forget("projects")
	now, err := readProject(w.ctx, w.s, id, projectParts)
	if err != nil {
		return nil, toolpost.Failed("%s project %d, but it cannot be read back: %v", done, id, err)
	}
	wrong := append(unlike(w.set, projectFacts(now)), unset(w.fields, now.CustomFields)...)
	answer := struct {
		Project *projectDetail `json:"project"`
		Ignored []string       `json:"not_taken,omitempty"`
	}{projectDetailOf(now), wrong}
	text := outcome(fmt.Sprintf("%s project %s", done, now.named()), "this account may not set it", wrong)
	return w.s.answer(text+"\n"+answer.Project.text(), answer)
}

// projectFacts are what may be set of a project, as it is.
func projectFacts(p *project) map[string]any {
	id := func(n *named) any {
		if n == nil {
			return ""
		}
		return n.ID
	}
	ids := func(all []named) []int {
		var found []int
		for _, n := range all {
			found = append(found, n.ID)
		}
		slices.Sort(found)
		return found
	}
	var modules []string
	for _, m := range p.Modules {
		modules = append(modules, m.Name)
	}
	slices.Sort(modules)
	return map[string]any{
		"name": p.Name, "identifier": p.Identifier, "description": lf(p.Description), "homepage": p.Homepage, "is_public": p.IsPublic,
		"inherit_members": p.InheritMembers, "parent_id": id(p.Parent), "default_version_id": id(p.Version), "default_assigned_to_id": id(p.Assignee),
		"tracker_ids": ids(p.Trackers), "enabled_module_names": modules, "issue_custom_field_ids": ids(p.IssueFields),
	}
}
