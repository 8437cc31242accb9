package redmine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost"
)

// A completer returns what an argument may be, given the others.
type completer func(ctx context.Context, s *Toolset, given map[string]string) ([]string, error)

// maxCompletions are returned at once (MCP 2026-07-28, Completion).
const maxCompletions = 100

// completion completes arguments: values that begin as the text does come first,
// then those that have it elsewhere.
func completion(s *Toolset, of map[string]completer) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var asked struct {
			Argument struct{ Name, Value string }
			Context  struct{ Arguments map[string]string }
		}
		if err := json.Unmarshal(call.Arguments, &asked); err != nil {
			return nil, invalid(err)
		}
		var all []string
		if f := of[asked.Argument.Name]; f != nil {
			var err error
			if all, err = readAndVerify(ctx, s, func() ([]string, error) { return f(ctx, s, asked.Context.Arguments) }); err != nil {
				return nil, invalid(s.client.hide.inError(err))
			}
		}
		found := filterMatches(all, asked.Argument.Value)
		shown := found[:min(len(found), maxCompletions)]
		return toolpost.RawResult(s.client.hide.inJSON(encode(map[string]any{
			"completion": map[string]any{"values": shown, "total": len(found), "hasMore": len(found) > len(shown)},
		}))), nil
	}
}

func filterMatches(all []string, text string) []string {
	begin, within := []string{}, []string{}
	text = strings.ToLower(text)
	for _, v := range all {
		switch at := strings.Index(strings.ToLower(v), text); {
		case at == 0:
			begin = append(begin, v)
		case at > 0:
			within = append(within, v)
		}
	}
	return append(begin, within...)
}

func projectNames(ctx context.Context, s *Toolset, _ map[string]string) ([]string, error) {
	return textsOf(ctx, s, projects(), func(n idName) string { return n.Name })
}

func projectKeys(ctx context.Context, s *Toolset, _ map[string]string) ([]string, error) {
	return textsOf(ctx, s, projects(), func(n idName) string { return n.Identifier })
}

func statusNames(ctx context.Context, s *Toolset, _ map[string]string) ([]string, error) {
	return textsOf(ctx, s, statuses(), func(n idName) string { return n.Name })
}

// versionNames need the project.
func versionNames(ctx context.Context, s *Toolset, given map[string]string) ([]string, error) {
	if given["project"] == "" {
		return nil, nil
	}
	p, err := s.project(ctx, given["project"])
	if err != nil {
		return nil, err
	}
	return textsOf(ctx, s, versions(p.ID), func(n idName) string { return n.Name })
}

func textsOf(ctx context.Context, s *Toolset, src source, text func(idName) string) ([]string, error) {
	all, err := s.names(ctx, src, false)
	var found []string
	for _, n := range all {
		found = append(found, text(n))
	}
	return found, err
}

// wikiTitles need the project.
func wikiTitles(ctx context.Context, s *Toolset, given map[string]string) ([]string, error) {
	if given["id"] == "" {
		return nil, nil
	}
	p, err := s.project(ctx, given["id"])
	if err != nil {
		return nil, err
	}
	all, err := wikiPages(ctx, s, p)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, page := range all {
		titles = append(titles, page.Title)
	}
	return titles, nil
}
