package redmine

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// An issue as Redmine tells it.
type issue struct {
	ID             int          `json:"id"`
	Project        named        `json:"project"`
	Tracker        named        `json:"tracker"`
	Status         issueStatus  `json:"status"`
	Priority       named        `json:"priority"`
	Author         named        `json:"author"`
	AssignedTo     *named       `json:"assigned_to"`
	Category       *named       `json:"category"`
	FixedVersion   *named       `json:"fixed_version"`
	Parent         *named       `json:"parent"`
	Subject        string       `json:"subject"`
	Description    string       `json:"description" lines:"many"`
	StartDate      string       `json:"start_date"`
	DueDate        string       `json:"due_date"`
	DoneRatio      int          `json:"done_ratio"`
	IsPrivate      bool         `json:"is_private"`
	EstimatedHours *float64     `json:"estimated_hours"`
	SpentHours     float64      `json:"spent_hours"`
	TotalSpent     *float64     `json:"total_spent_hours"`
	CustomFields   []field      `json:"custom_fields"`
	CreatedOn      string       `json:"created_on"`
	UpdatedOn      string       `json:"updated_on"`
	ClosedOn       string       `json:"closed_on"`
	Children       []child      `json:"children"`
	Attachments    []attachment `json:"attachments"`
	Relations      []relation   `json:"relations"`
	Journals       []journal    `json:"journals"`
	Watchers       []named      `json:"watchers"`
	Changesets     []changeset  `json:"changesets"`
	Allowed        []named      `json:"allowed_statuses"`
}

type issueStatus struct {
	named
	Closed bool `json:"is_closed"`
}

type child struct {
	ID       int     `json:"id"`
	Tracker  named   `json:"tracker"`
	Subject  string  `json:"subject"`
	Children []child `json:"children"`
}

type relation struct {
	ID    int    `json:"id"`
	From  int    `json:"issue_id"`
	To    int    `json:"issue_to_id"`
	Type  string `json:"relation_type"`
	Delay *int   `json:"delay,omitempty"`
}

type journal struct {
	ID        int      `json:"id"`
	User      named    `json:"user"`
	Notes     string   `json:"notes" lines:"many"`
	CreatedOn string   `json:"created_on"`
	UpdatedOn string   `json:"updated_on"` // since Redmine 6.0, as UpdatedBy
	UpdatedBy *named   `json:"updated_by"`
	Private   bool     `json:"private_notes"`
	Details   []detail `json:"details"`
}

type detail struct {
	Property string `json:"property"`
	Name     string `json:"name"`
	Old      string `json:"old_value" lines:"many"`
	New      string `json:"new_value" lines:"many"`
}

type changeset struct {
	Revision    string `json:"revision"`
	User        named  `json:"user"`
	Comments    string `json:"comments" lines:"many"`
	CommittedOn string `json:"committed_on"`
}

type attachment struct {
	ID          int    `json:"id"`
	Name        string `json:"filename"`
	Size        int64  `json:"filesize"`
	Type        string `json:"content_type"`
	Description string `json:"description,omitempty"`
	URL         string `json:"content_url,omitempty"`
	Author      named  `json:"author"`
	CreatedOn   string `json:"created_on"`
}

// readIssue reads an issue with what is included.
func readIssue(ctx context.Context, s *Server, id int, include string) (*issue, error) {
	return issueKind().read(ctx, s, id, include)
}

// issueAt is readIssue of an id as a tool is told it.
func issueAt(ctx context.Context, s *Server, text, include string) (*issue, error) {
	n, err := id("an issue", text)
	if err != nil {
		return nil, err
	}
	return readIssue(ctx, s, n, include)
}

// lf returns a text with the line ends that the rest of the world uses.
func lf(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// nameOf is the name of what may not be there.
func nameOf(n *named) string {
	if n == nil {
		return ""
	}
	return n.Name
}

// A row is an issue in a list: names only, and nothing that is empty. The list
// tells the ids of the names.
type row struct {
	ID       int               `json:"id"`
	Subject  string            `json:"subject"`
	Project  string            `json:"project,omitempty"`
	Tracker  string            `json:"tracker"`
	Status   string            `json:"status"`
	Priority string            `json:"priority"`
	Assignee string            `json:"assignee,omitempty"`
	Version  string            `json:"version,omitempty"`
	Parent   int               `json:"parent,omitempty"`
	Due      string            `json:"due,omitempty"`
	Done     int               `json:"done,omitempty"`
	Private  bool              `json:"private,omitempty"`
	Updated  string            `json:"updated"`
	Fields   map[string]string `json:"fields,omitempty"`

	// if they are included
	Relations   []relation   `json:"relations,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
}

func rowOf(i *issue) row {
	r := row{
		ID: i.ID, Subject: i.Subject, Project: i.Project.Name, Tracker: i.Tracker.Name, Status: i.Status.Name,
		Priority: i.Priority.Name, Assignee: nameOf(i.AssignedTo), Version: nameOf(i.FixedVersion),
		Due: i.DueDate, Done: i.DoneRatio, Private: i.IsPrivate, Updated: day(i.UpdatedOn),
		Relations: i.Relations, Attachments: i.Attachments,
	}
	if i.Parent != nil {
		r.Parent = i.Parent.ID
	}
	return r
}

// day is the date of a time.
func day(t string) string { return t[:min(len(t), len("2006-01-02"))] }

// line is a row as text.
func (r row) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s: %s | %s | %s", r.ID, r.Tracker, r.Subject, r.Status, r.Priority)
	for _, part := range []struct{ label, text string }{
		{"", r.Project}, {"", r.Assignee}, {"version ", r.Version}, {"due ", r.Due},
	} {
		if part.text != "" {
			b.WriteString(" | " + part.label + part.text)
		}
	}
	if r.Parent > 0 {
		fmt.Fprintf(&b, " | parent #%d", r.Parent)
	}
	if r.Done > 0 {
		fmt.Fprintf(&b, " | %d%%", r.Done)
	}
	if r.Private {
		b.WriteString(" | private")
	}
	return b.String()
}

// parts are what an issue names, by kind.
func (i *issue) parts() map[string]*named {
	all := map[string]*named{
		"project": &i.Project, "tracker": &i.Tracker, "status": &i.Status.named, "priority": &i.Priority,
		"assignee": i.AssignedTo, "version": i.FixedVersion,
	}
	maps.DeleteFunc(all, func(_ string, n *named) bool { return n == nil || n.ID == 0 })
	return all
}

// ids tell the ids of the names in a list of issues, by kind. Namesakes, such as
// versions of two projects, get theirs into the name.
func ids(all []issue) map[string]map[string]int {
	type name struct{ kind, text string }
	known, several := map[name]int{}, map[name]bool{}
	for i := range all {
		for kind, n := range all[i].parts() {
			called := name{kind, n.Name}
			if id, ok := known[called]; ok && id != n.ID {
				several[called] = true
			}
			known[called] = n.ID
		}
	}
	found := map[string]map[string]int{}
	for i := range all {
		for kind, n := range all[i].parts() {
			if several[name{kind, n.Name}] {
				n.Name = n.String()
			}
			if found[kind] == nil {
				found[kind] = map[string]int{}
			}
			found[kind][n.Name] = n.ID
		}
	}
	return found
}
