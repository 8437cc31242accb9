package redmine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// An issueInput is what the arguments of a tool may set of an issue.
type issueInput struct {
	Subject     string     `json:"subject,omitempty" fill:"text"`
	Description *string    `json:"description,omitempty" jsonschema:"maxLength=1000000" desc:"Whole text; none clears it" fill:"clearable"`
	Tracker     string     `json:"tracker_id,omitempty" desc:"Name or id" fill:"tracker"`
	Status      string     `json:"status_id,omitempty" desc:"Name or id"`
	Priority    string     `json:"priority_id,omitempty" desc:"Name or id" fill:"priority"`
	Category    string     `json:"category_id,omitempty" desc:"Name or id; none clears it" fill:"category"`
	Version     string     `json:"fixed_version_id,omitempty" desc:"Name or id; none clears it" fill:"version"`
	Assignee    string     `json:"assigned_to_id,omitempty" desc:"Id, name, me or none" fill:"person"`
	Parent      string     `json:"parent_issue_id,omitempty" desc:"Id or none" fill:"issue"`
	Start       string     `json:"start_date,omitempty" desc:"Such as 2026-01-31; none clears it" fill:"date"`
	Due         string     `json:"due_date,omitempty" desc:"Such as 2026-01-31; none clears it" fill:"date"`
	Estimated   string     `json:"estimated_hours,omitempty" desc:"Such as 1.5, 1h30m or 1:30; none clears them" fill:"hours"`
	Done        string     `json:"done_ratio,omitempty" desc:"0 to 100" fill:"percent"`
	Private     string     `json:"is_private,omitempty" jsonschema:"enum=true,enum=false" fill:"yes-no"`
	Fields      []setField `json:"custom_fields,omitempty"`
	Uploads     []upload   `json:"uploads,omitempty" fill:"value"`
}

// An upload names a file by the token that its upload gave.
type upload struct {
	Token       string `json:"token" desc:"From upload file"`
	Name        string `json:"filename,omitempty"`
	Type        string `json:"content_type,omitempty"`
	Description string `json:"description,omitempty" jsonschema:"maxLength=255"`
}

type createIssueInput struct {
	Project string `json:"project_id" desc:"Id, key or name"`
	issueInput
	Watchers []string `json:"watcher_user_ids,omitempty" desc:"Ids, names or me"`
}

func createIssue(s *Toolset) entry {
	return tool(s, "create_issue", "Create an issue", "Create an issue.\nThe answer lists what Redmine did not save.", adds,
		func(ctx context.Context, in createIssueInput) (*toolpost.Result, error) {
			if strings.TrimSpace(in.Subject) == "" {
				return nil, toolpost.Retry.Errorf("Give a subject: one line that says what the issue is.")
			}
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			w := &issueWrite{write: newWrite(ctx, s, p.ID)}
			w.set["project_id"] = idRef{p}
			w.noteMatch(in.Project, p)
			if in.Private == "true" && definitelyLacks(ctx, s, p.ID, "set_issues_private", "set_own_issues_private") {
				return nil, toolpost.Retry.Errorf("This account may not make private issues in project %s: Redmine would show it to everybody who can see the project. Leave out is_private if they may read it.", p)
			}
			w.readAhead(&in.issueInput, len(in.Watchers) > 0)
			w.apply(&in.issueInput, 0)
			w.watchers(in.Watchers)
			return w.endpoint().create(w.write, "/issues", "the new issue in project "+p.Name)
		})
}

type updateIssueInput struct {
	ID      string `json:"id"`
	Project string `json:"project_id,omitempty" desc:"Moves it; id, key or name"`
	issueInput
	Notes   string `json:"notes,omitempty" jsonschema:"maxLength=1000000" desc:"Comment to add"`
	Private bool   `json:"private_notes,omitempty"`
	Hash    string `json:"description_hash,omitempty" desc:"The one you read"`
	Seen    string `json:"updated_on,omitempty" desc:"Last change you saw"`
	Remove  []int  `json:"deleted_attachment_ids,omitempty"`
}

func updateIssue(s *Toolset) entry {
	return tool(s, "update_issue", "Change an issue", "Change fields of an issue or add a comment. Only what is given is changed.\nThe answer lists what Redmine did not save.", changes,
		func(ctx context.Context, in updateIssueInput) (*toolpost.Result, error) {
			before, err := findIssue(ctx, s, in.ID, "allowed_statuses,attachments,children")
			if err != nil {
				return nil, err
			}
			if err := requireUnchanged(before, in.Seen, in.Hash); err != nil {
				return nil, err
			}
			w := &issueWrite{newChange(ctx, s, before), before}
			w.move(in.Project)
			w.comment(in.Notes, in.Private)
			w.readAhead(&in.issueInput, false)
			w.apply(&in.issueInput, before.Tracker.ID)
			removeFiles(w, in.Remove)
			return w.endpoint().update(w.write, issueEndpoint().recordPath(before.ID), issueEndpoint().name(before))
		})
}

// An issueWrite is a change of an issue: what is asked for, and what became of it.
type issueWrite struct {
	*write
	before *issue // nil for a new one
}

// endpoint is that of issues, which compares with what was there before.
func (w *issueWrite) endpoint() endpoint[issue] {
	k := issueEndpoint()
	k.explain, k.check = w.explainRefusal, func(_ *write, _, now *issue) { w.compare(now) }
	return k
}

// readAhead reads at once what fill needs one after the other.
func (w *issueWrite) readAhead(in *issueInput, members bool) {
	if w.err != nil {
		return
	}
	var reads []func()
	names := func(text string, src source) {
		if _, isID := number(text); text != "" && !isID && !strings.EqualFold(text, none) {
			reads = append(reads, func() { _, _ = w.s.names(w.ctx, src, false) }) // fill reports what fails
		}
	}
	names(in.Tracker, trackers())
	names(in.Status, statuses())
	names(in.Priority, priorities())
	names(in.Category, categories(w.project))
	names(in.Version, versions(w.project))
	if members || in.Assignee != "" && !strings.EqualFold(in.Assignee, none) {
		reads = append(reads, func() { _, _ = people(w.ctx, w.s, w.project) })
	}
	if me, err := w.s.account(w.ctx); err == nil && me.Admin && len(in.Fields) > 0 {
		reads = append(reads, func() { _, _ = issueFields(w.ctx, w.s, w.project, 0) })
	}
	runAll(reads...)
}

// apply finds the ids of what is to be set. Tracker is the issue's now.
func (w *issueWrite) apply(in *issueInput, tracker int) {
	w.fill(in)
	w.status(in.Status)
	if t, ok := w.set["tracker_id"].(idRef); ok {
		tracker = t.ID
	}
	w.customOf(in.Fields, func() ([]field, error) { return w.settableFields(tracker) })
}

// move sets another project.
func (w *issueWrite) move(project string) {
	if project == "" {
		return
	}
	p, err := w.s.project(w.ctx, project)
	w.noteMatch(project, p)
	w.put("project_id", idRef{p}, err)
	w.project = p.ID
}

// removeFiles removes files. Redmine says nothing about those that the issue does not
// have.
func removeFiles(w *issueWrite, ids []int) {
	for _, id := range ids {
		if !slices.ContainsFunc(w.before.Attachments, func(a attachment) bool { return a.ID == id }) {
			w.put("deleted_attachment_ids", nil, toolpost.Retry.Errorf("Issue %d has no file %d. Its files are:\n%s", w.before.ID, id, cmp.Or(filesText(w.before.Attachments), "none")))
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
	} else if definitelyLacks(w.ctx, w.s, w.project, "set_notes_private") {
		w.put("notes", nil, toolpost.Retry.Errorf("This account may not write private comments in this project: Redmine would show it to everybody who can see the issue. Leave out private_notes if they may read it."))
	}
}

func (w *write) watchers(all []string) {
	var ids []int
	for _, text := range all {
		if w.err == nil {
			n, err := w.s.person(w.ctx, w.project, text)
			w.noteMatch(text, n)
			ids = append(ids, n.ID)
			w.put("watcher_user_ids", ids, err)
		}
	}
}

// settableFields returns the custom fields that may be set.
func (w *issueWrite) settableFields(tracker int) ([]field, error) {
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
		w.setNamed("status_id", text, statuses())
		return
	}
	n, err := w.s.find(w.ctx, statuses(), text)
	w.noteMatch(text, n)
	if err == nil && n.ID != w.before.Status.ID && !slices.ContainsFunc(w.before.Allowed, func(a idName) bool { return a.ID == n.ID }) {
		err = toolpost.Retry.Errorf("Issue %d is %s, and %s. Statuses you can set now: %s.", w.before.ID, w.before.Status, whyNot(w.ctx, w.s, w.before.ID, n), listNames(w.before.Allowed))
	}
	w.put("status_id", idRef{n}, err)
}
