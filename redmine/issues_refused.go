package redmine

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// explainRefusal adds to a refusal what can be given instead: Redmine words the reason in
// the language of the account.
func (w *issueWrite) explainRefusal(err error, what string) error {
	told := explain(err, what)
	if status(err) != http.StatusUnprocessableEntity {
		return told
	}
	text := told.Error()
	if p, err := projectEndpoint().read(w.ctx, w.s, w.project, ""); err == nil && p.Status == closedProject {
		text = fmt.Sprintf("Project %s is closed, so it cannot take issues until it is reopened. %s", p.idName(), text)
	} else if err == nil && w.before == nil && lacksIssues(w.ctx, w.s, p.ID) {
		return toolpost.Failed.Errorf("Project %s does not use issue tracking (the module is switched off), so it cannot take issues.", p.idName())
	}
	if w.set["assigned_to_id"] != nil {
		if all, err := people(w.ctx, w.s, w.project); err == nil && len(all) > 0 {
			text += fmt.Sprintf(" It can be assigned to members of the project whose role allows it: %s.", listNames(all))
		}
	}
	if w.set["fixed_version_id"] != nil {
		if all, err := openVersions(w.ctx, w.s, w.project); err == nil {
			text += fmt.Sprintf(" Open versions: %s.", cmp.Or(listNames(all), "none"))
		}
	}
	return toolpost.Retry.Errorf("%s", text)
}

// lacksIssues reports whether a project surely does not use issue tracking.
func lacksIssues(ctx context.Context, s *Toolset, project int) bool {
	p, err := projectEndpoint().read(ctx, s, project, "enabled_modules")
	return err == nil && p.Modules != nil && !slices.Contains(p.Modules, "issue_tracking")
}

// whyNot is why an issue cannot have a status now: what blocks it, if it would be
// closed, or the workflow.
func whyNot(ctx context.Context, s *Toolset, issue int, wanted idName) string {
	workflow := fmt.Sprintf("the workflow does not allow %s for this account", wanted)
	all, err := readAll[value](ctx, s, statuses().path, statuses().key, "the statuses")
	if err != nil || !slices.ContainsFunc(all, func(v value) bool { return v.ID == wanted.ID && v.Closed }) {
		return workflow
	}
	i, err := readIssue(ctx, s, issue, "relations,children")
	if err != nil {
		return workflow
	}
	var open []string
	for _, r := range i.Relations[:min(len(i.Relations), 20)] {
		if r.Type != "blocks" || r.To != issue {
			continue
		}
		if by, err := readIssue(ctx, s, r.From, ""); err == nil && !by.Status.Closed {
			open = append(open, fmt.Sprintf("#%d", by.ID))
		}
	}
	switch {
	case len(open) > 0:
		return fmt.Sprintf("it cannot be closed as %s while an open issue blocks it: %s", wanted, strings.Join(open, ", "))
	case len(i.Children) > 0:
		return workflow + "; an issue with open subtasks cannot be closed either"
	}
	return workflow
}
