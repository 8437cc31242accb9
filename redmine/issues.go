package redmine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// An issue is a task, a defect or the like of a project.
type issue struct {
	ID             int            `json:"id" brief:"id"`
	Subject        string         `json:"subject" brief:"subject" set:"subject"`
	Tracker        idName         `json:"tracker" brief:"tracker" set:"tracker_id"`
	Status         issueStatus    `json:"status" text:"status" row:"%n" brief:"status" set:"status_id"`
	Priority       idName         `json:"priority" text:"priority" row:"%n" brief:"priority" set:"priority_id"`
	Project        idName         `json:"project" text:"project" row:"%n" brief:"project" set:"project_id"`
	AssignedTo     *idName        `json:"assigned_to,omitempty" text:"assigned to" row:"%n" brief:"assignee" set:"assigned_to_id"`
	Category       *idName        `json:"category,omitempty" text:"category" set:"category_id"`
	FixedVersion   *idName        `json:"fixed_version,omitempty" text:"version" row:"version %n" brief:"version" set:"fixed_version_id"`
	Author         idName         `json:"author" text:"author"`
	Parent         *issueRef      `json:"parent,omitempty" text:"parent" row:"parent %s" brief:"parent" set:"parent_issue_id"`
	StartDate      string         `json:"start_date,omitempty" text:"start" set:"start_date"`
	DueDate        string         `json:"due_date,omitempty" text:"due" row:"due %s" brief:"due" set:"due_date"`
	DoneRatio      percentage     `json:"done_ratio" text:"done,always" row:"%s" brief:"done" set:"done_ratio"`
	EstimatedHours *hours         `json:"estimated_hours,omitempty" text:"estimated" set:"estimated_hours"`
	SpentHours     hours          `json:"spent_hours,omitempty" text:"spent"`
	TotalSpent     *hours         `json:"total_spent_hours,omitempty" text:"spent with subtasks"`
	IsPrivate      bool           `json:"is_private,omitempty" text:"private" row:"private" brief:"private" set:"is_private"`
	CustomFields   customFields   `json:"custom_fields,omitzero" brief:"fields"`
	CreatedOn      timestamp      `json:"created_on" text:"created"`
	UpdatedOn      timestamp      `json:"updated_on" text:"updated" brief:"updated"`
	ClosedOn       timestamp      `json:"closed_on,omitempty" text:"closed"`
	Watchers       []idName       `json:"watchers,omitempty" text:"watchers"`
	Allowed        []idName       `json:"allowed_statuses,omitempty" text:"next statuses"`
	Hidden         []string       `json:"hidden,omitempty" text:"hidden from this account"`
	Hash           string         `json:"description_hash,omitempty" text:"description hash"` // for an edit
	Description    longText       `json:"description,omitempty" set:"description"`
	Children       subtasks       `json:"children,omitempty"`
	Relations      issueRelations `json:"relations,omitempty" brief:"relations"`
	Attachments    files          `json:"attachments,omitempty" brief:"attachments"`
	Changesets     changesets     `json:"changesets,omitempty"`
	OlderNotes     int            `json:"older_notes,omitempty" text:"older comments and changes that are left out; call again with more notes"`
	Journals       journals       `json:"journals,omitempty"`
}

// String returns the issue as a line begins with it.
func (i *issue) String() string { return fmt.Sprintf("#%d %s: %s", i.ID, i.Tracker.Name, i.Subject) }

func (i *issue) title() string { return fmt.Sprintf("%s #%d: %s", i.Tracker.Name, i.ID, i.Subject) }

// prepare implements [preparer].
func (i *issue) prepare() {
	if i.Description != "" {
		i.Hash = hashOf(string(i.Description))
	}
	if i.TotalSpent != nil && *i.TotalSpent <= i.SpentHours {
		i.TotalSpent = nil
	}
	for k := range i.Journals {
		i.Journals[k].prepare(i.CustomFields)
	}
}

type issueStatus struct {
	idName
	Closed bool `json:"is_closed"`
}

// An issueRef is an issue without its subject.
type issueRef struct {
	ID int `json:"id"`
}

func (r issueRef) String() string { return fmt.Sprintf("#%d", r.ID) }

// IsZero reports whether the reference is empty.
func (r issueRef) IsZero() bool { return r.ID == 0 }

func (r issueRef) reference() idRef { return idRef{idName{ID: r.ID}} }

// subtasks are the issues below an issue, each with its own.
type subtasks []struct {
	ID       int      `json:"id"`
	Tracker  idName   `json:"tracker"`
	Subject  string   `json:"subject"`
	Children subtasks `json:"children,omitempty"`
}

func (all subtasks) lines() string { return all.list("- child ") }

func (all subtasks) list(before string) (text string) {
	for _, c := range all {
		text += fmt.Sprintf("%s#%d %s: %s\n", before, c.ID, c.Tracker.Name, c.Subject) + c.Children.list("  "+before)
	}
	return text
}

// readIssue reads an issue with what is included.
func readIssue(ctx context.Context, s *Toolset, id int, include string) (*issue, error) {
	return issueEndpoint().read(ctx, s, id, include)
}

// findIssue reads the issue with an id as it stands in the arguments of a tool.
func findIssue(ctx context.Context, s *Toolset, text, include string) (*issue, error) {
	return issueEndpoint().find(ctx, s, "an issue", text, include)
}

func issueTools(s *Toolset) []entry {
	return []entry{
		listIssues(s), getIssue(s), createIssue(s), updateIssue(s), editIssue(s), deleteIssue(s),
		addWatcher(s), removeWatcher(s), listRelations(s), createRelation(s), deleteRelation(s), updateComment(s),
	}
}

// An issueID says which issue.
type issueID struct {
	ID string `json:"id"`
}

type getIssueInput struct {
	issueID
	Include string `json:"include,omitempty" desc:"Some of children,attachments,relations,journals,watchers,changesets; all by default, or none"`
	Notes   int    `json:"notes,omitempty" jsonschema:"minimum=1,maximum=1000,default=50" desc:"Newest comments and changes to show"`
}

// everything that an issue includes.
const everything = "children,attachments,relations,journals,watchers,changesets,allowed_statuses"

func getIssue(s *Toolset) entry {
	return tool(s, "get_issue", "Show an issue", "Show an issue with its full text, comments, files, relations and allowed next statuses.", reads,
		func(ctx context.Context, in getIssueInput) (*toolpost.Result, error) {
			include, err := checkIncludes(in.Include, everything)
			if err != nil {
				return nil, err
			}
			i, err := findIssue(ctx, s, in.ID, include)
			if err != nil {
				return nil, err
			}
			i.OlderNotes, i.Hidden = max(0, len(i.Journals)-in.Notes), hiddenFields(i, include)
			i.Journals = i.Journals[i.OlderNotes:]
			nameJournalIDs(ctx, s, i, nil)
			nameFields(ctx, s, i.Project.ID, i.Project.ID, i.CustomFields)
			return s.show("", i, nil)
		})
}

// checkIncludes checks a list of things to include. Redmine ignores what it does not
// know.
func checkIncludes(text, all string) (string, error) {
	switch text = strings.ReplaceAll(strings.TrimSpace(text), " ", ""); text {
	case "":
		return all, nil
	case "none":
		return "", nil
	}
	for _, part := range strings.Split(text, ",") {
		if !slices.Contains(strings.Split(all, ","), part) {
			return "", toolpost.Retry.Errorf("%q cannot be included. Choose from: %s.", part, strings.ReplaceAll(all, ",", ", "))
		}
	}
	return text, nil
}

// hiddenFields returns what this account may not see of an issue: Redmine leaves it out, as
// if there were none.
func hiddenFields(i *issue, include string) (hidden []string) {
	if i.TotalSpent == nil {
		hidden = append(hidden, "logged time")
	}
	if i.Watchers == nil && strings.Contains(include, "watchers") {
		hidden = append(hidden, "watchers")
	}
	return hidden
}

// issueEndpoint is how issues are read, written and compared.
func issueEndpoint() endpoint[issue] {
	return endpoint[issue]{
		collection: collection{
			key: "issue", path: "/issues", include: "journals,attachments,watchers",
			why: "this account may not set it, the workflow forbids it, or the subtasks determine it",
		},
		name: func(i *issue) string { return fmt.Sprintf("issue %d", i.ID) },
	}
}
