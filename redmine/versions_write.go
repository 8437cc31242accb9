package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// A versionInput is what may be set of a version, as tools are told it.
type versionInput struct {
	Status      string     `json:"status,omitempty" jsonschema:"enum=open,enum=locked,enum=closed" fill:"plain"`
	Sharing     string     `json:"sharing,omitempty" jsonschema:"enum=none,enum=descendants,enum=hierarchy,enum=tree,enum=system" fill:"plain"`
	Due         string     `json:"due_date,omitempty" desc:"Such as 2026-01-31; none clears it" fill:"date"`
	Description *string    `json:"description,omitempty" desc:"Empty clears it"`
	Wiki        *string    `json:"wiki_page_title,omitempty" desc:"Empty clears it"`
	Default     *bool      `json:"default_project_version,omitempty"`
	Fields      []setField `json:"custom_fields,omitempty"`
}

// versionKind is how versions are read, written and compared.
func versionKind() kind[version] {
	return kind[version]{
		key: "version", path: "/versions", stale: []string{"versions"},
		name: func(v *version) string { return "version " + v.String() },
		check: func(w *write, _, v *version) {
			checkDefault(w, v)
			checkPage(w, v)
		},
	}
}

// checkDefault tells whether the project has it as its default, which the
// version itself does not say.
func checkDefault(w *write, v *version) {
	asked, ok := w.set["default_project_version"].(bool)
	if !ok {
		return
	}
	p, err := projectKind().read(w.ctx, w.s, v.Project.ID, "")
	if err != nil {
		w.notes = append(w.notes, fmt.Sprintf("Whether it is the default of the project could not be read back: %v", err))
		return
	}
	is := map[string]any{"default_project_version": p.Version != nil && p.Version.ID == v.ID}
	w.wrong = append(w.wrong, unlike(map[string]any{"default_project_version": asked}, is)...)
}

// checkPage tells a page that is not there: Redmine takes any title.
func checkPage(w *write, v *version) {
	if title, _ := w.set["wiki_page_title"].(string); title == "" {
		return
	}
	err := w.s.client.get(w.ctx, wikiAt(v.Project, v.Wiki, 0)+".json", nil, &struct{}{})
	if err != nil {
		w.notes = append(w.notes, fmt.Sprintf("The wiki of project %s has no page %q yet, or this account may not see it.", v.Project, v.Wiki))
	}
}

type createVersionInput struct {
	Project string `json:"project_id" desc:"Id, key or name"`
	Name    string `json:"name" jsonschema:"minLength=1,maxLength=60" fill:"trimmed"`
	versionInput
}

func createVersion(s *Server) entry {
	return tool(s, "create_version", "Create a version", "Create a version in a project.", adds,
		func(ctx context.Context, in createVersionInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			w, of := newWrite(ctx, s, p.ID), versions(p.ID)
			w.fill(&in)
			w.custom(in.Fields, func() ([]field, error) { return likeFields(ctx, s, of.path, of.key, of.what) })
			return versionKind().create(w, strings.TrimSuffix(of.path, ".json"), "the new version in project "+p.String())
		})
}

type updateVersionInput struct {
	versionID
	Name string `json:"name,omitempty" jsonschema:"maxLength=60" fill:"trimmed"`
	versionInput
}

func updateVersion(s *Server) entry {
	return changeTool(s, versionKind, "update_version", "Change a version", "Change a version. Only what is given is changed.",
		func(w *write, in *updateVersionInput, v *version) {
			w.fill(in)
			w.custom(in.Fields, func() ([]field, error) { return v.CustomFields, nil })
		})
}

type deleteVersionInput struct {
	versionID
	confirmation
}

func deleteVersion(s *Server) entry {
	return deleteTool(s, deletedVersionKind, "delete_version", "Delete a version", "Delete a version that no issue and no file uses.",
		func(ctx context.Context, in *deleteVersionInput, v *version, r *removal) error {
			if err := v.count(ctx, s); err != nil {
				return err
			}
			if v.Issues.All > 0 {
				return toolpost.Failed("Version %s cannot be deleted: %d issues are planned for it, %d of them open. List them with list_issues and fixed_version_id %d, and move them with update_issue; or close the version.", v, v.Issues.All, v.Issues.Open, v.ID)
			}
			r.what += " of project " + v.Project.String()
			r.given, r.names = in.ID, []string{fmt.Sprint(v.ID), v.Name}
			return nil
		})
}

func deletedVersionKind() kind[version] {
	k := versionKind()
	k.explain = versionInUse
	return k
}

// versionInUse explains a refusal to delete a version, which has no reason.
func versionInUse(err error, what string) error {
	if status(err) != 422 {
		return explain(err, what)
	}
	return toolpost.Failed("Redmine refuses %s: something still uses it, such as a file, a custom field, or an issue that this account does not see.", what)
}
