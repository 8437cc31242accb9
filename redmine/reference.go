package redmine

import (
	"context"
	"slices"

	"github.com/toolpost/toolpost"
)

func referenceTools(s *Toolset) []entry {
	return []entry{
		listReference(s, "list_issue_statuses", "statuses", "List the issue statuses and which are closed.", statuses()),
		listReference(s, "list_trackers", "trackers", "List the trackers, the types of issues.", trackers()),
		listReference(s, "list_priorities", "priorities", "List the issue priorities.", priorities()),
		listActivities(s),
		listReference(s, "list_document_categories", "document categories", "List the categories of documents.",
			source{"document category", "/enumerations/document_categories.json", "document_categories"}),
		listReference(s, "list_roles", "roles", "List the roles of members.", roles()),
		showRole(s), listFields(s), listQueries(s),
	}
}

// A value is one of a fixed set, such as a status, with what is known of it.
type value struct {
	named
	Closed      bool     `json:"is_closed,omitempty" row:"closed"`
	Default     bool     `json:"is_default,omitempty" row:"default"`
	Active      *active  `json:"active,omitempty" row:"%s"`
	First       *named   `json:"default_status,omitempty" row:"begins as %s"`
	Fields      []string `json:"enabled_standard_fields,omitempty" row:"fields: %s"`
	Description string   `json:"description,omitempty" row:"%s"`
}

// active is whether a value can be chosen; it can if Redmine does not send it.
type active bool

func (a active) String() string {
	if a {
		return ""
	}
	return "not active"
}

type listReferenceInput struct {
	Name string `json:"name,omitempty" desc:"Part of it"`
}

// listReference is the tool that lists a fixed set.
func listReference(s *Toolset, name, what, description string, src source) entry {
	return listTool(s, name, "List "+what, description, what, src.key,
		func(ctx context.Context, in listReferenceInput, _ named) (*listing[value], error) {
			all, err := readAll[value](ctx, s, src.path, src.key, "the list of "+what)
			return every(withPart(all, in.Name, value.name)), err
		})
}

// every is a list that is shown whole.
func every[R any](all []R) *listing[R] { return &listing[R]{rows: all, total: len(all)} }

type listActivitiesInput struct {
	optionalProject
}

func listActivities(s *Toolset) entry {
	return listTool(s, "list_activities", "List activities", "List the activities that time can be logged for.", "activities", activities().key,
		func(ctx context.Context, in listActivitiesInput, p named) (*listing[value], error) {
			if p.ID == 0 {
				all, err := readAll[value](ctx, s, activities().path, activities().key, "the list of activities")
				return every(all), err
			}
			known, own, err := activitiesOf(ctx, s, p.ID)
			var all []value
			for _, n := range known {
				all = append(all, value{named: n})
			}
			l := every(all)
			if !own {
				l.what = "activities of all projects, as Redmine does not show this account those of project " + p.String()
			}
			return l, err
		})
}

// A role is what its members may do.
type role struct {
	named
	Assignable  bool     `json:"assignable" text:"gets issues assigned,always"`
	Issues      string   `json:"issues_visibility" text:"sees issues"`
	Time        string   `json:"time_entries_visibility" text:"sees time"`
	Users       string   `json:"users_visibility" text:"sees users"`
	Permissions []string `json:"permissions" text:"may"`
}

func (r *role) title() string { return "Role " + r.String() }

// roleResource is how roles are read.
func roleResource() resource[role] { return resource[role]{key: "role", path: "/roles"} }

type roleID struct {
	ID string `json:"id" desc:"Name or id"`
}

func (in *roleID) find(ctx context.Context, s *Toolset) (*role, error) {
	n, ok := number(in.ID) // those of outsiders are in no list
	if !ok {
		found, err := s.find(ctx, roles(), in.ID)
		if err != nil {
			return nil, err
		}
		n = found.ID
	}
	return roleResource().read(ctx, s, n, "")
}

func showRole(s *Toolset) entry {
	return showTool[roleID, role](s, "show_role", "Show a role", "Show what a role may do and see.")
}

type listFieldsInput struct {
	Project string `json:"project_id,omitempty" desc:"Id, key or name; needed without administration"`
	Kind    string `json:"kind,omitempty" jsonschema:"enum=issue,enum=project,enum=user,enum=group,enum=time_entry,enum=version,enum=document,enum=issue_priority,enum=time_entry_activity,enum=document_category" desc:"Default all"`
}

func (in listFieldsInput) ifProject() string { return in.Project }

func listFields(s *Toolset) entry {
	return listTool(s, "list_custom_fields", "List custom fields", "List custom fields with formats and values.\nWithout administration, only names of the fields of issues in a project.", "custom fields", "custom_fields",
		func(ctx context.Context, in listFieldsInput, p named) (*listing[field], error) {
			all, more, err := definitions(ctx, s, p, in.Kind)
			l := every(all)
			l.note = more
			return l, err
		})
}

func definitions(ctx context.Context, s *Toolset, p named, kind string) (all []field, more string, err error) {
	me, err := s.account(ctx)
	switch {
	case err != nil:
		return nil, "", err
	case p.ID > 0 && kind != "" && kind != "issue":
		return nil, "", toolpost.Retry("Only custom fields of issues depend on the project. Leave out the project for the kind %s.", kind)
	case me.Admin && p.ID > 0:
		all, err = definedFields(ctx, s, "issue")
		return all, " They are those of all issues: Redmine does not tell which of them a project has.", err
	case me.Admin:
		all, err = definedFields(ctx, s, kind)
		return all, "", err
	case p.ID == 0:
		return nil, "", toolpost.Retry("Redmine shows all custom fields to administrators only. Give a project to get the fields of its issues.")
	}
	all, err = issueFields(ctx, s, p.ID, 0)
	for i, f := range all {
		all[i] = field{ID: f.ID, Name: f.Name, Kind: "issue", Multiple: f.Multiple}
	}
	return all, " They are those that an issue of the project has; other trackers may have others.", err
}

type listQueriesInput struct {
	optionalProject
	rowSpan
}

// A savedQuery is a saved list of issues.
type savedQuery struct {
	named
	Project int  `json:"project_id,omitempty" row:"project %s"`
	Public  bool `json:"is_public" row:"!private"`
}

func listQueries(s *Toolset) entry {
	return listTool(s, "list_queries", "List saved queries", "List the saved queries of issues.", "queries", "queries",
		func(ctx context.Context, in listQueriesInput, p named) (*listing[savedQuery], error) {
			all, err := readAll[savedQuery](ctx, s, "/queries.json", "queries", "the list of queries")
			all = slices.DeleteFunc(all, func(q savedQuery) bool { return p.ID > 0 && q.Project != 0 && q.Project != p.ID })
			return whole(all, in.rowSpan), err
		})
}
