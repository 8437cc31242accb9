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
	idName
	Project int     `json:"project_id,omitempty"`
	In      *idName `json:"-" row:"project %s"`
	InName  string  `json:"project,omitempty"`
	Public  bool    `json:"is_public" row:"!private"`
}

// nameProjects gives queries the names of their projects, as far as this account sees
// them.
func nameProjects(ctx context.Context, s *Toolset, all []savedQuery) {
	var names []idName
	if slices.ContainsFunc(all, func(q savedQuery) bool { return q.Project > 0 }) {
		names, _ = s.names(ctx, projects(), false) // without them they have ids
	}
	for i := range all {
		if q := &all[i]; q.Project > 0 {
			q.In = &idName{ID: q.Project}
			if k := slices.IndexFunc(names, func(n idName) bool { return n.ID == q.Project }); k >= 0 {
				q.In, q.InName = &names[k], names[k].Name
			}
		}
	}
}

func listQueries(s *Toolset) entry {
	return listTool(s, "list_queries", "List saved queries", "List the saved queries of issues.", "queries", "queries",
		func(ctx context.Context, in listQueriesInput, p idName) (*listing, error) {
			all, err := readAll[savedQuery](ctx, s, "/queries.json", "queries", "the list of queries")
			all = slices.DeleteFunc(all, func(q savedQuery) bool { return p.ID > 0 && q.Project != 0 && q.Project != p.ID })
			nameProjects(ctx, s, pageOf(all, in.rowSpan))
			return wholeList(all, in.rowSpan), err
		})
}
