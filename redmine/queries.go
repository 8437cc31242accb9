package redmine

import (
	"context"
	"slices"
)

type listQueriesInput struct {
	optionalProject
	rowSpan
}

// A savedQuery is a saved list of issues.
type savedQuery struct {
	named
	Project int  `json:"project_id,omitempty" row:"project %s"`
	Public  bool `json:"is_public" row:"!private"`
}

func listQueries(s *Toolset) entry {
	return listTool(s, "list_queries", "List saved queries", "List the saved queries of issues.", "queries", "queries",
		func(ctx context.Context, in listQueriesInput, p named) (*listing[savedQuery], error) {
			all, err := readAll[savedQuery](ctx, s, "/queries.json", "queries", "the list of queries")
			all = slices.DeleteFunc(all, func(q savedQuery) bool { return p.ID > 0 && q.Project != 0 && q.Project != p.ID })
			return whole(all, in.rowSpan), err
		})
}
