package redmine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// An issueInput is what may be set of an issue, as tools are told it.
type issueInput struct {
	Subject     string     `json:"subject,omitempty" jsonschema:"maxLength=255,description=One line of text"`
	Description *string    `json:"description,omitempty" jsonschema:"description=Full text. To change a part of it use the tool for editing. Write none to clear it"`
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
	Description string `json:"description,omitempty" jsonschema:"maxLength=255,description=What it is"`
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
			w := &issueWrite{write: newWrite(ctx, s, p.ID)}
			w.set["project_id"] = ref{p}
			if in.Private == "true" && lacks(ctx, s, p.ID, "set_issues_private", "set_own_issues_private") {
				return nil, toolpost.Retry("This account may not make private issues in project %s: Redmine would show it to all who see the project. Leave is_private out if they may read it.", p)
			}
			w.fill(&in.issueInput, 0)
			w.watchers(in.Watchers)
			return w.kind().create(w.write, "/issues", "the new issue in project "+p.Name)
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
			before, err := issueAt(ctx, s, in.ID, "allowed_statuses,attachments,children")
			if err != nil {
				return nil, err
			}
			if err := unseen(before, in.Seen); err != nil {
				return nil, err
			}
			w := &issueWrite{write: newWrite(ctx, s, before.Project.ID), before: before}
			w.move(in.Project)
			w.comment(in.Notes, in.Private)
			w.fill(&in.issueInput, before.Tracker.ID)
			removeFiles(w, in.Remove)
			return w.kind().update(w.write, issueKind().at(before.ID), issueKind().name(before))
		})
}

// An issueWrite is a change of an issue: what is asked for, and what became of it.
type issueWrite struct {
	*write
	before *issue // nil for a new one
}

// kind is that of issues, which compares with what was there before.
func (w *issueWrite) kind() kind[issue] {
	k := issueKind()
	k.before, k.explain, k.check = w.before, w.refused, func(_ *write, now *issue) { w.compare(now) }
	return k
}

// none clears a field.
const none = "none"

// fill finds the ids of what is to be set. Tracker is the issue's now.
func (w *issueWrite) fill(in *issueInput, tracker int) {
	w.text("subject", in.Subject)
	w.clearable("description", in.Description)
	w.named("tracker_id", in.Tracker, trackers())
	w.status(in.Status)
	w.named("priority_id", in.Priority, priorities())
	w.named("category_id", in.Category, categories(w.project))
	w.named("fixed_version_id", in.Version, versions(w.project))
	w.person("assigned_to_id", in.Assignee)
	set(w.write, "parent_issue_id", in.Parent, func(text string) (int, error) { return id("an issue", text) })
	w.day("start_date", in.Start)
	w.day("due_date", in.Due)
	w.hours("estimated_hours", in.Estimated)
	set(w.write, "done_ratio", in.Done, percent)
	if in.Private != "" {
		w.set["is_private"] = in.Private == "true"
	}
	if len(in.Uploads) > 0 {
		w.set["uploads"] = in.Uploads
	}
	if t, ok := w.set["tracker_id"].(ref); ok {
		tracker = t.ID
	}
	w.custom(in.Fields, func() ([]field, error) { return w.known(tracker) })
}

// move sets another project.
func (w *issueWrite) move(project string) {
	if project == "" {
		return
	}
	p, err := w.s.project(w.ctx, project)
	w.put("project_id", ref{p}, err)
	w.project = p.ID
}

// removeFiles removes files. Redmine says nothing about those that the issue does not
// have.
func removeFiles(w *issueWrite, ids []int) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.before.Attachments, func(a attachment) bool { return a.ID == id }) {
			w.put("deleted_attachment_ids", nil, toolpost.Retry("Issue %d has no file %d. Its files are:\n%s", w.before.ID, id, cmp.Or(filesText(w.before.Attachments), "none")))
			return
		}
	}
	if len(ids) > 0 {
		w.set["deleted_attachment_ids"] = ids
	}
}

// comment adds a comment.
func (w *issueWrite) comment(text string, private bool) {
	if w.text("notes", text); text == "" {
		return
	}
	if w.set["private_notes"] = private; !private {
		w.forced = append(w.forced, "private_notes")
	} else if lacks(w.ctx, w.s, w.project, "set_notes_private") {
		w.put("notes", nil, toolpost.Retry("This account may not write private comments in this project: Redmine would show it to all who see the issue. Leave private_notes out if they may read it."))
	}
}

func (w *write) watchers(all []string) {
	var ids []int
	for _, text := range all {
		if w.err == nil {
			n, err := w.s.person(w.ctx, w.project, text)
			ids = append(ids, n.ID)
			w.put("watcher_user_ids", ids, err)
		}
	}
}

// known are the custom fields that may be set.
func (w *issueWrite) known(tracker int) ([]field, error) {
	if w.before != nil && w.before.Tracker.ID == tracker && w.before.Project.ID == w.project {
		return w.before.CustomFields, nil
	}
	return issueFields(w.ctx, w.s, w.project, tracker)
}

// status refuses what the workflow does not allow: Redmine would ignore it.
func (w *issueWrite) status(text string) {
	if text == "" || w.err != nil {
		return
	}
	if w.before == nil || len(w.before.Allowed) == 0 || w.set["tracker_id"] != nil || w.set["project_id"] != nil {
		w.named("status_id", text, statuses())
		return
	}
	n, err := w.s.find(w.ctx, statuses(), text)
	if err == nil && n.ID != w.before.Status.ID && !slices.ContainsFunc(w.before.Allowed, func(a named) bool { return a.ID == n.ID }) {
		err = toolpost.Retry("Issue %d is %s, and the workflow does not allow %s for this account. Allowed are: %s.", w.before.ID, w.before.Status, n, listed(w.before.Allowed))
	}
	w.put("status_id", ref{n}, err)
}
