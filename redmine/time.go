package redmine

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

func timeTools(s *Server) []entry {
	return []entry{listTime(s), showTime(s), createTimeForProject(s), createTimeForIssue(s), updateTime(s), deleteTime(s)}
}

// A timeEntry is logged time as Redmine tells it.
type timeEntry struct {
	ID           int     `json:"id"`
	Project      named   `json:"project"`
	Issue        *named  `json:"issue"` // has no name
	User         named   `json:"user"`
	Activity     named   `json:"activity"`
	Hours        float64 `json:"hours"`
	Comments     string  `json:"comments"`
	SpentOn      string  `json:"spent_on"`
	CreatedOn    string  `json:"created_on"`
	UpdatedOn    string  `json:"updated_on"`
	CustomFields []field `json:"custom_fields"`
}

func (e *timeEntry) issue() int {
	if e.Issue == nil {
		return 0
	}
	return e.Issue.ID
}

// timeKind() is how time entries are read, written and compared.
func timeKind() kind[timeEntry] {
	return kind[timeEntry]{
		key: "time_entry", path: "/time_entries",
		name: func(e *timeEntry) string { return fmt.Sprintf("time entry %d", e.ID) },
		is: func(e *timeEntry) map[string]any {
			return map[string]any{
				"project_id": ref{e.Project}, "issue_id": refOf(e.Issue), "user_id": ref{e.User}, "activity_id": ref{e.Activity},
				"hours": e.Hours, "spent_on": e.SpentOn, "comments": lf(e.Comments),
			}
		},
		fields: func(e *timeEntry) []field { return e.CustomFields },
		check: func(w *write, e *timeEntry) {
			if w.made && w.set["activity_id"] == nil {
				w.notes = append(w.notes, fmt.Sprintf("No activity was given; the default is %s.", e.Activity))
			}
		},
		view: func(e *timeEntry) view { return timeDetailOf(e) },
	}
}

// timeAt reads the time entry with an id as a tool is told it.
func timeAt(ctx context.Context, s *Server, text string) (*timeEntry, error) {
	n, err := id("a time entry", text)
	if err != nil {
		return nil, err
	}
	return timeKind().read(ctx, s, n, "")
}

// A timeDetail is all of a time entry, as it is shown.
type timeDetail struct {
	ID       int               `json:"id"`
	SpentOn  string            `json:"spent_on"`
	Hours    float64           `json:"hours"`
	User     named             `json:"user"`
	Activity named             `json:"activity"`
	Project  named             `json:"project"`
	Issue    int               `json:"issue_id,omitempty"`
	Comments string            `json:"comments,omitempty"`
	Fields   map[string]string `json:"custom_fields,omitempty"`
	Created  string            `json:"created_on"`
	Updated  string            `json:"updated_on"`
}

func timeDetailOf(e *timeEntry) *timeDetail {
	return &timeDetail{
		ID: e.ID, SpentOn: e.SpentOn, Hours: e.Hours, User: e.User, Activity: e.Activity, Project: e.Project,
		Issue: e.issue(), Comments: lf(e.Comments), Fields: fieldsOf(e.CustomFields), Created: e.CreatedOn, Updated: e.UpdatedOn,
	}
}

func (d *timeDetail) text() string {
	var b sheet
	fmt.Fprintf(&b, "# Time entry %d: %s\n\n", d.ID, hours(d.Hours))
	b.line("day", d.SpentOn)
	b.line("person", d.User.String())
	b.line("activity", d.Activity.String())
	b.line("project", d.Project.String())
	if d.Issue > 0 {
		b.line("issue", fmt.Sprintf("#%d", d.Issue))
	}
	b.line("comments", d.Comments)
	b.fields(d.Fields)
	b.line("created", d.Created)
	b.line("updated", d.Updated)
	return b.String()
}

// A sheet is a text of labels and what they label.
type sheet struct{ strings.Builder }

// line adds one, unless there is nothing to label.
func (b *sheet) line(label, text string) {
	if text != "" {
		fmt.Fprintf(b, "- %s: %s\n", label, text)
	}
}

func (b *sheet) fields(all map[string]string) {
	for _, name := range sorted(all) {
		b.line(name, all[name])
	}
}

// long adds a text of several lines.
func (b *sheet) long(text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n", text)
	}
}

type timeID struct {
	ID string `json:"id" jsonschema:"description=Time entry id"`
}

func showTime(s *Server) entry {
	return tool(s, "show_time_entry", "Show a time entry", "Show one entry of logged time with its custom fields.", reads,
		func(ctx context.Context, in timeID) (*toolpost.Result, error) {
			e, err := timeAt(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			d := timeDetailOf(e)
			return s.answer(d.text(), d)
		})
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

// activitiesOf are the activities of a project, which may have its own.
func activitiesOf(ctx context.Context, s *Server, project int) ([]named, error) {
	p, err := projectKind().read(ctx, s, project, "time_entry_activities")
	if err != nil {
		return nil, err
	}
	return p.Activities, nil
}
