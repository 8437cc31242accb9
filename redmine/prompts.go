package redmine

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

//go:embed prompts/triage.md
var triage string

//go:embed prompts/weekly_report.md
var weeklyReport string

//go:embed prompts/release_notes.md
var releaseNotes string

// A prompt is a text with names of arguments in braces.
type prompt struct {
	name, title, description string
	arguments                []argument
	text                     string
}

type argument struct {
	name, description string
	required          bool
	complete          completer // nil if there is nothing to complete

	// find returns what stands in the text for the value, which may be empty. The
	// text may have its id too.
	find func(ctx context.Context, s *Toolset, value string, project idName) (idName, error)
}

func prompts() []prompt {
	// The project comes first: others are looked for in it.
	project := argument{"project", "Name, key or id of the project.", true, projectNames, nil}
	return []prompt{
		{"triage", "Triage", "Look through the issues of a project that nobody has sorted yet, and propose what becomes of them.",
			[]argument{project, {"status", "Status of the issues. Open ones without it.", false, statusNames, findStatus}}, triage},
		{"weekly_report", "Weekly report", "Report what happened in a project since a day.",
			[]argument{project, {"since", "First day, such as 2026-01-31. Without it, seven days ago by the clock of this computer.", false, nil, findDay}}, weeklyReport},
		{"release_notes", "Release notes", "Write release notes of a version from its closed issues.",
			[]argument{project, {"version", "Name of the version.", true, versionNames, findVersion}}, releaseNotes},
	}
}

func (p prompt) prompt(s *Toolset) *toolpost.Prompt {
	var told []any
	complete := map[string]completer{}
	for _, a := range p.arguments {
		told = append(told, map[string]any{"name": a.name, "description": a.description, "required": a.required})
		if a.complete != nil {
			complete[a.name] = a.complete
		}
	}
	return &toolpost.Prompt{
		Name:       p.name,
		Definition: encode(map[string]any{"title": p.title, "description": p.description, "arguments": told}),
		Complete:   completion(s, complete),
		Get: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			text, err := readAndVerify(ctx, s, func() (string, error) { return p.fill(ctx, s, call.Arguments) })
			if err != nil {
				return nil, invalid(s.client.hide.inError(err))
			}
			return toolpost.RawResult(s.client.hide.inJSON(encode(map[string]any{
				"description": p.description,
				"messages":    []any{map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": text}}},
			}))), nil
		},
	}
}

// fill finds the arguments, so that wrong ones are refused before a model starts.
func (p prompt) fill(ctx context.Context, s *Toolset, raw json.RawMessage) (string, error) {
	given := map[string]string{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return "", err
		}
	}
	unknown := maps.Clone(given)
	for _, a := range p.arguments {
		if delete(unknown, a.name); a.required && strings.TrimSpace(given[a.name]) == "" {
			return "", fmt.Errorf("give the argument %q: %s", a.name, a.description)
		}
	}
	for name := range unknown {
		return "", fmt.Errorf("there is no argument %q", name)
	}
	project, err := s.project(ctx, given[p.arguments[0].name])
	if err != nil {
		return "", err
	}
	replace := []string{"{project}", project.String(), "{project_id}", fmt.Sprint(project.ID)}
	for _, a := range p.arguments {
		if a.find == nil {
			continue
		}
		n, err := a.find(ctx, s, strings.TrimSpace(given[a.name]), project)
		if err != nil {
			return "", err
		}
		replace = append(replace, "{"+a.name+"}", n.Name, "{"+a.name+"_id}", fmt.Sprint(n.ID))
	}
	return strings.NewReplacer(replace...).Replace(p.text), nil
}

func findStatus(ctx context.Context, s *Toolset, value string, _ idName) (idName, error) {
	switch value {
	case "":
		value = "open"
		fallthrough
	case "open", "closed", "*":
		return idName{Name: value}, nil
	}
	return s.find(ctx, statuses(), value)
}

func findVersion(ctx context.Context, s *Toolset, value string, project idName) (idName, error) {
	return s.find(ctx, versions(project.ID), value)
}

func findDay(_ context.Context, _ *Toolset, value string, _ idName) (idName, error) {
	if value == "" {
		return idName{Name: time.Now().AddDate(0, 0, -7).Format(time.DateOnly)}, nil
	}
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		return idName{}, fmt.Errorf("%q is not a date; write it like 2026-01-31", value)
	}
	return idName{Name: value}, nil
}
