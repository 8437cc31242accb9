package redmine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
)

type watcherInput struct {
	Issue string `json:"issue_id"`
	User  string `json:"user_id" desc:"Id, name or me"`
}

func addWatcher(s *Toolset) entry {
	return tool(s, "add_issue_watcher", "Add a watcher", "Add a watcher to an issue.", changes,
		func(ctx context.Context, in watcherInput) (*toolpost.Result, error) { return watch(ctx, s, in, true) })
}

func removeWatcher(s *Toolset) entry {
	return tool(s, "remove_issue_watcher", "Remove a watcher", "Remove a watcher from an issue.", changes,
		func(ctx context.Context, in watcherInput) (*toolpost.Result, error) { return watch(ctx, s, in, false) })
}

// watch changes who watches. Redmine takes any number for a user, so it is read
// back.
func watch(ctx context.Context, s *Toolset, in watcherInput, on bool) (*toolpost.Result, error) {
	i, err := findIssue(ctx, s, in.Issue, "")
	if err != nil {
		return nil, err
	}
	who, err := s.person(ctx, i.Project.ID, in.User)
	if err != nil {
		return nil, err
	}
	n := i.ID
	if err := s.setLink(ctx, issueEndpoint().recordPath(n)+"/watchers", "user_id", who.ID, on); err != nil {
		return nil, explain(err, fmt.Sprintf("the watchers of issue %d", n))
	}
	if i, err = issueEndpoint().get(ctx, s, issueEndpoint().recordPath(n), "watchers"); err != nil {
		return s.unread(fmt.Sprintf("Redmine accepted the change of the watchers of issue %d", n), explain(err, fmt.Sprintf("issue %d", n)), map[string]any{"id": n})
	}
	if i.Watchers == nil {
		return s.answerLine(fmt.Sprintf("Redmine accepted the request, but this account may not see who watches issue %d, so it is not known whether %s does.", n, who), map[string]any{"id": n, "read_back": false})
	}
	if watches := slices.ContainsFunc(i.Watchers, func(w idName) bool { return w.ID == who.ID }); watches != on {
		return nil, toolpost.Failed.Errorf("Redmine accepted the request, but the watchers of issue %d are: %s.", n, cmp.Or(listNames(i.Watchers), "nobody"))
	}
	return s.answerLine(fmt.Sprintf("The watchers of issue %d are: %s.", n, cmp.Or(listNames(i.Watchers), "nobody")), map[string]any{"id": n, "watchers": i.Watchers})
}
