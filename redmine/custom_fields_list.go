package redmine

import (
	"context"

	"github.com/toolpost/toolpost"
)

type listFieldsInput struct {
	Project string `json:"project_id,omitempty" desc:"Id, key or name; needed without administration"`
	Kind    string `json:"kind,omitempty" jsonschema:"enum=issue,enum=project,enum=user,enum=group,enum=time_entry,enum=version,enum=document,enum=issue_priority,enum=time_entry_activity,enum=document_category" desc:"Default all"`
}

func (in listFieldsInput) ifProject() string { return in.Project }

func listFields(s *Toolset) entry {
	return listTool(s, "list_custom_fields", "List custom fields", "List custom fields with formats and values.\nWithout administration, only names of the fields of issues in a project.", "custom fields", "custom_fields",
		func(ctx context.Context, in listFieldsInput, p idName) (*listing, error) {
			all, more, err := definitions(ctx, s, p, in.Kind)
			l := every(all)
			l.note = more
			return l, err
		})
}

func definitions(ctx context.Context, s *Toolset, p idName, kind string) (all []field, more string, err error) {
	me, err := s.account(ctx)
	switch {
	case err != nil:
		return nil, "", err
	case p.ID > 0 && kind != "" && kind != "issue":
		return nil, "", toolpost.Retry.Errorf("Only custom fields of issues depend on the project. Leave out the project for the kind %s.", kind)
	case me.Admin && p.ID > 0:
		all, err = definedFields(ctx, s, "issue")
		return all, " They are those of all issues: Redmine does not tell which of them a project has.", err
	case me.Admin:
		all, err = definedFields(ctx, s, kind)
		return all, "", err
	case p.ID == 0:
		return nil, "", toolpost.Retry.Errorf("Redmine shows all custom fields to administrators only. Give a project to get the fields of its issues.")
	}
	all, err = issueFields(ctx, s, p.ID, 0)
	for i, f := range all {
		all[i] = field{ID: f.ID, Name: f.Name, Kind: "issue", Multiple: f.Multiple}
	}
	return all, " They are those that an issue of the project has; other trackers may have others.", err
}
