package redmine

import (
	"context"
	"net/url"
	"slices"
	"strings"

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
	return tool(s, name, "List "+what, description, reads,
		func(ctx context.Context, in listReferenceInput) (*toolpost.Result, error) {
			all, _, err := rows[value](ctx, s, src.path, url.Values{}, src.key, 0, mostRows)
			if err != nil {
				return nil, explain(err, "the list of "+what)
			}
			all = slices.DeleteFunc(all, func(v value) bool {
				return !strings.Contains(strings.ToLower(v.Name), strings.ToLower(strings.TrimSpace(in.Name)))
			})
			return answerValues(s, what, src.key, all)
		})
}

func answerValues(s *Toolset, what, key string, all []value) (*toolpost.Result, error) {
	l := listing[value]{what: what, key: key, rows: all, total: len(all)}
	return l.answer(s)
}

type listActivitiesInput struct {
	Project string `json:"project_id,omitempty" desc:"Id, key or name; default all"`
}

func listActivities(s *Toolset) entry {
	return tool(s, "list_activities", "List activities", "List the activities that time can be logged for.", reads,
		func(ctx context.Context, in listActivitiesInput) (*toolpost.Result, error) {
			src := activities()
			if in.Project == "" {
				all, _, err := rows[value](ctx, s, src.path, url.Values{}, src.key, 0, mostRows)
				if err != nil {
					return nil, explain(err, "the list of activities")
				}
				return answerValues(s, "activities", src.key, all)
			}
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			known, own, err := activitiesOf(ctx, s, p.ID)
			if err != nil {
				return nil, err
			}
			what := "activities"
			if !own {
				what = "activities of all projects, as this account is not told those of project " + p.String()
			}
			var all []value
			for _, n := range known {
				all = append(all, value{named: n})
			}
			return answerValues(s, what, src.key, all)
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

func listFields(s *Toolset) entry {
	return tool(s, "list_custom_fields", "List custom fields", "List custom fields with formats and values.\nWithout administration, only names of the fields of issues in a project.", reads,
		func(ctx context.Context, in listFieldsInput) (*toolpost.Result, error) {
			all, more, err := definitions(ctx, s, &in)
			if err != nil {
				return nil, err
			}
			l := listing[field]{what: "custom fields", key: "custom_fields", rows: all, total: len(all), note: more}
			return l.answer(s)
		})
}

func definitions(ctx context.Context, s *Toolset, in *listFieldsInput) (all []field, more string, err error) {
	me, err := s.account(ctx)
	if err != nil {
		return nil, "", err
	}
	project := named{}
	if in.Project != "" {
		if project, err = s.project(ctx, in.Project); err != nil {
			return nil, "", err
		}
	}
	if in.Project != "" && in.Kind != "" && in.Kind != "issue" {
		return nil, "", toolpost.Retry("Only custom fields of issues depend on the project. Leave out the project for the kind %s.", in.Kind)
	}
	switch {
	case me.Admin && in.Project != "":
		all, err = definedFields(ctx, s, "issue")
		return all, " They are those of all issues: Redmine does not tell which of them a project has.", err
	case me.Admin:
		all, err = definedFields(ctx, s, in.Kind)
		return all, "", err
	case in.Project == "":
		return nil, "", toolpost.Retry("Redmine shows all custom fields to administrators only. Give a project to get the fields of its issues.")
	}
	all, err = issueFields(ctx, s, project.ID, 0)
	for i, f := range all {
		all[i] = field{ID: f.ID, Name: f.Name, Kind: "issue", Multiple: f.Multiple}
	}
	return all, " They are those that an issue of the project has; other trackers may have others.", err
}

type listQueriesInput struct {
	Project string `json:"project_id,omitempty" desc:"Id, key or name; default all"`
	rowSpan
}

// A savedQuery is a saved list of issues.
type savedQuery struct {
	named
	Project int  `json:"project_id,omitempty" row:"project %s"`
	Public  bool `json:"is_public" row:"!private"`
}

func listQueries(s *Toolset) entry {
	return tool(s, "list_queries", "List saved queries", "List the saved queries of issues.", reads,
		func(ctx context.Context, in listQueriesInput) (*toolpost.Result, error) {
			all, _, err := rows[savedQuery](ctx, s, "/queries.json", url.Values{}, "queries", 0, mostNames)
			if err != nil {
				return nil, explain(err, "the list of queries")
			}
			if in.Project != "" {
				p, err := s.project(ctx, in.Project)
				if err != nil {
					return nil, err
				}
				all = slices.DeleteFunc(all, func(q savedQuery) bool { return q.Project != 0 && q.Project != p.ID })
			}
			l := listing[savedQuery]{what: "queries", key: "queries", rows: pageOf(all, in.rowSpan), offset: in.Offset, total: len(all)}
			return l.answer(s)
		})
}
