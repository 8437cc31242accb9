package redmine

import (
	"context"
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
	idName
	Closed      bool     `json:"is_closed,omitempty" row:"closed"`
	Default     bool     `json:"is_default,omitempty" row:"default"`
	Active      *active  `json:"active,omitempty" row:"%s"`
	First       *idName  `json:"default_status,omitempty" row:"begins as %s"`
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
		func(ctx context.Context, in listReferenceInput, _ idName) (*listing, error) {
			all, err := readAll[value](ctx, s, src.path, src.key, "the list of "+what)
			return every(withPart(all, in.Name, value.name)), err
		})
}

type listActivitiesInput struct {
	optionalProject
}

func listActivities(s *Toolset) entry {
	return listTool(s, "list_activities", "List activities", "List the activities that time can be logged for.", "activities", activities().key,
		func(ctx context.Context, in listActivitiesInput, p idName) (*listing, error) {
			if p.ID == 0 {
				all, err := readAll[value](ctx, s, activities().path, activities().key, "the list of activities")
				return every(all), err
			}
			known, own, err := activitiesOf(ctx, s, p.ID)
			var all []value
			for _, n := range known {
				all = append(all, value{idName: n})
			}
			l := every(all)
			if !own {
				l.what = "activities of all projects, as Redmine does not show this account those of project " + p.String()
			}
			return l, err
		})
}
