package redmine

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// journals are the comments and changes of an issue.
type journals []journal

type journal struct {
	ID        int       `json:"id"`
	User      named     `json:"user"`
	CreatedOn timestamp `json:"created_on"`
	UpdatedOn timestamp `json:"updated_on,omitempty"` // since Redmine 6.0, as UpdatedBy
	UpdatedBy *named    `json:"updated_by,omitempty"`
	Private   bool      `json:"private_notes,omitempty"`
	Notes     longText  `json:"notes,omitempty"`
	Details   []detail  `json:"details,omitempty"`
}

// A detail is a change of one field, or of a file.
type detail struct {
	Property string   `json:"property"`
	Name     string   `json:"name"`
	Old      longText `json:"old_value,omitempty"`
	New      longText `json:"new_value,omitempty"`
}

func (all journals) lines() (text string) {
	for _, j := range all {
		text += fmt.Sprintf("\n## Note %d by %s, %s", j.ID, j.User.Name, j.CreatedOn)
		if j.Private {
			text += ", private"
		}
		if j.UpdatedBy != nil {
			text += fmt.Sprintf(", edited %s by %s", j.UpdatedOn, j.UpdatedBy.Name)
		}
		text += "\n"
		for _, c := range j.Details {
			text += "- " + c.String() + "\n"
		}
		if j.Notes != "" {
			text += quoted(string(j.Notes)) + "\n"
		}
	}
	return text
}

// prepare shortens the details to what is worth showing, with the names of fields.
func (j *journal) prepare(fields []field) {
	if j.UpdatedBy == nil {
		j.UpdatedOn = ""
	}
	for i := range j.Details {
		d := &j.Details[i]
		d.Name = strings.TrimSuffix(d.Name, "_id")
		if d.Property == "cf" {
			for _, f := range fields {
				if fmt.Sprint(f.ID) == d.Name {
					d.Name = f.Name
				}
			}
		}
		if len(d.Old)+len(d.New) > 200 {
			d.Old, d.New = "", ""
		}
	}
}

// String returns what changed, in one line.
func (d detail) String() string {
	switch before, after := string(d.Old), string(d.New); {
	case d.Property == "attachment" && after != "":
		return "file added: " + oneLine(after)
	case d.Property == "attachment":
		return "file removed: " + oneLine(before)
	case before == "" && after == "":
		return d.Name + " changed"
	case before == "":
		return oneLine(fmt.Sprintf("%s: %s", d.Name, after))
	default:
		return oneLine(fmt.Sprintf("%s: %s → %s", d.Name, before, after))
	}
}

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

func spelled(id longText, known []named) longText {
	for _, n := range known {
		if fmt.Sprint(n.ID) == string(id) {
			return longText(n.String())
		}
	}
	return id
}
