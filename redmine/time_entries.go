package redmine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

func timeTools(s *Toolset) []entry {
	return []entry{listTime(s), showTime(s), createTimeForProject(s), createTimeForIssue(s), updateTime(s), deleteTime(s)}
}

// A timeEntry is logged time.
type timeEntry struct {
	ID           int          `json:"id" brief:"id"`
	SpentOn      string       `json:"spent_on" text:"day" brief:"spent_on" set:"spent_on"`
	Hours        hours        `json:"hours" row:"%s,always" brief:"hours,always" set:"hours"`
	User         idName       `json:"user" text:"person" row:"%n" brief:"user" set:"user_id"`
	Activity     idName       `json:"activity" text:"activity" row:"%n" brief:"activity" set:"activity_id"`
	Project      idName       `json:"project" text:"project" row:"%n" brief:"project" set:"project_id"`
	Issue        *issueRef    `json:"issue,omitempty" text:"issue" row:"%s" brief:"issue_id" set:"issue_id"`
	Subject      string       `json:"subject,omitempty" row:" %s" brief:"subject"` // of the issue, in lists
	Comments     string       `json:"comments,omitempty" text:"comments" row:"%s" brief:"comments" set:"comments"`
	CustomFields customFields `json:"custom_fields,omitzero" brief:"fields"`
	CreatedOn    timestamp    `json:"created_on" text:"created"`
	UpdatedOn    timestamp    `json:"updated_on" text:"updated"`
}

// String returns the entry as a line begins with it.
func (e *timeEntry) String() string { return fmt.Sprintf("[%d] %s", e.ID, e.SpentOn) }

func (e *timeEntry) title() string { return fmt.Sprintf("Time entry %d: %s", e.ID, e.Hours) }

func (e *timeEntry) issue() int {
	if e.Issue == nil {
		return 0
	}
	return e.Issue.ID
}

// timeEndpoint is how time entries are read, written and compared.
func timeEndpoint() endpoint[timeEntry] {
	return endpoint[timeEntry]{
		collection: collection{key: "time_entry", path: "/time_entries"},
		name:       func(e *timeEntry) string { return fmt.Sprintf("time entry %d", e.ID) },
		check: func(w *write, _, e *timeEntry) {
			if w.before == nil && w.set["activity_id"] == nil {
				w.notes = append(w.notes, fmt.Sprintf("No activity was given; the default is %s.", e.Activity))
			}
		},
	}
}

type timeID struct {
	ID string `json:"id"`
}

func (in *timeID) find(ctx context.Context, s *Toolset) (*timeEntry, error) {
	return timeEndpoint().find(ctx, s, "a time entry", in.ID, "")
}

func showTime(s *Toolset) entry {
	return showTool[timeID, timeEntry](s, "show_time_entry", "Show a time entry", "Show an entry of logged time.")
}

// timeFields returns the custom fields of time entries. An account without administration
// learns them from an entry.
func timeFields(ctx context.Context, s *Toolset) ([]field, error) {
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
func activitiesOf(ctx context.Context, s *Toolset, project int) (all []idName, own bool, err error) {
	p, err := projectEndpoint().read(ctx, s, project, "time_entry_activities")
	if err != nil {
		return nil, false, err
	}
	if p.Activities != nil {
		return p.Activities, true, nil
	}
	all, err = s.names(ctx, activities(), false)
	return all, false, err
}

// A timeInput is what the arguments of a tool may set of a time entry.
type timeInput struct {
	SpentOn  string     `json:"spent_on,omitempty" desc:"Such as 2026-01-31"`
	Activity string     `json:"activity_id,omitempty" desc:"Name or id"`
	Comments *string    `json:"comments,omitempty" jsonschema:"maxLength=1024"`
	User     string     `json:"user_id,omitempty" desc:"Whose time; id or name" fill:"person"`
	Fields   []setField `json:"custom_fields,omitempty"`
}

type projectTimeInput struct {
	projectID
	Hours string `json:"hours" desc:"Such as 1.5, 1h30m or 1:30" fill:"hours"`
	timeInput
}

func createTimeForProject(s *Toolset) entry {
	return projectTool(s, "create_time_entry_for_project", "Log time on a project", "Log hours on a project without an issue.\nDefaults are today and the default activity.", adds,
		func(ctx context.Context, in projectTimeInput, p idName) (*toolpost.Result, error) {
			w := &timeWrite{write: newWrite(ctx, s, p.ID)}
			w.noteMatch(in.Project, p)
			w.set["project_id"] = p.ID
			return w.log(in.Hours, &in, &in.timeInput, "project "+p.String())
		})
}

type issueTimeInput struct {
	Issue string `json:"issue_id"`
	Hours string `json:"hours" desc:"Such as 1.5, 1h30m or 1:30" fill:"hours"`
	timeInput
}

func createTimeForIssue(s *Toolset) entry {
	return tool(s, "create_time_entry_for_issue", "Log time on an issue", "Log hours on an issue.\nDefaults are today and the default activity.", adds,
		func(ctx context.Context, in issueTimeInput) (*toolpost.Result, error) {
			i, err := findIssue(ctx, s, in.Issue, "")
			if err != nil {
				return nil, onProject(err)
			}
			w := &timeWrite{write: newWrite(ctx, s, i.Project.ID)}
			w.set["issue_id"] = i.ID
			return w.log(in.Hours, &in, &in.timeInput, issueEndpoint().name(i))
		})
}

// onProject adds what can be done without seeing an issue.
func onProject(err error) error {
	if errors.As(err, new(*unreachableError)) {
		return err
	}
	return toolpost.Retry.Errorf("%v You can also log time on the project with create_time_entry_for_project.", err)
}

type updateTimeInput struct {
	timeID
	Project string `json:"project_id,omitempty" desc:"Moves it; id, key or name"`
	Issue   string `json:"issue_id,omitempty" desc:"Moves it; id or none"`
	Hours   string `json:"hours,omitempty" desc:"Such as 1.5, 1h30m or 1:30" fill:"hours"`
	timeInput
}

func updateTime(s *Toolset) entry {
	return tool(s, "update_time_entry", "Change a time entry", "Change logged time. Only what is given is changed.", changes,
		func(ctx context.Context, in updateTimeInput) (*toolpost.Result, error) {
			before, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			w := &timeWrite{newChange(ctx, s, before), before}
			if err := w.move(in.Project, in.Issue); err != nil {
				return nil, err
			}
			w.apply(&in, &in.timeInput)
			return w.endpoint().update(w.write, timeEndpoint().recordPath(before.ID), timeEndpoint().name(before))
		})
}

// A timeWrite is a change of a time entry: what is asked for, and what became of it.
type timeWrite struct {
	*write
	before *timeEntry // nil for a new one
}

// endpoint is that of time entries, with what may be the reason of a refusal.
func (w *timeWrite) endpoint() endpoint[timeEntry] {
	k := timeEndpoint()
	k.explain = w.explainRefusal
	return k
}

// log logs time on what.
func (w *timeWrite) log(hours string, arguments any, in *timeInput, what string) (*toolpost.Result, error) {
	if strings.TrimSpace(hours) == "" {
		return nil, toolpost.Retry.Errorf("Give the hours, such as 1.5 or 1h30m or 1:30.")
	}
	w.apply(arguments, in)
	return w.endpoint().create(w.write, "/time_entries", "the time on "+what)
}

// move finds where an entry goes. An issue brings its project with it.
func (w *timeWrite) move(project, issue string) error {
	if project != "" {
		p, err := w.s.project(w.ctx, project)
		if err != nil {
			return err
		}
		w.project, w.set["project_id"] = p.ID, idRef{p}
	}
	switch old := w.before.issue(); {
	case issue == "" && old > 0 && w.project != w.before.Project.ID:
		return toolpost.Retry.Errorf("The entry belongs to issue %d, which stays in project %s. Give issue_id too: an issue of the other project, or none.", old, w.before.Project)
	case strings.EqualFold(issue, none):
		w.set["issue_id"] = ""
	case issue != "":
		i, err := findIssue(w.ctx, w.s, issue, "")
		if err != nil {
			return err
		}
		if project != "" && i.Project.ID != w.project {
			return toolpost.Retry.Errorf("Issue %d is in project %s; leave out the project, or give another issue.", i.ID, i.Project)
		}
		w.project, w.set["project_id"], w.set["issue_id"] = i.Project.ID, idRef{i.Project}, i.ID
	}
	return w.open()
}

// open refuses to move an entry into a closed project: Redmine would do it, and
// nobody could change or delete the entry there.
func (w *timeWrite) open() error {
	if w.project == w.before.Project.ID {
		return nil
	}
	p, err := projectEndpoint().read(w.ctx, w.s, w.project, "")
	if err == nil && p.Status == closedProject {
		err = toolpost.Retry.Errorf("Project %s is closed, so logged time cannot be moved there.", p.idName())
	}
	return err
}

// apply finds the ids of what is to be set.
func (w *timeWrite) apply(arguments any, in *timeInput) {
	w.fill(arguments)
	if w.before != nil || !strings.EqualFold(in.SpentOn, "today") { // without a day Redmine takes today where the account is
		w.day("spent_on", in.SpentOn)
	}
	w.activity(in.Activity)
	w.customOf(in.Fields, w.settableFields)
}

func (w *timeWrite) activity(text string) {
	if text == "" || w.err != nil {
		return
	}
	all, _, err := activitiesOf(w.ctx, w.s, w.project)
	if err == nil {
		var a idName
		a, err = matchName("activity", text, all)
		w.set["activity_id"] = idRef{a}
	}
	w.err = err
}

// settableFields returns the custom fields that may be set.
func (w *timeWrite) settableFields() ([]field, error) {
	if w.before != nil {
		return w.before.CustomFields, nil
	}
	return timeFields(w.ctx, w.s)
}

// explainRefusal adds to a refusal what may have been the reason: Redmine words it in
// the language of the account.
func (w *timeWrite) explainRefusal(err error, what string) error {
	told := explain(err, what)
	if status(err) != http.StatusUnprocessableEntity {
		return told
	}
	text := told.Error()
	if w.set["activity_id"] == nil && w.before == nil {
		if all, _, err := activitiesOf(w.ctx, w.s, w.project); err == nil && len(all) > 0 {
			text += fmt.Sprintf(" An activity is needed because none is the default. Choose from: %s.", listNames(all))
		}
	}
	if w.set["user_id"] != nil {
		text += " To log time for another user, this account needs the right to do so, and that user must be an active member who may log time. Leave out user_id to log your own."
	}
	return toolpost.Retry.Errorf("%s", text)
}

type deleteTimeInput struct {
	timeID
	confirmation
}

func deleteTime(s *Toolset) entry {
	return deleteTool(s, timeEndpoint, "delete_time_entry", "Delete a time entry", "Delete an entry of logged time.",
		func(_ context.Context, _ *deleteTimeInput, e *timeEntry, r *removal) error {
			r.what = fmt.Sprintf("time entry %d: %s of %s on %s", e.ID, e.Hours, e.User.Name, e.SpentOn)
			return nil
		})
}
