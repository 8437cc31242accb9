package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// A versionInput is what may be set of a version, as tools are told it.
type versionInput struct {
	Status      string     `json:"status,omitempty" jsonschema:"enum=open,enum=locked,enum=closed,description=Locked and closed ones take no more issues"`
	Sharing     string     `json:"sharing,omitempty" jsonschema:"enum=none,enum=descendants,enum=hierarchy,enum=tree,enum=system,description=Which other projects can plan issues for it"`
	Due         string     `json:"due_date,omitempty" jsonschema:"description=Date such as 2026-01-31. Write none to clear it"`
	Description *string    `json:"description,omitempty" jsonschema:"description=Text. Empty clears it"`
	Wiki        *string    `json:"wiki_page_title,omitempty" jsonschema:"description=Wiki page about it. Empty clears it"`
	Default     *bool      `json:"default_project_version,omitempty" jsonschema:"description=Whether new issues of the project get it"`
	Fields      []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
}

// fillVersion finds what is to be set; known returns the custom fields.
func fillVersion(w *write, in *versionInput, known func() ([]field, error)) error {
	w.text("status", in.Status)
	w.text("sharing", in.Sharing)
	w.day("due_date", in.Due)
	given(w, "description", in.Description)
	given(w, "wiki_page_title", in.Wiki)
	given(w, "default_project_version", in.Default)
	w.custom(in.Fields, known)
	return w.err
}

type createVersionInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Name    string `json:"name" jsonschema:"minLength=1,maxLength=60,description=Name such as 1.2"`
	versionInput
}

func createVersion(s *Server) entry {
	return tool(s, "create_version", "Create a version", "Create a version in a project.\nThe answer is the version as Redmine has it, with what it did not take.", adds,
		func(ctx context.Context, in createVersionInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			path := versions(p.ID).path
			w := &write{s: s, ctx: ctx, project: p.ID, set: map[string]any{"name": strings.TrimSpace(in.Name)}}
			if err := fillVersion(w, &in.versionInput, func() ([]field, error) { return likeFields(ctx, s, path, "versions", "version") }); err != nil {
				return nil, err
			}
			var answer struct {
				Version named `json:"version"`
			}
			if err := s.client.send(ctx, "POST", path, map[string]any{"version": w.set}, &answer); err != nil {
				return nil, explain(err, "the new version in project "+p.String())
			}
			return toldVersion(w, answer.Version.ID, "Created")
		})
}

type updateVersionInput struct {
	versionID
	Name string `json:"name,omitempty" jsonschema:"maxLength=60,description=New name"`
	versionInput
}

func updateVersion(s *Server) entry {
	return tool(s, "update_version", "Change a version", "Change a version, such as its date, or close it. Only what is given is changed.\nThe answer says what Redmine did not take.", changes,
		func(ctx context.Context, in updateVersionInput) (*toolpost.Result, error) {
			v, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			w := &write{s: s, ctx: ctx, project: v.Project.ID, set: map[string]any{}}
			w.text("name", strings.TrimSpace(in.Name))
			if err := fillVersion(w, &in.versionInput, func() ([]field, error) { return v.CustomFields, nil }); err != nil {
				return nil, err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/versions/%d.json", v.ID), map[string]any{"version": w.set}, nil); err != nil {
				return nil, explain(err, "the change of version "+v.String())
			}
			return toldVersion(w, v.ID, "Changed")
		})
}

// toldVersion answers with the version as it is now, and with what is not as it
// was asked.
func toldVersion(w *write, id int, done string) (*toolpost.Result, error) {
	w.s.forget("versions")
	now, err := readVersion(w.ctx, w.s, id)
	if err != nil {
		return nil, toolpost.Failed("%s version %d, but it cannot be read back: %v", done, id, err)
	}
	is := map[string]any{
		"name": now.Name, "status": now.Status, "sharing": now.Sharing, "due_date": now.Due,
		"description": lf(now.Description), "wiki_page_title": now.Wiki,
	}
	if w.set["default_project_version"] != nil {
		p, err := readProject(w.ctx, w.s, now.Project.ID, "")
		if err != nil {
			return nil, err
		}
		is["default_project_version"] = p.Version != nil && p.Version.ID == id
	}
	wrong := append(unlike(w.set, is), unset(w.fields, now.CustomFields)...)
	answer := struct {
		Version *versionDetail `json:"version"`
		Ignored []string       `json:"not_taken,omitempty"`
	}{versionDetailOf(now), wrong}
	text := outcome(fmt.Sprintf("%s version %s", done, now.named), "this account may not set it", wrong)
	return w.s.answer(text+"\n"+answer.Version.text(), answer)
}

type deleteVersionInput struct {
	versionID
	Confirm bool `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteVersion(s *Server) entry {
	return tool(s, "delete_version", "Delete a version", "Delete a version that no issue and no file uses, for good.\nWithout confirm the answer shows what it is, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteVersionInput) (*toolpost.Result, error) {
			v, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			d := versionDetailOf(v)
			if err := d.count(ctx, s); err != nil {
				return nil, err
			}
			if *d.Issues > 0 {
				return nil, toolpost.Failed("Version %s cannot be deleted: %d issues are planned for it, %d of them open. List them with list_issues and fixed_version_id %d, and move them with update_issue; or close the version.", v, *d.Issues, *d.Open, v.ID)
			}
			if !in.Confirm {
				return s.done("Nothing is deleted yet. This would go:\n\n"+d.text()+"\nCall again with confirm true to delete it.", map[string]any{"deleted": nil, "version": d})
			}
			if err := whole(in.ID, "version "+v.String(), fmt.Sprint(v.ID), v.Name); err != nil {
				return nil, err
			}
			err = s.client.send(ctx, "DELETE", fmt.Sprintf("/versions/%d.json", v.ID), nil, nil)
			switch {
			case status(err) == 422:
				return nil, toolpost.Failed("Redmine refuses to delete version %s: something still uses it, such as a file, a custom field, or an issue that this account does not see.", v)
			case err != nil:
				return nil, explain(err, "the deletion of version "+v.String())
			}
			s.forget("versions")
			return s.done(fmt.Sprintf("Deleted version %s of project %s.", v, v.Project), map[string]any{"deleted": v.ID})
		})
}
