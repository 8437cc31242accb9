package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// An issueInput is what may be set of an issue, as tools are told it.
type issueInput struct {
	Subject     string     `json:"subject,omitempty" jsonschema:"maxLength=255,description=One line of text"`
	Description string     `json:"description,omitempty" jsonschema:"description=Full text. To change a part of it use the tool for editing"`
	Tracker     string     `json:"tracker_id,omitempty" jsonschema:"description=Tracker name or id"`
	Status      string     `json:"status_id,omitempty" jsonschema:"description=Status name or id"`
	Priority    string     `json:"priority_id,omitempty" jsonschema:"description=Priority name or id"`
	Category    string     `json:"category_id,omitempty" jsonschema:"description=Category name or id. Write none to clear it"`
	Version     string     `json:"fixed_version_id,omitempty" jsonschema:"description=Version name or id. Write none to clear it"`
	Assignee    string     `json:"assigned_to_id,omitempty" jsonschema:"description=Person id or name or me. Write none to clear it"`
	Parent      string     `json:"parent_issue_id,omitempty" jsonschema:"description=Id of the parent issue. Write none to clear it"`
	Start       string     `json:"start_date,omitempty" jsonschema:"description=Date such as 2026-01-31. Write none to clear it"`
	Due         string     `json:"due_date,omitempty" jsonschema:"description=Date such as 2026-01-31. Write none to clear it"`
	Estimated   string     `json:"estimated_hours,omitempty" jsonschema:"description=Hours such as 1.5 or 1h30m or 1:30. Write none to clear them"`
	Done        string     `json:"done_ratio,omitempty" jsonschema:"description=Percent done from 0 to 100"`
	Private     string     `json:"is_private,omitempty" jsonschema:"enum=true,enum=false,description=Whether only its members with the right see it"`
	Fields      []setField `json:"custom_fields,omitempty" jsonschema:"description=Custom fields to set by name or id"`
	Uploads     []upload   `json:"uploads,omitempty" jsonschema:"description=Files that were uploaded before"`
}

// An upload names a file by the token that its upload gave.
type upload struct {
	Token       string `json:"token" jsonschema:"description=Token from the upload tool"`
	Name        string `json:"filename,omitempty" jsonschema:"description=File name"`
	Type        string `json:"content_type,omitempty" jsonschema:"description=Media type"`
	Description string `json:"description,omitempty" jsonschema:"description=What it is"`
}

type createIssueInput struct {
	Project string `json:"project_id" jsonschema:"description=Project id or key or name"`
	issueInput
	Watchers []string `json:"watcher_user_ids,omitempty" jsonschema:"description=People who watch it by id or name or me"`
}

func createIssue(s *Server) entry {
	return tool(s, "create_issue", "Create an issue", "Create an issue in a project.\nA subject is needed. Names are taken as well as ids.\nThe answer is the issue as Redmine has it, with what it did not take.", adds,
		func(ctx context.Context, in createIssueInput) (*toolpost.Result, error) {
			if strings.TrimSpace(in.Subject) == "" {
				return nil, toolpost.Retry("Give a subject: one line that says what the issue is.")
			}
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			w := &issueWrite{write: write{s: s, ctx: ctx, project: p.ID, set: map[string]any{"project_id": p.ID}}}
			if err := w.fill(&in.issueInput, 0); err != nil {
				return nil, err
			}
			if len(in.Watchers) > 0 {
				var ids []int
				for _, text := range in.Watchers {
					n, err := s.person(ctx, p.ID, text)
					if err != nil {
						return nil, err
					}
					ids = append(ids, n.ID)
				}
				w.set["watcher_user_ids"] = ids
			}
			var answer struct {
				Issue issue `json:"issue"`
			}
			if err := s.client.send(ctx, "POST", "/issues.json", map[string]any{"issue": w.set}, &answer); err != nil {
				return nil, explain(err, "the new issue in project "+p.Name)
			}
			return w.told(answer.Issue.ID, "Created")
		})
}

type updateIssueInput struct {
	ID      string `json:"id" jsonschema:"description=Issue id"`
	Project string `json:"project_id,omitempty" jsonschema:"description=Project to move it to by id or key or name"`
	issueInput
	Notes   string `json:"notes,omitempty" jsonschema:"description=Comment to add"`
	Private bool   `json:"private_notes,omitempty" jsonschema:"description=Whether the comment is private"`
	Seen    string `json:"updated_on,omitempty" jsonschema:"description=Time of the last change that you have seen. The update is refused if there was a later one"`
	Remove  []int  `json:"deleted_attachment_ids,omitempty" jsonschema:"description=Ids of files to remove"`
}

func updateIssue(s *Server) entry {
	return tool(s, "update_issue", "Change an issue", "Change fields of an issue or add a comment to it.\nOnly what is given is changed. Names are taken as well as ids.\nThe answer says what Redmine did not take, such as a status that the workflow does not allow.", changes,
		func(ctx context.Context, in updateIssueInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.ID)
			if err != nil {
				return nil, err
			}
			before, err := readIssue(ctx, s, n, "allowed_statuses")
			if err != nil {
				return nil, err
			}
			if in.Seen != "" && in.Seen != before.UpdatedOn {
				return nil, toolpost.Retry("Issue %d was changed at %s, after %s. Read it again, and make your change to what it is now.", n, before.UpdatedOn, in.Seen)
			}
			w := &issueWrite{write: write{s: s, ctx: ctx, project: before.Project.ID, set: map[string]any{}}, before: before}
			if in.Project != "" {
				p, err := s.project(ctx, in.Project)
				if err != nil {
					return nil, err
				}
				w.project, w.set["project_id"] = p.ID, p.ID
			}
			comment(w, in.Notes, in.Private)
			if err := w.fill(&in.issueInput, before.Tracker.ID); err != nil {
				return nil, err
			}
			if len(in.Remove) > 0 {
				w.set["deleted_attachment_ids"] = in.Remove
			}
			if len(w.set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give at least one field or notes.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/issues/%d.json", n), map[string]any{"issue": w.set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the change of issue %d", n))
			}
			return w.told(n, "Changed")
		})
}

// An issueWrite is a change of an issue: what is asked for, and what became of it.
type issueWrite struct {
	write
	before *issue // nil for a new one
}

// none clears a field.
const none = "none"

// fill finds the ids of what is to be set. Tracker is the issue's now.
func (w *issueWrite) fill(in *issueInput, tracker int) error {
	w.text("subject", in.Subject)
	w.text("description", in.Description)
	w.named("tracker_id", in.Tracker, trackers())
	w.status(in.Status)
	w.named("priority_id", in.Priority, priorities())
	w.named("category_id", in.Category, categories(w.project))
	w.named("fixed_version_id", in.Version, versions(w.project))
	w.person("assigned_to_id", in.Assignee)
	w.number("parent_issue_id", in.Parent)
	w.day("start_date", in.Start)
	w.day("due_date", in.Due)
	w.hours("estimated_hours", in.Estimated)
	w.percent(in.Done)
	if in.Private != "" {
		w.set["is_private"] = in.Private == "true"
	}
	if len(in.Uploads) > 0 {
		w.set["uploads"] = in.Uploads
	}
	if t, ok := w.set["tracker_id"].(int); ok {
		tracker = t
	}
	w.custom(in.Fields, func() ([]field, error) { return w.known(tracker) })
	return w.err
}

// known are the custom fields that may be set.
func (w *issueWrite) known(tracker int) ([]field, error) {
	if w.before != nil && w.before.Tracker.ID == tracker && w.before.Project.ID == w.project {
		return w.before.CustomFields, nil
	}
	return issueFields(w.ctx, w.s, w.project, tracker)
}
