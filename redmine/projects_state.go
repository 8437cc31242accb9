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

type projectInputID struct {
	ID string `json:"id" desc:"Id, key or name"`
}

func archiveProject(s *Toolset) entry {
	return tool(s, "archive_project", "Archive a project", "Archive a project with its subprojects, for administrators.\nArchived projects are not listed: note the key to unarchive it.", changes,
		func(ctx context.Context, in projectInputID) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			if err := requireWholeName(in.ID, "project "+p.String(), wholeNames(p)...); err != nil {
				return nil, err
			}
			below, err := subprojects(ctx, s, p.ID)
			if err != nil {
				return nil, err
			}
			if err := setState(ctx, s, fmt.Sprint(p.ID), "archive"); err != nil {
				return nil, explain(err, "archiving project "+p.String())
			}
			_, err = projectEndpoint().get(ctx, s, projectEndpoint().recordPath(p.ID), "")
			if err == nil {
				return nil, toolpost.Failed.Errorf("Redmine accepted the request, but project %s is not archived. Redmine refuses that while issues of other projects are planned for one of its versions.", p)
			}
			text := fmt.Sprintf("Archived project %s, key %s. To restore it, call unarchive_project with the id or key.", p, p.Identifier)
			if len(below) > 0 {
				text += fmt.Sprintf("\nThese were archived with it: %s; each of them has to be unarchived separately.", listNames(below))
			}
			if n := status(err); n != http.StatusForbidden && n != http.StatusNotFound {
				text += fmt.Sprintf("\nWhether it worked could not be checked: %v", err)
			}
			return s.answerLine(text, map[string]any{"id": p.ID, "identifier": p.Identifier, "status": projectStatus(archivedProject), "subprojects": below})
		})
}

func unarchiveProject(s *Toolset) entry {
	return tool(s, "unarchive_project", "Unarchive a project", "Make an archived project visible again, for administrators.", changes,
		func(ctx context.Context, in struct {
			ID string `json:"id" desc:"Id or key"`
		}) (*toolpost.Result, error) {
			key := strings.TrimPrefix(strings.TrimSpace(in.ID), "#")
			if key == "" || strings.ContainsAny(key, " /?#%.") {
				return nil, toolpost.Retry.Errorf("%q is not the id or key of a project; archived projects cannot be found by name.", in.ID)
			}
			before, err := s.names(ctx, projects(), true)
			if err != nil {
				return nil, err
			}
			switch err := setState(ctx, s, key, "unarchive"); {
			case status(err) == http.StatusNotFound:
				return nil, toolpost.Retry.Errorf("There is no project with the id or key %q. Archived projects cannot be found by name; the user can find them in Redmine under Administration, Projects.", key)
			case err != nil:
				return nil, explain(err, "the change of project "+key)
			}
			p, err := s.project(ctx, key)
			if err != nil {
				return nil, toolpost.Failed.Errorf("Redmine accepted the request, but project %s cannot be read: its parent project may be archived; unarchive that first.", key)
			}
			return readBackState(ctx, s, p, "unarchive", unarchivedWith(ctx, s, p, before), activeProject, closedProject)
		})
}

// unarchivedWith returns the projects that were not there before: Redmine unarchives
// those that a project is in with it.
func unarchivedWith(ctx context.Context, s *Toolset, p idName, before []idName) string {
	now, err := s.names(ctx, projects(), true)
	if err != nil {
		return " Projects that it is in may be unarchived with it."
	}
	also := selectNamed(now, func(n idName) bool { return n.ID != p.ID && !slices.Contains(before, n) })
	if len(also) == 0 {
		return ""
	}
	return fmt.Sprintf(" Its parent projects were unarchived too: %s.", listNames(also))
}

func closeProject(s *Toolset) entry {
	return tool(s, "close_project", "Close a project", "Close a project with its subprojects: they can be read but not changed until reopened.", changes,
		func(ctx context.Context, in projectInputID) (*toolpost.Result, error) {
			return openOrClose(ctx, s, in.ID, "close", closedProject)
		})
}

func reopenProject(s *Toolset) entry {
	return tool(s, "reopen_project", "Reopen a project", "Reopen a closed project with its subprojects.", changes,
		func(ctx context.Context, in projectInputID) (*toolpost.Result, error) {
			return openOrClose(ctx, s, in.ID, "reopen", activeProject)
		})
}

func openOrClose(ctx context.Context, s *Toolset, id, verb string, want projectStatus) (*toolpost.Result, error) {
	n, err := s.project(ctx, id)
	if err == nil {
		err = requireWholeName(id, "project "+n.String(), wholeNames(n)...)
	}
	if err != nil {
		return nil, err
	}
	if err := setState(ctx, s, fmt.Sprint(n.ID), verb); err != nil {
		return nil, explain(err, "the change of project "+n.String())
	}
	return readBackState(ctx, s, n, verb, "", want)
}

// setState carries out a change of state. It is in the API since Redmine 5.0.
func setState(ctx context.Context, s *Toolset, key, verb string) error {
	defer s.forget("projects")
	return s.client.send(ctx, http.MethodPut, "/projects/"+url.PathEscape(key)+"/"+verb+".json", nil, nil)
}

// readBackState answers with the state of a project, which must be one of those
// wanted, and with what is below it.
func readBackState(ctx context.Context, s *Toolset, n idName, verb, more string, wanted ...projectStatus) (*toolpost.Result, error) {
	now, err := projectEndpoint().read(ctx, s, n.ID, "")
	var below []idName
	if err == nil {
		below, err = subprojects(ctx, s, n.ID)
	}
	if err != nil {
		return s.unread(fmt.Sprintf("Redmine accepted the request to %s project %s", verb, n), err, map[string]any{"id": n.ID})
	}
	if !slices.Contains(wanted, now.Status) {
		return nil, toolpost.Failed.Errorf("Redmine accepted the request to %s project %s, but it is %s; its parent project may have to be changed first.", verb, n, now.Status)
	}
	text := fmt.Sprintf("Project %s is %s now.", n, now.Status)
	if len(below) > 0 {
		text += fmt.Sprintf(" Projects in it: %s.", listNames(below))
	}
	return s.answerLine(text+more, map[string]any{"id": n.ID, "identifier": now.Identifier, "status": now.Status, "subprojects": below})
}

// wholeNames are what names a project whole.
func wholeNames(p idName) []string { return []string{fmt.Sprint(p.ID), p.Identifier, p.Name} }
