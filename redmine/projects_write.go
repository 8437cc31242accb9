package redmine

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A projectInput is what the arguments of a tool may set of a project.
type projectInput struct {
	Description    *string    `json:"description,omitempty" jsonschema:"maxLength=1000000" desc:"Empty clears it"`
	Homepage       *string    `json:"homepage,omitempty" desc:"Empty clears it"`
	IsPublic       *bool      `json:"is_public,omitempty"`
	Parent         string     `json:"parent_id,omitempty" desc:"Id, key, name or none"`
	InheritMembers *bool      `json:"inherit_members,omitempty"`
	Trackers       []string   `json:"tracker_ids,omitempty" desc:"All of them, or none"`
	Modules        []string   `json:"enabled_module_names,omitempty" desc:"All of them such as issue tracking, wiki or boards, or none"`
	IssueFields    []string   `json:"issue_custom_field_ids,omitempty" desc:"All of them by name or id, or none"`
	Version        string     `json:"default_version_id,omitempty" desc:"Name or id; none clears it"`
	Assignee       string     `json:"default_assigned_to_id,omitempty" desc:"Gets new issues; id, name, me or none"`
	Fields         []setField `json:"custom_fields,omitempty"`
}

type createProjectInput struct {
	Name string `json:"name" jsonschema:"minLength=1" fill:"trimmed"`
	Key  string `json:"identifier" jsonschema:"minLength=1,maxLength=100" desc:"Key of small letters, digits and dashes; can never be changed"`
	projectInput
}

func createProject(s *Toolset) entry {
	return tool(s, "create_project", "Create a project", "Create a project.\nThe answer lists what Redmine did not save.", adds,
		func(ctx context.Context, in createProjectInput) (*toolpost.Result, error) {
			w := newWrite(ctx, s, 0)
			w.set["identifier"] = in.Key
			fillProject(w, &in, &in.projectInput)
			return projectEndpoint().create(w, "/projects", "the new project "+in.Name)
		})
}

type updateProjectInput struct {
	projectInputID
	Name string `json:"name,omitempty" fill:"trimmed"`
	Key  string `json:"identifier,omitempty" desc:"Cannot be changed"`
	projectInput
}

func (in *updateProjectInput) find(ctx context.Context, s *Toolset) (*project, error) {
	p, err := s.project(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return projectEndpoint().read(ctx, s, p.ID, projectParts)
}

func updateProject(s *Toolset) entry {
	return changeTool(s, projectEndpoint, "update_project", "Change a project", "Change a project. Only what is given is changed.\nThe answer lists what Redmine did not save.",
		func(w *write, in *updateProjectInput, before *project) {
			if in.Key != "" && in.Key != before.Identifier {
				w.err = toolpost.Failed.Errorf("The key of a project cannot be changed: project %s keeps %q. Nothing was changed; call again without identifier.", before.idName(), before.Identifier)
				return
			}
			fillProject(w, in, &in.projectInput)
		})
}

// fillProject finds the ids of what is to be set.
func fillProject(w *write, arguments any, in *projectInput) {
	w.fill(arguments)
	set(w, "parent_id", in.Parent, func(text string) (idRef, error) {
		n, err := w.s.project(w.ctx, text)
		return idRef{n}, err
	})
	setList(w, "tracker_ids", in.Trackers, func(text string) (int, error) {
		n, err := w.s.find(w.ctx, trackers(), text)
		return n.ID, err
	})
	setIssueFields(w, in.IssueFields)
	setList(w, "enabled_module_names", in.Modules, func(text string) (string, error) { return module(w, text) })
	setInside(w, "default_version_id", in.Version, func() { w.setNamed("default_version_id", in.Version, versions(w.project)) })
	setInside(w, "default_assigned_to_id", in.Assignee, func() { w.person("default_assigned_to_id", in.Assignee) })
	w.custom(in.Fields, func() ([]field, error) { return likeFields(w.ctx, w.s, "/projects.json", "projects", "project") })
}

// setInside sets what only a project that exists can have.
func setInside(w *write, name, text string, put func()) {
	switch {
	case text == "" || w.err != nil:
	case w.before == nil && !strings.EqualFold(text, none):
		w.err = toolpost.Retry.Errorf("A new project has no versions or members yet: create it without %s, then add them and update it.", name)
	case w.before == nil:
		w.set[name] = ""
	default:
		put()
	}
}

// knownModules are those of Redmine itself; plug-ins add more.
var knownModules = strings.Fields("issue_tracking time_tracking news documents files wiki repository boards calendar gantt")

// module finds the name of a module.
func module(w *write, text string) (string, error) {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_")
	if name == "forums" {
		name = "boards" // as Redmine shows it
	}
	if slices.Contains(knownModules, name) || usesModule(w, name) {
		return name, nil
	}
	return "", toolpost.Retry.Errorf("There is no module %q. Choose from: %s, and the modules of plug-ins that some project uses.", text, strings.Join(knownModules, ", "))
}

// usesModule reports whether a project that this account sees has a module.
// Redmine takes any name.
func usesModule(w *write, module string) bool {
	query := url.Values{"status": {listedProjects}, "include": {"enabled_modules"}}
	all, _, err := rows[project](w.ctx, w.s, "/projects.json", query, "projects", 0, maxRows)
	return err == nil && slices.ContainsFunc(all, func(p project) bool {
		return slices.Contains(p.Modules, module)
	})
}

// setIssueFields sets the custom fields that the issues of the project have.
func setIssueFields(w *write, texts []string) {
	var all []idName
	if len(texts) > 0 && w.err == nil {
		var fields []field
		fields, w.err = issueFields(w.ctx, w.s, w.project, 0)
		for _, f := range fields {
			all = append(all, idName{ID: f.ID, Name: f.Name})
		}
	}
	setList(w, "issue_custom_field_ids", texts, func(text string) (int, error) {
		n, err := matchName("custom field", text, all)
		return n.ID, err
	})
}

// checkParts compares what Redmine may not return: no trackers without the module of
// issues, and from 6.1.4 on neither them nor the custom fields of issues to who does
// not see issues there. From 5.1 on the fields for all projects are among the fields.
func checkParts(w *write, now *project) {
	asked, _ := w.set["issue_custom_field_ids"].([]int)
	trackers, _ := w.set["tracker_ids"].([]int)
	is := idsOf(now.IssueFields)
	switch {
	case now.IssueFields != nil && slices.ContainsFunc(asked, func(id int) bool { return !slices.Contains(is, id) }):
		w.wrong = append(w.wrong, fmt.Sprintf("issue_custom_field_ids is %v, not %v", is, asked))
	case now.IssueFields == nil && len(asked) > 0, len(now.Trackers) == 0 && len(trackers) > 0:
		w.notes = append(w.notes, "It is not known whether Redmine saved the trackers and the custom fields of issues: this account cannot see issues there, or their module is switched off.")
	}
}
