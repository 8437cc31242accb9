package redmine

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

func timeTools(s *Server) []entry {
	return []entry{listTime(s), showTime(s), createTimeForProject(s), createTimeForIssue(s), updateTime(s), deleteTime(s)}
}

// A timeEntry is logged time as Redmine tells it.
type timeEntry struct {
	ID           int      `json:"id"`
	Project      named    `json:"project"`
	Issue        *named   `json:"issue"` // has no name
	User         named    `json:"user"`
	Activity     named    `json:"activity"`
	Hours        fraction `json:"hours"`
	Comments     string   `json:"comments"`
	SpentOn      string   `json:"spent_on"`
	CreatedOn    string   `json:"created_on"`
	UpdatedOn    string   `json:"updated_on"`
	CustomFields []field  `json:"custom_fields"`
}

func (e *timeEntry) issue() int {
	if e.Issue == nil {
		return 0
	}
	return e.Issue.ID
}

// A fraction is a number with two decimals. Redmine 6.0.0 and 6.0.1 tell it as a
// text, such as "5/4".
type fraction float64

// UnmarshalJSON implements [json.Unmarshaler].
func (f *fraction) UnmarshalJSON(data []byte) error {
	over, under, two := strings.Cut(strings.Trim(string(data), `"`), "/")
	n, err := strconv.ParseFloat(over, 64)
	if err == nil && two {
		var d float64
		d, err = strconv.ParseFloat(under, 64)
		n /= d
	}
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("%.40s is not a number", data)
	}
	*f = fraction(math.Round(n*100) / 100)
	return nil
}

// timeKind is how time entries are read, written and compared.
func timeKind() kind[timeEntry] {
	return kind[timeEntry]{
		key: "time_entry", path: "/time_entries",
		name: func(e *timeEntry) string { return fmt.Sprintf("time entry %d", e.ID) },
		is: func(e *timeEntry) map[string]any {
			return map[string]any{
				"project_id": ref{e.Project}, "issue_id": refOf(e.Issue), "user_id": ref{e.User}, "activity_id": ref{e.Activity},
				"hours": float64(e.Hours), "spent_on": e.SpentOn, "comments": lf(e.Comments),
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
		ID: e.ID, SpentOn: e.SpentOn, Hours: float64(e.Hours), User: e.User, Activity: e.Activity, Project: e.Project,
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
		b.line(name, beside(all[name]))
	}
}

// long adds a text of several lines.
func (b *sheet) long(text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n", quoted(text))
	}
}

type timeID struct {
	ID string `json:"id" jsonschema:"maxLength=255,description=Time entry id"`
}

func showTime(s *Server) entry {
	return tool(s, "show_time_entry", "Show a time entry", "Show one entry of logged time with its custom fields.", reads,
		func(ctx context.Context, in timeID) (*toolpost.Result, error) {
			e, err := timeAt(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			nameFields(ctx, s, e.Project.ID, e.Project.ID, e.CustomFields)
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
