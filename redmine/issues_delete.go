package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type deleteIssueInput struct {
	issueID
	confirmation
	Time string `json:"time_entries,omitempty" jsonschema:"enum=delete,enum=keep,enum=move,default=delete" desc:"Its logged time"`
	To   string `json:"move_to_issue_id,omitempty" desc:"Gets the logged time"`
}

func (in *deleteIssueInput) find(ctx context.Context, s *Toolset) (*issue, error) {
	return findIssue(ctx, s, in.ID, "children,attachments,journals")
}

func deleteIssue(s *Toolset) entry {
	return deleteTool(s, issueEndpoint, "delete_issue", "Delete an issue", "Delete an issue with its subtasks, comments and files.",
		func(ctx context.Context, in *deleteIssueInput, i *issue, r *removal) (err error) {
			r.query, err = in.todo(ctx, s, i)
			r.what, r.would = fmt.Sprintf("issue %d: %s", i.ID, i.Subject), goesWith(i)
			r.facts = map[string]any{"subtasks": i.Children, "notes": len(i.Journals), "files": len(i.Attachments), "spent_hours": i.TotalSpent}
			return err
		})
}

// todo says what becomes of logged time. Without a word Redmine deletes it too.
func (in *deleteIssueInput) todo(ctx context.Context, s *Toolset, i *issue) (string, error) {
	switch in.Time {
	case "keep":
		return "?todo=nullify", nil
	case "move":
		to, err := findIssue(ctx, s, in.To, "")
		switch {
		case err != nil:
			return "", err
		case to.ID == i.ID || isInside(i.Children, to.ID):
			return "", toolpost.Retry.Errorf("Issue %d would be deleted too, so the logged time cannot move there; give another issue.", to.ID)
		case to.Project.ID != i.Project.ID:
			return "", toolpost.Retry.Errorf("Issue %d is in project %s. Logged time can be moved within project %s only.", to.ID, to.Project, i.Project)
		}
		return fmt.Sprintf("?todo=reassign&reassign_to_id=%d", to.ID), nil
	}
	return "?todo=destroy", nil
}

func isInside(all subtasks, id int) bool {
	for _, c := range all {
		if c.ID == id || isInside(c.Children, id) {
			return true
		}
	}
	return false
}

// goesWith shows what goes with an issue.
func goesWith(i *issue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Deleting issue %d, %s, would also delete:\n", i.ID, i.Subject)
	b.WriteString(i.Children.list("- subtask "))
	fmt.Fprintf(&b, "- %d comments and changes, as far as this account can see\n- %d files\n- ", len(i.Journals), len(i.Attachments))
	if i.TotalSpent == nil {
		b.WriteString("logged time, which this account cannot see, unless it is kept or moved")
	} else {
		fmt.Fprintf(&b, "%s of logged time, unless it is kept or moved", *i.TotalSpent)
	}
	return b.String()
}
