package redmine

import (
	"context"
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

func getIssue(s *Server) entry {
	return tool(s, "get_issue", "Show an issue", "Show an issue with its full text, comments, files, relations and allowed next statuses.", reads,
		func(ctx context.Context, in getIssueInput) (*toolpost.Result, error) {
			include, err := included(in.Include, everything)
			if err != nil {
				return nil, err
			}
			i, err := issueAt(ctx, s, in.ID, include)
			if err != nil {
				return nil, err
			}
			i.OlderNotes, i.Hidden = max(0, len(i.Journals)-in.Notes), hiddenOf(i, include)
			i.Journals = i.Journals[i.OlderNotes:]
			spellOut(ctx, s, i, nil)
			nameFields(ctx, s, i.Project.ID, i.Project.ID, i.CustomFields)
			return s.show("", i, nil)
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

func sorted[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
