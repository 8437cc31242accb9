package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// A projectFile is a file of a project or of one of its versions.
type projectFile struct {
	attachment
	Version   *named `json:"version,omitempty"`
	Downloads int    `json:"downloads"`
	Digest    string `json:"digest,omitempty"`
}

type listFilesInput struct {
	Project string `json:"project_id" desc:"Id, key or name"`
	rowSpan
}

func listFiles(s *Server) entry {
	return tool(s, "list_files", "List project files", "List the files of a project and its versions.", reads,
		func(ctx context.Context, in listFilesInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			all, err := projectFiles(ctx, s, p)
			if err != nil {
				return nil, err
			}
			l := listing[projectFile]{what: "files", key: "files", rows: window(all, in.Offset, in.Limit), offset: in.Offset, total: len(all), facts: map[string]any{"project": p}}
			return l.answer(s)
		})
}

func (f projectFile) line() string {
	text := fmt.Sprintf("- %s [%d] | %d bytes | %s | %s | %s | %d downloads", f.Name, f.ID, f.Size, f.Type, f.Author.Name, f.CreatedOn.day(), f.Downloads)
	if f.Version != nil {
		text += " | version " + f.Version.String()
	}
	if f.Description != "" {
		text += " | " + f.Description
	}
	return text
}

// projectFiles are all files of a project. Redmine has no pages of this list.
func projectFiles(ctx context.Context, s *Server, p named) ([]projectFile, error) {
	var answer struct {
		Files []projectFile `json:"files"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/projects/%d/files.json", p.ID), nil, &answer)
	return answer.Files, explain(err, "the files of project "+p.Name)
}

type addFileInput struct {
	Project     string `json:"project_id" desc:"Id, key or name"`
	Token       string `json:"token" jsonschema:"minLength=1" desc:"From upload file"`
	Name        string `json:"filename,omitempty"`
	Description string `json:"description,omitempty" jsonschema:"maxLength=255"`
	Version     string `json:"version_id,omitempty" desc:"Name or id"`
}

func addFile(s *Server) entry {
	return tool(s, "add_file", "Add a project file", "Add an uploaded file to a project or one of its versions.", adds,
		func(ctx context.Context, in addFileInput) (*toolpost.Result, error) {
			p, err := s.project(ctx, in.Project)
			if err != nil {
				return nil, err
			}
			set := map[string]any{"token": in.Token, "filename": in.Name, "description": in.Description}
			if in.Version != "" {
				if set["version_id"], err = ownVersion(ctx, s, p, in.Version); err != nil {
					return nil, err
				}
			}
			err = s.client.send(ctx, "POST", fmt.Sprintf("/projects/%d/files.json", p.ID), map[string]any{"file": set}, nil)
			if code := status(err); code == 400 || code == 404 {
				return nil, toolpost.Retry("Redmine does not take the token %q: a token can be used once, exactly as the upload returned it. Upload the file again.", in.Token)
			}
			if err != nil {
				return nil, explain(err, "the file in project "+p.Name)
			}
			now, err := projectFiles(ctx, s, p)
			if err != nil {
				return s.done(fmt.Sprintf("Added the file to project %s. Do not repeat the change: it was made, but could not be read back: %v", p.Name, err), map[string]any{"done": true})
			}
			id, _, _ := strings.Cut(in.Token, ".")
			for i := range now {
				if fmt.Sprint(now[i].ID) == id {
					return s.answer(fmt.Sprintf("Added to project %s:\n%s\n", p.Name, now[i].line()), map[string]any{"file": now[i]})
				}
			}
			return nil, toolpost.Failed("Redmine accepted the request, but project %s has no new file.", p.Name)
		})
}

// ownVersion finds a version of a project. Redmine fails on one that another
// project shares with it.
func ownVersion(ctx context.Context, s *Server, p named, text string) (int, error) {
	v, err := s.find(ctx, versions(p.ID), text)
	if err != nil {
		return 0, err
	}
	full, err := versionKind().read(ctx, s, v.ID, "")
	if err != nil {
		return 0, err
	}
	if owner := full.Project; owner.ID != p.ID {
		return 0, toolpost.Retry("Version %s belongs to project %s, which shares it with %s. Add the file there, or leave the version out.", v, owner, p.Name)
	}
	return v.ID, nil
}
