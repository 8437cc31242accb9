package redmine

import (
	"context"
	"fmt"
	"net/url"
)

func timeTools(s *Server) []entry {
	return []entry{listTime(s), showTime(s), createTimeForProject(s), createTimeForIssue(s), updateTime(s), deleteTime(s)}
}

// A timeEntry is logged time.
type timeEntry struct {
	ID           int          `json:"id"`
	SpentOn      string       `json:"spent_on" text:"day" set:"spent_on"`
	Hours        hours        `json:"hours" set:"hours"`
	User         named        `json:"user" text:"person" set:"user_id"`
	Activity     named        `json:"activity" text:"activity" set:"activity_id"`
	Project      named        `json:"project" text:"project" set:"project_id"`
	Issue        *issueRef    `json:"issue,omitempty" text:"issue" set:"issue_id"`
	Comments     string       `json:"comments,omitempty" text:"comments" set:"comments"`
	CustomFields customFields `json:"custom_fields,omitzero"`
	CreatedOn    timestamp    `json:"created_on" text:"created"`
	UpdatedOn    timestamp    `json:"updated_on" text:"updated"`
}

func (e *timeEntry) title() string { return fmt.Sprintf("Time entry %d: %s", e.ID, e.Hours) }

func (e *timeEntry) issue() int {
	if e.Issue == nil {
		return 0
	}
	return e.Issue.ID
}

// timeKind is how time entries are read, written and compared.
func timeKind() kind[timeEntry] {
	return kind[timeEntry]{
		key: "time_entry", path: "/time_entries",
		name: func(e *timeEntry) string { return fmt.Sprintf("time entry %d", e.ID) },
		check: func(w *write, _, e *timeEntry) {
			if w.made && w.set["activity_id"] == nil {
				w.notes = append(w.notes, fmt.Sprintf("No activity was given; the default is %s.", e.Activity))
			}
		},
	}
}

type timeID struct {
	ID string `json:"id"`
}

func (in *timeID) find(ctx context.Context, s *Server) (*timeEntry, error) {
	n, err := id("a time entry", in.ID)
	if err != nil {
		return nil, err
	}
	return timeKind().read(ctx, s, n, "")
}

func showTime(s *Server) entry {
	return showTool[timeID](s, timeKind, "show_time_entry", "Show a time entry", "Show an entry of logged time.")
}

// timeFields are the custom fields of time entries. Who is no administrator
// learns them from an entry.
func timeFields(ctx context.Context, s *Server) ([]field, error) {
	me, err := s.account(ctx)
	if err != nil {
		return nil, err
	}
	if me.Admin {
		return definedFields(ctx, s, "time_entry")
	}
	some, _, err := rows[timeEntry](ctx, s, "/time_entries.json", url.Values{}, "time_entries", 0, 1)
	if err != nil || len(some) == 0 {
		return nil, explain(err, "a time entry, to learn its custom fields")
	}
	return some[0].CustomFields, nil
}

// activitiesOf are the activities of a project, which may have its own. From 6.1.4
// on Redmine leaves them out for who does not see its logged time, but perhaps may
// log some: then they are those of all projects.
func activitiesOf(ctx context.Context, s *Server, project int) (all []named, own bool, err error) {
	p, err := projectKind().read(ctx, s, project, "time_entry_activities")
	if err != nil {
		return nil, false, err
	}
	if p.Activities != nil {
		return p.Activities, true, nil
	}
	all, err = s.names(ctx, activities(), false)
	return all, false, err
}
