package redmine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func issueTools(s *Server) []entry {
	return []entry{
		listIssues(s), getIssue(s), createIssue(s), updateIssue(s), editIssue(s), deleteIssue(s),
		addWatcher(s), removeWatcher(s), listRelations(s), createRelation(s), deleteRelation(s), updateComment(s),
	}
}

type getIssueInput struct {
	ID      string `json:"id" jsonschema:"maxLength=255,description=Issue id"`
	Include string `json:"include,omitempty" jsonschema:"maxLength=255,description=What to add separated by commas: children attachments relations journals watchers changesets. All of them if left out; none for nothing"`
	Notes   int    `json:"notes,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Newest comments and changes to show"`
}

// everything that an issue includes.
const everything = "children,attachments,relations,journals,watchers,changesets,allowed_statuses"

func getIssue(s *Server) entry {
	return tool(s, "get_issue", "Show an issue", "Show one issue with its full text.\nComments, files, relations and allowed next statuses come with it.", reads,
		func(ctx context.Context, in getIssueInput) (*toolpost.Result, error) {
			include, err := included(in.Include, everything)
			if err != nil {
				return nil, err
			}
			i, err := issueAt(ctx, s, in.ID, include)
			if err != nil {
				return nil, err
			}
			older := max(0, len(i.Journals)-in.Notes)
			i.Journals = i.Journals[older:]
			spellOut(ctx, s, i, nil)
			nameFields(ctx, s, i.Project.ID, i.Project.ID, i.CustomFields)
			d := detailOf(i)
			d.OlderNotes, d.Hidden = older, hiddenOf(i, include)
			return s.answer(d.text(), d)
		})
}

// included checks a list of things to include. Redmine ignores what it does not
// know.
func included(text, all string) (string, error) {
	switch text = strings.ReplaceAll(strings.TrimSpace(text), " ", ""); text {
	case "":
		return all, nil
	case "none":
		return "", nil
	}
	for _, part := range strings.Split(text, ",") {
		if !slices.Contains(strings.Split(all, ","), part) {
			return "", toolpost.Retry("%q cannot be included. Choose from: %s.", part, strings.ReplaceAll(all, ",", ", "))
		}
	}
	return text, nil
}

// hiddenOf is what this account may not see of an issue: Redmine leaves it out, as
// if there were none.
func hiddenOf(i *issue, include string) (hidden []string) {
	if i.TotalSpent == nil {
		hidden = append(hidden, "logged time")
	}
	if i.Watchers == nil && strings.Contains(include, "watchers") {
		hidden = append(hidden, "watchers")
	}
	return hidden
}

// An issueDetail is all of an issue, as it is shown.
type issueDetail struct {
	ID          int               `json:"id"`
	Subject     string            `json:"subject"`
	Project     named             `json:"project"`
	Tracker     named             `json:"tracker"`
	Status      issueStatus       `json:"status"`
	Priority    named             `json:"priority"`
	Author      named             `json:"author"`
	Assignee    *named            `json:"assigned_to,omitempty"`
	Category    *named            `json:"category,omitempty"`
	Version     *named            `json:"fixed_version,omitempty"`
	Parent      int               `json:"parent_id,omitempty"`
	Start       string            `json:"start_date,omitempty"`
	Due         string            `json:"due_date,omitempty"`
	Done        int               `json:"done_ratio"`
	Private     bool              `json:"is_private,omitempty"`
	Estimated   string            `json:"estimated,omitempty"`
	Spent       string            `json:"spent,omitempty"`
	TotalSpent  string            `json:"spent_with_subtasks,omitempty"`
	Fields      map[string]string `json:"custom_fields,omitempty"`
	Created     string            `json:"created_on"`
	Updated     string            `json:"updated_on"`
	Closed      string            `json:"closed_on,omitempty"`
	Description string            `json:"description,omitempty"`
	Hash        string            `json:"description_hash,omitempty"` // for an edit
	Children    []child           `json:"children,omitempty"`
	Relations   []relation        `json:"relations,omitempty"`
	Attachments []attachment      `json:"attachments,omitempty"`
	Watchers    []named           `json:"watchers,omitempty"`
	Changesets  []changeset       `json:"changesets,omitempty"`
	Notes       []note            `json:"notes,omitempty"`
	OlderNotes  int               `json:"older_notes,omitempty"` // that are left out
	Next        []named           `json:"allowed_statuses,omitempty"`
	Hidden      []string          `json:"hidden,omitempty"` // from this account
}

// A note is a journal as it is shown.
type note struct {
	ID      int      `json:"id"`
	By      string   `json:"by"`
	On      string   `json:"on"`
	Edited  string   `json:"edited,omitempty"` // when and by whom
	Private bool     `json:"private,omitempty"`
	Text    string   `json:"text,omitempty"`
	Changes []string `json:"changes,omitempty"`
}

func detailOf(i *issue) *issueDetail {
	d := &issueDetail{
		ID: i.ID, Subject: i.Subject, Project: i.Project, Tracker: i.Tracker, Status: i.Status, Priority: i.Priority,
		Author: i.Author, Assignee: i.AssignedTo, Category: i.Category, Version: i.FixedVersion,
		Start: i.StartDate, Due: i.DueDate, Done: i.DoneRatio, Private: i.IsPrivate,
		Fields: fieldsOf(i.CustomFields), Created: i.CreatedOn, Updated: i.UpdatedOn, Closed: i.ClosedOn,
		Description: lf(i.Description), Hash: hashOf(i.Description), Children: i.Children, Relations: i.Relations, Attachments: i.Attachments,
		Watchers: i.Watchers, Changesets: i.Changesets, Next: i.Allowed,
	}
	if i.Parent != nil {
		d.Parent = i.Parent.ID
	}
	if i.EstimatedHours != nil {
		d.Estimated = hours(*i.EstimatedHours)
	}
	if i.SpentHours > 0 {
		d.Spent = hours(i.SpentHours)
	}
	if i.TotalSpent != nil && *i.TotalSpent > i.SpentHours {
		d.TotalSpent = hours(*i.TotalSpent)
	}
	for _, j := range i.Journals {
		n := note{ID: j.ID, By: j.User.Name, On: j.CreatedOn, Private: j.Private, Text: lf(j.Notes)}
		if j.UpdatedBy != nil {
			n.Edited = j.UpdatedOn + " by " + j.UpdatedBy.Name
		}
		for _, c := range j.Details {
			n.Changes = append(n.Changes, c.text(i))
		}
		d.Notes = append(d.Notes, n)
	}
	return d
}

// text is what changed.
func (d detail) text(i *issue) string {
	name := strings.TrimSuffix(d.Name, "_id")
	if d.Property == "cf" {
		for _, f := range i.CustomFields {
			if fmt.Sprint(f.ID) == d.Name {
				name = f.Name
			}
		}
	}
	switch {
	case d.Property == "attachment" && d.New != "":
		return "file added: " + oneLine(d.New)
	case d.Property == "attachment":
		return "file removed: " + oneLine(d.Old)
	case len(d.Old)+len(d.New) > 200:
		return name + " changed"
	case d.Old == "":
		return oneLine(fmt.Sprintf("%s: %s", name, d.New))
	}
	return oneLine(fmt.Sprintf("%s: %s → %s", name, d.Old, d.New))
}

func (d *issueDetail) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s #%d: %s\n\n", d.Tracker.Name, d.ID, d.Subject)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", label, text)
		}
	}
	line("project", d.Project.String())
	line("status", d.Status.String())
	line("priority", d.Priority.String())
	for _, n := range []struct {
		label string
		named *named
	}{{"assigned to", d.Assignee}, {"category", d.Category}, {"version", d.Version}} {
		if n.named != nil {
			line(n.label, n.named.String())
		}
	}
	line("author", d.Author.String())
	if d.Parent > 0 {
		line("parent", fmt.Sprintf("#%d", d.Parent))
	}
	line("start", d.Start)
	line("due", d.Due)
	line("done", fmt.Sprintf("%d%%", d.Done))
	line("estimated", d.Estimated)
	line("spent", d.Spent)
	line("spent with subtasks", d.TotalSpent)
	if d.Private {
		line("private", "yes")
	}
	for _, name := range sorted(d.Fields) {
		line(name, beside(d.Fields[name]))
	}
	line("created", d.Created)
	line("updated", d.Updated)
	line("closed", d.Closed)
	line("watchers", listed(d.Watchers))
	line("next statuses", listed(d.Next))
	line("hidden from this account", strings.Join(d.Hidden, ", "))
	d.rest(&b)
	return b.String()
}

// rest writes what is long.
func (d *issueDetail) rest(b *strings.Builder) {
	if d.Description != "" {
		fmt.Fprintf(b, "\nDescription, hash %s:\n%s\n", d.Hash, quoted(d.Description))
	}
	children(b, d.Children, "- child ")
	for _, r := range d.Relations {
		fmt.Fprintf(b, "- relation [%d]: #%d %s #%d\n", r.ID, r.From, r.Type, r.To)
	}
	b.WriteString(filesText(d.Attachments))
	for _, c := range d.Changesets {
		fmt.Fprintf(b, "- revision %s by %s: %s\n", c.Revision, c.User.Name, beside(lf(c.Comments)))
	}
	if d.OlderNotes > 0 {
		fmt.Fprintf(b, "\n%d older comments and changes are left out; call again with more notes.\n", d.OlderNotes)
	}
	for _, n := range d.Notes {
		more := ""
		if n.Private {
			more = ", private"
		}
		if n.Edited != "" {
			more += ", edited " + n.Edited
		}
		fmt.Fprintf(b, "\n## Note %d by %s, %s%s\n", n.ID, n.By, n.On, more)
		for _, c := range n.Changes {
			fmt.Fprintf(b, "- %s\n", c)
		}
		if n.Text != "" {
			fmt.Fprintf(b, "%s\n", quoted(n.Text))
		}
	}
}

func children(b *strings.Builder, all []child, before string) {
	for _, c := range all {
		fmt.Fprintf(b, "%s#%d %s: %s\n", before, c.ID, c.Tracker.Name, c.Subject)
		children(b, c.Children, "  "+before)
	}
}

func sorted[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hours are shown as a number and as a clock does.
func hours(h float64) string {
	minutes := int(h*60 + 0.5)
	return fmt.Sprintf("%g h, %d:%02d", h, minutes/60, minutes%60)
}
