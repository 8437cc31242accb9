package redmine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

type deleteProjectInput struct {
	projectInputID
	confirmation
}

func (in *deleteProjectInput) find(ctx context.Context, s *Toolset) (*project, error) {
	p, err := s.project(ctx, in.ID)
	return &project{ID: p.ID, Name: p.Name, Identifier: p.Identifier}, err
}

func deleteProject(s *Toolset) entry {
	return deleteTool(s, projectEndpoint, "delete_project", "Delete a project", "Delete a project with its subprojects, issues, logged time, wiki and files.\nClosing or archiving it keeps everything.",
		func(ctx context.Context, in *deleteProjectInput, p *project, r *removal) (err error) {
			r.given, r.names, r.what = in.ID, wholeNames(p.idName()), fmt.Sprintf("project %s, key %s", p.idName(), p.Identifier)
			r.would, r.facts, err = goesWithProject(ctx, s, p.idName())
			return err
		})
}

// goesWithProject shows what goes with a project.
func goesWithProject(ctx context.Context, s *Toolset, p idName) (would string, facts map[string]any, err error) {
	below, err := subprojects(ctx, s, p.ID)
	if err != nil {
		return "", nil, err
	}
	facts = map[string]any{"id": p.ID, "subprojects": below}
	var b strings.Builder
	fmt.Fprintf(&b, "With project %s, key %s, would go:\n", p, p.Identifier)
	for _, sub := range below {
		fmt.Fprintf(&b, "- subproject %s\n", sub)
	}
	for _, part := range []struct {
		label, path, key string
		query            url.Values
	}{
		{"issues", "/issues.json", "issues", url.Values{"project_id": {fmt.Sprint(p.ID)}, "status_id": {"*"}}},
		{"time entries", "/time_entries.json", "time_entries", url.Values{"project_id": {fmt.Sprint(p.ID)}}},
		{"memberships", fmt.Sprintf("/projects/%d/memberships.json", p.ID), "memberships", url.Values{}},
	} {
		n, err := count(ctx, s, part.path, part.query, part.key)
		switch {
		case err == nil:
			fmt.Fprintf(&b, "- %d %s\n", n, part.label)
			facts[part.key] = n
		case status(err) != http.StatusForbidden && status(err) != http.StatusNotFound: // its module is switched off
			return "", nil, explain(err, "the "+part.label+" of project "+p.String())
		}
	}
	b.WriteString("- its wiki, news, documents, files and forums, and subprojects that are archived\nThe counts are of what this account sees.")
	return b.String(), facts, nil
}
