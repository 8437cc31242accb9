package redmine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type updateCommentInput struct {
	Issue   string  `json:"issue_id"`
	ID      string  `json:"id" desc:"Comment id"`
	Notes   *string `json:"notes,omitempty" desc:"Empty removes it"`
	Private string  `json:"private_notes,omitempty" jsonschema:"enum=true,enum=false"`
}

func updateComment(s *Server) entry {
	return tool(s, "update_issue_comment", "Change a comment", "Change or remove a comment of an issue.", changes,
		func(ctx context.Context, in updateCommentInput) (*toolpost.Result, error) {
			n, err := id("a comment", in.ID)
			if err != nil {
				return nil, err
			}
			i, err := issueAt(ctx, s, in.Issue, "journals")
			if err != nil {
				return nil, err
			}
			if comment(i, n) == nil {
				return nil, toolpost.Retry("Issue %d has no comment %d that this account can see. Read the issue to see its comments.", i.ID, n)
			}
			set := map[string]any{}
			if in.Notes != nil {
				if set["notes"] = *in.Notes; strings.TrimSpace(*in.Notes) == "" {
					set["notes"] = "" // which Redmine takes blanks for
				}
			}
			if in.Private != "" {
				set["private_notes"] = in.Private == "true"
			}
			if len(set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give notes or private_notes.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/journals/%d.json", n), map[string]any{"journal": set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("comment %d", n))
			}
			return toldComment(ctx, s, i.ID, n, set)
		})
}

// comment is a journal of an issue, nil if it is not there.
func comment(i *issue, id int) *journal {
	if k := slices.IndexFunc(i.Journals, func(j journal) bool { return j.ID == id }); k >= 0 {
		return &i.Journals[k]
	}
	return nil
}

// toldComment reads a comment back with its issue: alone it cannot be read.
func toldComment(ctx context.Context, s *Server, issue, id int, set map[string]any) (*toolpost.Result, error) {
	done, facts := fmt.Sprintf("Changed comment %d of issue %d", id, issue), map[string]any{"id": id, "issue_id": issue}
	i, err := issueKind().get(ctx, s, issueKind().at(issue), "journals")
	if err != nil {
		facts["read_back"] = false
		return s.done(fmt.Sprintf("%s, but it could not be read back: %v", done, explain(err, fmt.Sprintf("issue %d", issue))), facts)
	}
	now := comment(i, id)
	switch {
	case set["notes"] == "" && (now == nil || now.Notes == ""): // what was changed with it may still be there
		facts["removed"] = true
		return s.done(fmt.Sprintf("Removed comment %d of issue %d.", id, issue), facts)
	case now == nil:
		facts["read_back"] = false
		return s.done(done+", but this account does not see it now.", facts)
	}
	wrong := unlike(set, map[string]any{"notes": lf(string(now.Notes)), "private_notes": now.Private})
	if len(wrong) == len(set) {
		return nil, toolpost.Failed("Redmine did not save the change of comment %d, perhaps because %s: %v.", id, notAllowed, wrong)
	}
	facts["not_taken"] = wrong
	return s.done(outcome(done, notAllowed, wrong), facts)
}
