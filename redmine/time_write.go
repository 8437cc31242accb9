package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// A timeInput is what may be set of a time entry, as tools are told it.
type timeInput struct {
	SpentOn  string     `json:"spent_on,omitempty" jsonschema:"description=Day of the work such as 2026-01-31"`
	Activity string     `json:"activity_id,omitempty" jsonschema:"description=Activity name or id"`
	Comments *string    `json:"comments,omitempty" jsonschema:"maxLength=1024,description=What was done"`
	User     string     `json:"user_id,omitempty" jsonschema:"description=Person whose time it is by id or name. Another than yourself needs the right to log time for others"`
	Fields   []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
}

type projectTimeInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	Hours   string `json:"hours" jsonschema:"description=Hours such as 1.5 or 1h30m or 1:30"`
	timeInput
}

func createTimeForProject(s *Server) entry {
	return tool(s, "create_time_entry_for_project", "Log time on a project", "Log hours on a project without an issue, for today if no day is given.\nIf there is a default activity it is taken unless another is named.", adds,
		func(ctx context.Context, in projectTimeInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			w := &timeWrite{write: write{s: s, ctx: ctx, project: p.ID, set: map[string]any{"project_id": p.ID}}}
			return w.create(in.Hours, &in.timeInput, "project "+p.String())
		})
}

type issueTimeInput struct {
	Issue string `json:"issue_id" jsonschema:"description=Issue id"`
	Hours string `json:"hours" jsonschema:"description=Hours such as 1.5 or 1h30m or 1:30"`
	timeInput
}

func createTimeForIssue(s *Server) entry {
	return tool(s, "create_time_entry_for_issue", "Log time on an issue", "Log hours on an issue, for today if no day is given.\nIf there is a default activity it is taken unless another is named.", adds,
		func(ctx context.Context, in issueTimeInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.Issue)
			if err != nil {
				return nil, err
			}
			i, err := readIssue(ctx, s, n, "")
			if err != nil {
				return nil, err
			}
			w := &timeWrite{write: write{s: s, ctx: ctx, project: i.Project.ID, set: map[string]any{"issue_id": n}}}
			return w.create(in.Hours, &in.timeInput, fmt.Sprintf("issue %d", n))
		})
}

type updateTimeInput struct {
	ID      string `json:"id" jsonschema:"description=Time entry id"`
	Project string `json:"project_id,omitempty" jsonschema:"description=Project to move it to by id or key or name"`
	Issue   string `json:"issue_id,omitempty" jsonschema:"description=Issue to move it to. Write none for no issue"`
	Hours   string `json:"hours,omitempty" jsonschema:"description=Hours such as 1.5 or 1h30m or 1:30"`
	timeInput
}

func updateTime(s *Server) entry {
	return tool(s, "update_time_entry", "Change a time entry", "Change logged time. Only what is given is changed.\nThe answer is the entry as Redmine has it, with what it did not take.", changes,
		func(ctx context.Context, in updateTimeInput) (*toolpost.Result, error) {
			n, err := id("a time entry", in.ID)
			if err != nil {
				return nil, err
			}
			before, err := readTime(ctx, s, n)
			if err != nil {
				return nil, err
			}
			w := &timeWrite{write: write{s: s, ctx: ctx, project: before.Project.ID, set: map[string]any{}}, before: before}
			if err := w.move(in.Project, in.Issue); err != nil {
				return nil, err
			}
			if err := w.fill(in.Hours, &in.timeInput); err != nil {
				return nil, err
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/time_entries/%d.json", n), map[string]any{"time_entry": w.set}, nil); err != nil {
				return nil, w.refused(err, fmt.Sprintf("the change of time entry %d", n))
			}
			return w.told(n, "Changed")
		})
}

// A timeWrite is a change of a time entry: what is asked for, and what became of it.
type timeWrite struct {
	write
	before *timeEntry // nil for a new one
	fields []wireField
}

// create logs time on what.
func (w *timeWrite) create(hours string, in *timeInput, what string) (*toolpost.Result, error) {
	if strings.TrimSpace(hours) == "" {
		return nil, toolpost.Retry("Give the hours, such as 1.5 or 1h30m or 1:30.")
	}
	if err := w.fill(hours, in); err != nil {
		return nil, err
	}
	var answer struct {
		Entry timeEntry `json:"time_entry"`
	}
	if err := w.s.client.send(w.ctx, "POST", "/time_entries.json", map[string]any{"time_entry": w.set}, &answer); err != nil {
		return nil, w.refused(err, "the time on "+what)
	}
	return w.told(answer.Entry.ID, "Created")
}

// move finds where an entry goes. An issue brings its project with it.
func (w *timeWrite) move(project, issue string) error {
	if project != "" {
		p, err := w.s.project(w.ctx, project)
		if err != nil {
			return err
		}
		w.project, w.set["project_id"] = p.ID, p.ID
	}
	switch old := w.before.issue(); {
	case issue == "" && old > 0 && w.project != w.before.Project.ID:
		return toolpost.Retry("The entry is on issue %d, which stays in project %s. Give issue_id too: an issue of the other project, or none.", old, w.before.Project)
	case strings.EqualFold(issue, none):
		w.set["issue_id"] = ""
	case issue != "":
		n, err := id("an issue", issue)
		if err != nil {
			return err
		}
		i, err := readIssue(w.ctx, w.s, n, "")
		if err != nil {
			return err
		}
		if project != "" && i.Project.ID != w.project {
			return toolpost.Retry("Issue %d is in project %s; leave the project out, or give another issue.", n, i.Project)
		}
		w.project, w.set["project_id"], w.set["issue_id"] = i.Project.ID, i.Project.ID, n
	}
	return w.open()
}

// open refuses to move an entry into a closed project: Redmine would do it, and
// nobody could change or delete the entry there.
func (w *timeWrite) open() error {
	if w.project == w.before.Project.ID {
		return nil
	}
	p, err := readProject(w.ctx, w.s, w.project, "")
	if err == nil && p.Status == closedProject {
		err = toolpost.Retry("Project %s is closed: logged time cannot be moved there.", p.named())
	}
	return err
}

// fill finds the ids of what is to be set.
func (w *timeWrite) fill(hours string, in *timeInput) error {
	w.hours("hours", hours)
	w.day("spent_on", in.SpentOn)
	w.person("user_id", in.User)
	if in.Comments != nil {
		w.set["comments"] = *in.Comments
	}
	if in.Activity != "" && w.err == nil {
		all, err := activitiesOf(w.ctx, w.s, w.project)
		if err != nil {
			return err
		}
		a, err := pick("activity", in.Activity, all)
		w.put("activity_id", a.ID, err)
	}
	if w.err != nil {
		return w.err
	}
	return w.custom(in.Fields)
}

func (w *timeWrite) custom(set []setField) error {
	if len(set) == 0 {
		return nil
	}
	var known []field
	var err error
	if w.before != nil {
		known = w.before.CustomFields
	} else if known, err = timeFields(w.ctx, w.s); err != nil {
		return err
	}
	if w.fields, err = setFields(set, known); err != nil {
		return err
	}
	w.set["custom_fields"] = w.fields
	return nil
}

// refused adds to a refusal what may have been the reason: Redmine tells it in
// the language of the account.
func (w *timeWrite) refused(err error, what string) error {
	told := explain(err, what)
	if status(err) != 422 {
		return told
	}
	text := told.Error()
	if w.set["activity_id"] == nil && w.before == nil {
		if all, err := activitiesOf(w.ctx, w.s, w.project); err == nil && len(all) > 0 {
			text += fmt.Sprintf(" An activity is needed where none is the default. There are: %s.", listed(all))
		}
	}
	if w.set["user_id"] != nil {
		text += " Time of somebody else needs the right to log time for other users there, and the person must be an active member who may log time. Leave user_id out to log your own."
	}
	return toolpost.Retry("%s", text)
}

// told answers with the entry as it is now, and with what is not as it was asked.
func (w *timeWrite) told(n int, done string) (*toolpost.Result, error) {
	now, err := readTime(w.ctx, w.s, n)
	if err != nil {
		return nil, toolpost.Failed("%s time entry %d, but it cannot be read back: %v", done, n, err)
	}
	issue := any("")
	if now.Issue != nil {
		issue = now.Issue.ID
	}
	wrong := append(unlike(w.set, map[string]any{
		"project_id": now.Project.ID, "issue_id": issue, "user_id": now.User.ID, "activity_id": now.Activity.ID,
		"hours": now.Hours, "spent_on": now.SpentOn, "comments": lf(now.Comments),
	}), unset(w.fields, now.CustomFields)...)
	answer := struct {
		Entry   *timeDetail `json:"time_entry"`
		Default string      `json:"default_activity,omitempty"`
		Ignored []string    `json:"not_taken,omitempty"`
	}{Entry: timeDetailOf(now), Ignored: wrong}
	text := outcome(fmt.Sprintf("%s time entry %d", done, n), "this account may not set it", wrong)
	if w.before == nil && w.set["activity_id"] == nil {
		answer.Default = now.Activity.String()
		text += fmt.Sprintf("No activity was given; the default is %s.\n", now.Activity)
	}
	return w.s.answer(text+"\n"+answer.Entry.text(), answer)
}

type deleteTimeInput struct {
	ID      string `json:"id" jsonschema:"description=Time entry id"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows it"`
}

func deleteTime(s *Server) entry {
	return tool(s, "delete_time_entry", "Delete a time entry", "Delete an entry of logged time, for good.\nWithout confirm the answer shows it, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteTimeInput) (*toolpost.Result, error) {
			n, err := id("a time entry", in.ID)
			if err != nil {
				return nil, err
			}
			e, err := readTime(ctx, s, n)
			if err != nil {
				return nil, err
			}
			d := timeDetailOf(e)
			if !in.Confirm {
				return s.answer("Nothing is deleted yet. Call again with confirm true to delete this.\n\n"+d.text(), map[string]any{"deleted": nil, "time_entry": d})
			}
			what := fmt.Sprintf("time entry %d", n)
			if err := s.client.send(ctx, "DELETE", fmt.Sprintf("/time_entries/%d.json", n), nil, nil); err != nil {
				return nil, explain(err, "the deletion of "+what)
			}
			if _, err := readTime(ctx, s, n); err == nil {
				return nil, toolpost.Failed("Redmine said that %s is deleted, but it is still there.", what)
			}
			return s.done(fmt.Sprintf("Deleted %s: %s of %s on %s.", what, hours(e.Hours), e.User.Name, e.SpentOn), map[string]any{"deleted": n})
		})
}
