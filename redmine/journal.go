package redmine

import (
	"context"
	"fmt"
)

// spellOut puts names to the ids in the journals of an issue, where this account
// can list them.
func spellOut(ctx context.Context, s *Server, i *issue) {
	from := func(src source) func() ([]named, error) {
		return func() ([]named, error) { return s.names(ctx, src, false) }
	}
	sources := map[string]func() ([]named, error){
		"status_id": from(statuses()), "tracker_id": from(trackers()), "priority_id": from(priorities()), "project_id": from(projects()),
		"category_id": from(categories(i.Project.ID)), "fixed_version_id": from(versions(i.Project.ID)),
		"assigned_to_id": func() ([]named, error) { return people(ctx, s, i.Project.ID) },
	}
	nameChanges(ctx, s, i)
	known := map[string][]named{}
	for _, j := range i.Journals {
		for k := range j.Details {
			d := &j.Details[k]
			read := sources[d.Name]
			if d.Property != "attr" || read == nil {
				continue
			}
			if _, done := known[d.Name]; !done {
				known[d.Name], _ = read() // without names the ids stay
			}
			d.Old, d.New = spelled(d.Old, known[d.Name]), spelled(d.New, known[d.Name])
		}
	}
}

func spelled(id string, known []named) string {
	for _, n := range known {
		if fmt.Sprint(n.ID) == id {
			return n.String()
		}
	}
	return id
}
