package redmine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func repositoryTools(s *Toolset) []entry {
	return []entry{
		tool(s, "link_revision", "Link a revision", "Link an issue to a revision of a project's repository.", changes,
			func(ctx context.Context, in revisionInput) (*toolpost.Result, error) {
				return relate(ctx, s, &in, true)
			}),
		tool(s, "unlink_revision", "Unlink a revision", "Remove the link between an issue and a revision.", changes,
			func(ctx context.Context, in revisionInput) (*toolpost.Result, error) {
				return relate(ctx, s, &in, false)
			}),
	}
}

type revisionInput struct {
	Project    string `json:"project_id" desc:"Id, key or name"`
	Repository string `json:"repository_id" jsonschema:"minLength=1" desc:"Id or key as in the address of its page"`
	Revision   string `json:"revision" jsonschema:"minLength=1" desc:"Such as 1234 or a commit hash"`
	Issue      string `json:"issue_id"`
}

// path returns the path of the issues of the revision, and its project.
func (in *revisionInput) path(ctx context.Context, s *Toolset) (string, idName, error) {
	repository, err := segment("a repository", in.Repository)
	if err != nil {
		return "", idName{}, err
	}
	if in.Revision, err = segment("a revision", in.Revision); err != nil {
		return "", idName{}, err
	}
	p, err := s.project(ctx, in.Project)
	return fmt.Sprintf("/projects/%d/repository/%s/revisions/%s/issues", p.ID, repository, in.Revision), p, err
}

// relate links an issue to a revision, or no longer.
func relate(ctx context.Context, s *Toolset, in *revisionInput, on bool) (*toolpost.Result, error) {
	path, p, err := in.path(ctx, s)
	if err != nil {
		return nil, err
	}
	n, err := id("an issue", in.Issue)
	if err != nil {
		return nil, err
	}
	before, err := readIssue(ctx, s, n, "changesets")
	if err != nil {
		return nil, err
	}
	err = s.setLink(ctx, path, "issue_id", n, on)
	switch status(err) {
	case 0:
	case http.StatusNotFound:
		return nil, toolpost.Retry.Errorf("Project %s has no repository %q with a revision %q. The address of the repository's page contains its name; a new revision exists once Redmine has read it.", p.Name, in.Repository, in.Revision)
	case http.StatusUnprocessableEntity:
		if isLinked(before, in.Revision) {
			return answerRevisions(s, before, "Nothing was changed: they are linked already, as it seems. ")
		}
		return nil, toolpost.Retry.Errorf("Redmine does not link issue %d to that revision: they may be linked already, or the issue's project is not related to %s.", n, p.Name)
	}
	if err != nil {
		return nil, explain(err, fmt.Sprintf("the link of issue %d to revision %s", n, in.Revision))
	}
	now, err := readIssue(ctx, s, n, "changesets")
	switch {
	case err != nil:
		return s.unread(fmt.Sprintf("Redmine accepted the change of the revisions of issue %d", n), err, map[string]any{"id": n})
	case len(now.Changesets) == len(before.Changesets):
		return answerRevisions(s, now, "Redmine accepted the request, but as far as this account can see nothing changed. ")
	}
	return answerRevisions(s, now, "")
}

// isLinked reports whether an issue is linked to a revision, which may be
// shortened.
func isLinked(i *issue, revision string) bool {
	return slices.ContainsFunc(i.Changesets, func(c changeset) bool {
		return c.Revision == revision || len(revision) >= 7 && strings.HasPrefix(c.Revision, revision)
	})
}

func answerRevisions(s *Toolset, i *issue, before string) (*toolpost.Result, error) {
	text := fmt.Sprintf("%sIssue %d has %d revisions.\n%s", before, i.ID, len(i.Changesets), i.Changesets.lines())
	return s.answerLine(text, map[string]any{"id": i.ID, "changesets": append([]changeset{}, i.Changesets...)})
}

type changesets []changeset

type changeset struct {
	Revision    string   `json:"revision"`
	User        idName   `json:"user"`
	Comments    longText `json:"comments"`
	CommittedOn string   `json:"committed_on"`
}

func (all changesets) lines() (text string) {
	for _, c := range all {
		text += fmt.Sprintf("- revision %s by %s: %s\n", c.Revision, c.User.Name, quoteMultiline(normalizeNewlines(string(c.Comments))))
	}
	return text
}
