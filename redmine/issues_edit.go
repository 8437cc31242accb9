package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type editIssueInput struct {
	ID   string `json:"id" jsonschema:"description=Issue id"`
	Old  string `json:"old_text" jsonschema:"minLength=1,description=Text of the description to replace. It must stand there once"`
	New  string `json:"new_text" jsonschema:"description=Text to put in its place"`
	All  bool   `json:"replace_all,omitempty" jsonschema:"description=Whether to replace every occurrence"`
	Seen string `json:"updated_on,omitempty" jsonschema:"description=Time of the last change that you have seen. The edit is refused if there was a later one"`
}

func editIssue(s *Server) entry {
	return tool(s, "edit_issue_description", "Edit an issue's description", "Replace a part of an issue's description and leave the rest as it is.\nThe text to replace must stand there exactly once.", changes,
		func(ctx context.Context, in editIssueInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.ID)
			if err != nil {
				return nil, err
			}
			s.editing.Lock() // Redmine has no way to refuse an edit of what has changed
			defer s.editing.Unlock()
			before, err := readIssue(ctx, s, n, "")
			if err != nil {
				return nil, err
			}
			if in.Seen != "" && in.Seen != before.UpdatedOn {
				return nil, toolpost.Retry("Issue %d was changed at %s, after %s. Read it again.", n, before.UpdatedOn, in.Seen)
			}
			text, err := replaced(before.Description, in.Old, in.New, in.All)
			if err != nil {
				return nil, err
			}
			w := &issueWrite{write: write{s: s, ctx: ctx, project: before.Project.ID, set: map[string]any{}}, before: before}
			if w.text("description", text); w.err != nil {
				return nil, w.err
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/issues/%d.json", n), map[string]any{"issue": w.set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the change of issue %d", n))
			}
			return w.told(n, "Changed")
		})
}

// replaced returns text with a part of it replaced. Redmine keeps lines that end
// with CR LF: they stay so.
func replaced(text, part, by string, all bool) (string, error) {
	crlf := strings.Contains(text, "\r\n")
	text, part, by = lf(text), lf(part), lf(by)
	switch n := strings.Count(text, part); {
	case n == 0:
		return "", toolpost.Retry("The text to replace is not there. Read the whole text, and copy the part exactly.")
	case n > 1 && !all:
		return "", toolpost.Retry("The text to replace is there %d times. Give more of the text around it, or replace all.", n)
	}
	text = strings.ReplaceAll(text, part, by)
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, nil
}
