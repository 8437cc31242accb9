package redmine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// A rowSource is a list that takes conditions. Redmine ignores those that it does not
// know; which they are shows in what it complains about.
type rowSource struct {
	path, key, kind string
	silent          bool // skips all conditions if one is wrong
	project         int  // 0 for all
}

func issueRows() rowSource {
	return rowSource{path: "/issues.json", key: "issues", kind: "IssueQuery"}
}

func timeRows() rowSource {
	return rowSource{path: "/time_entries.json", key: "time_entries", kind: "TimeEntryQuery", silent: true}
}

// hasFilter reports whether Redmine knows a filter: then it refuses an empty value.
func (l rowSource) hasFilter(ctx context.Context, s *Toolset, name string) (bool, error) {
	return l.complains(ctx, s, encodeConditions([]condition{{name, "=", []string{""}}}))
}

// complains reports whether Redmine refuses conditions.
func (l rowSource) complains(ctx context.Context, s *Toolset, query url.Values) (bool, error) {
	faults, err := l.faults(ctx, s, query)
	return faults > 0, err
}

// faults counts what Redmine finds wrong with conditions. Its failures have no words
// yet. A silent list gets one condition more, which nothing meets, and they are wrong
// where it has rows nevertheless.
func (l rowSource) faults(ctx context.Context, s *Toolset, query url.Values) (int, error) {
	switch {
	case !l.silent:
	case query.Has("f[]"):
		maps.Copy(query, url.Values{"f[]": append(query["f[]"], "hours"), "op[hours]": {"="}, "v[hours][]": {"-1"}})
	default:
		query.Set("hours", "-1")
	}
	if l.project > 0 {
		query.Set("project_id", strconv.Itoa(l.project))
	}
	_, total, err := rows[json.RawMessage](ctx, s, l.path, query, l.key, 0, 1)
	var f *responseError
	if errors.As(err, &f) && f.status == http.StatusUnprocessableEntity {
		return max(1, len(f.errors)), nil
	}
	if err == nil && l.silent {
		return total, nil
	}
	return 0, err
}
