package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type listProjectStatusesInput struct {
	projectID
	Tracker string `json:"tracker_id" desc:"Name or id"`
}

// A step is a status that an issue can have, and those that this account can set
// after it.
type step struct {
	Status issueStatus `json:"status"`
	Next   []idName    `json:"next,omitempty"`
	Issue  int         `json:"seen_in_issue,omitempty"` // 0 if no issue has the status
	Away   bool        `json:"of_other_project,omitempty"`
}

// How sure the statuses are. Redmine does not return its workflows, but what may
// come next for an issue.
const (
	sureHere      = "sure where an issue of this project is named, as Redmine tells what may follow for this account, and likely where the issue is of another project: workflows are the same in all, but roles may differ. An issue that is blocked or has open subtasks may not be closed, so closed ones may be missing there. A status that no issue has, and that follows none, is missing."
	sureElsewhere = "likely: this project has no issue of this tracker, so issues of other projects were taken. Workflows are the same in all projects, but depend on the roles of this account there. An issue that is blocked or has open subtasks may not be closed, so closed ones may be missing there."
	sureNothing   = "a guess: this account sees no issue of this tracker anywhere, so these are all the statuses that Redmine has, first that of a new issue. Create an issue to see what may follow."
)

func listProjectStatuses(s *Toolset) entry {
	return projectTool(s, "list_project_statuses", "List a project's statuses", "List the statuses that issues of a project and tracker can have, and which may follow which.", reads,
		func(ctx context.Context, in listProjectStatusesInput, n idName) (*toolpost.Result, error) {
			p, err := projectEndpoint().read(ctx, s, n.ID, "trackers")
			if err != nil {
				return nil, err
			}
			tracker, err := matchName("tracker", in.Tracker, p.Trackers)
			if err != nil {
				return nil, err
			}
			steps, sure, err := workflow(ctx, s, n.ID, tracker.ID)
			if err != nil {
				return nil, err
			}
			text := fmt.Sprintf("Statuses of tracker %s in project %s. This is %s\n", tracker, n, sure)
			for _, st := range steps {
				text += st.line()
			}
			return s.answer(text, map[string]any{"project": n, "tracker": tracker, "statuses": steps, "certainty": sure})
		})
}

func (st step) line() string {
	text := "- " + st.Status.String()
	if st.Status.Closed {
		text += ", closed"
	}
	of := ""
	if st.Away {
		of = " of another project"
	}
	switch {
	case len(st.Next) > 0:
		text += fmt.Sprintf("; may become %s (issue #%d%s)", listNames(st.Next), st.Issue, of)
	case st.Issue > 0:
		text += fmt.Sprintf("; this account may not change it (issue #%d%s)", st.Issue, of)
	}
	return text + "\n"
}

// workflow finds the statuses of a project and tracker, in Redmine's order.
func workflow(ctx context.Context, s *Toolset, project, tracker int) ([]step, string, error) {
	here := url.Values{"tracker_id": {fmt.Sprint(tracker)}, "project_id": {fmt.Sprint(project)}, "subproject_id": {"!*"}}
	seen, err := stepsOf(ctx, s, here, nil)
	if err != nil {
		return nil, "", err
	}
	sure := sureHere
	if len(seen) == 0 {
		sure = sureElsewhere
	}
	if seen, err = stepsOf(ctx, s, url.Values{"tracker_id": {fmt.Sprint(tracker)}}, seen); err != nil {
		return nil, "", err
	}
	var answer struct {
		Statuses []issueStatus `json:"issue_statuses"`
	}
	if err := s.client.get(ctx, "/issue_statuses.json", nil, &answer); err != nil {
		return nil, "", explain(err, "the statuses")
	}
	if len(seen) == 0 {
		all, err := guessSteps(ctx, s, tracker, answer.Statuses)
		return all, sureNothing, err
	}
	var steps []step
	for _, st := range answer.Statuses {
		i := slices.IndexFunc(seen, func(x step) bool { return x.Status.ID == st.ID })
		switch {
		case i >= 0:
			steps = append(steps, step{st, seen[i].Next, seen[i].Issue, seen[i].Away})
		case slices.ContainsFunc(seen, func(x step) bool { return slices.Contains(x.Next, st.idName) }):
			steps = append(steps, step{Status: st})
		}
	}
	return steps, sure, nil
}

// stepsOf looks at one issue of each status that the issues of a query have and
// that was not seen yet.
func stepsOf(ctx context.Context, s *Toolset, query url.Values, seen []step) ([]step, error) {
	away := query.Get("project_id") == ""
	query.Set("status_id", "*")
	var known []string
	for _, st := range seen {
		known = append(known, fmt.Sprint(st.Status.ID))
	}
	for {
		if len(known) > 0 {
			query.Set("status_id", "!"+strings.Join(known, "|"))
		}
		some, _, err := rows[issue](ctx, s, "/issues.json", query, "issues", 0, 1)
		if status(err) == http.StatusForbidden {
			return seen, nil // issues are switched off there
		}
		if err != nil {
			return nil, explain(err, "the issues of the project")
		}
		if len(some) == 0 {
			return seen, nil
		}
		i, err := readIssue(ctx, s, some[0].ID, "allowed_statuses")
		if err != nil {
			return nil, err
		}
		if slices.Contains(known, fmt.Sprint(i.Status.ID)) {
			return seen, nil // changed meanwhile
		}
		next := slices.DeleteFunc(i.Allowed, func(n idName) bool { return n.ID == i.Status.ID })
		seen = append(seen, step{i.Status, next, i.ID, away})
		known = append(known, fmt.Sprint(i.Status.ID))
	}
}

// guessSteps are all statuses; the first of a new issue comes first.
func guessSteps(ctx context.Context, s *Toolset, tracker int, all []issueStatus) ([]step, error) {
	var answer struct {
		Trackers []struct {
			idName
			First *idName `json:"default_status"`
		} `json:"trackers"`
	}
	if err := s.client.get(ctx, "/trackers.json", nil, &answer); err != nil {
		return nil, explain(err, "the trackers")
	}
	var steps []step
	for _, st := range all {
		steps = append(steps, step{Status: st})
	}
	for _, t := range answer.Trackers {
		if t.ID == tracker && t.First != nil {
			slices.SortStableFunc(steps, func(a, b step) int {
				switch t.First.ID {
				case a.Status.ID:
					return -1
				case b.Status.ID:
					return 1
				}
				return 0
			})
		}
	}
	return steps, nil
}
