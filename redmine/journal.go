package redmine

import (
	"context"
	"fmt"
	"slices"
)

// spellOut puts names to the ids in the journals of an issue, where this account
// can list them.
//
// Before is the issue before a move, which may have left its category and version in
// the other project, or nil.
func spellOut(ctx context.Context, s *Server, i, before *issue) {
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
				names, _ := read() // without names the ids stay
				known[d.Name] = slices.Concat(names, before.named(d.Name))
			}
			d.Old, d.New = spelled(d.Old, known[d.Name]), spelled(d.New, known[d.Name])
		}
	}
}

// named is what an issue has in a field, as a list of at most one.
func (i *issue) named(field string) []named {
	if i == nil {
		return nil
	}
	if has := map[string]*named{"category_id": i.Category, "fixed_version_id": i.FixedVersion, "assigned_to_id": i.AssignedTo}[field]; has != nil {
		return []named{*has}
	}
	return nil
}

func spelled(id string, known []named) string {
	for _, n := range known {
		if fmt.Sprint(n.ID) == id {
			return n.String()
		}
	}
	return id
}
