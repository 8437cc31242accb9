package redmine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// journals are the comments and changes of an issue.
type journals []journal

type journal struct {
	ID        int       `json:"id"`
	User      idName    `json:"user"`
	CreatedOn timestamp `json:"created_on"`
	UpdatedOn timestamp `json:"updated_on,omitempty"` // since Redmine 6.0, as UpdatedBy
	UpdatedBy *idName   `json:"updated_by,omitempty"`
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
			text += quoteText(string(j.Notes)) + "\n"
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

// nameJournalIDs puts names to the ids in the journals of an issue, where this account
// can list them.
//
// Before is the issue before a move, which may have left its category and version in
// the other project, or nil.
func nameJournalIDs(ctx context.Context, s *Toolset, i, before *issue) {
	from := func(src source) func() ([]idName, error) {
		return func() ([]idName, error) { return s.names(ctx, src, false) }
	}
	sources := map[string]func() ([]idName, error){
		"status_id": from(statuses()), "tracker_id": from(trackers()), "priority_id": from(priorities()), "project_id": from(projects()),
		"category_id": from(categories(i.Project.ID)), "fixed_version_id": from(versions(i.Project.ID)),
		"assigned_to_id": func() ([]idName, error) { return people(ctx, s, i.Project.ID) },
	}
	nameChanges(ctx, s, i)
	known := map[string][]idName{}
	for _, j := range i.Journals {
		for k := range j.Details {
			d := &j.Details[k]
			read := sources[d.Name]
			if d.Property != "attr" || read == nil {
				continue
			}
			if _, done := known[d.Name]; !done {
				names, _ := read() // without names the ids stay
				known[d.Name] = slices.Concat(names, before.namedField(d.Name))
			}
			d.Old, d.New = nameOfID(d.Old, known[d.Name]), nameOfID(d.New, known[d.Name])
		}
	}
}

// namedField is what an issue has in a field, as a list of at most one.
func (i *issue) namedField(field string) []idName {
	if i == nil {
		return nil
	}
	if has := map[string]*idName{"category_id": i.Category, "fixed_version_id": i.FixedVersion, "assigned_to_id": i.AssignedTo}[field]; has != nil {
		return []idName{*has}
	}
	return nil
}

func nameOfID(id longText, known []idName) longText {
	for _, n := range known {
		if fmt.Sprint(n.ID) == string(id) {
			return longText(n.String())
		}
	}
	return id
}

type updateCommentInput struct {
	Issue   string  `json:"issue_id"`
	ID      string  `json:"id" desc:"Comment id"`
	Notes   *string `json:"notes,omitempty" jsonschema:"maxLength=1000000" desc:"Empty removes it"`
	Private string  `json:"private_notes,omitempty" jsonschema:"enum=true,enum=false"`
}

func updateComment(s *Toolset) entry {
	return tool(s, "update_issue_comment", "Change a comment", "Change or remove a comment of an issue.", changes,
		func(ctx context.Context, in updateCommentInput) (*toolpost.Result, error) {
			n, err := id("a comment", in.ID)
			if err != nil {
				return nil, err
			}
			i, err := findIssue(ctx, s, in.Issue, "journals")
			if err != nil {
				return nil, err
			}
			if comment(i, n) == nil {
				return nil, toolpost.Retry.Errorf("Issue %d has no comment %d that this account can see. Read the issue to see its comments.", i.ID, n)
			}
			set := map[string]any{}
			if in.Notes != nil {
				if set["notes"] = *in.Notes; strings.TrimSpace(*in.Notes) == "" {
					set["notes"] = "" // which Redmine takes blanks for
				}
			}
			if in.Private != "" {
				set["private_notes"] = in.Private == "true"
			}
			if len(set) == 0 {
				return nil, toolpost.Retry.Errorf("Nothing to change: give notes or private_notes.")
			}
			if err := s.client.send(ctx, http.MethodPut, fmt.Sprintf("/journals/%d.json", n), map[string]any{"journal": set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("comment %d", n))
			}
			return readBackComment(ctx, s, i.ID, n, set)
		})
}

// comment is a journal of an issue, nil if it is not there.
func comment(i *issue, id int) *journal {
	if k := slices.IndexFunc(i.Journals, func(j journal) bool { return j.ID == id }); k >= 0 {
		return &i.Journals[k]
	}
	return nil
}

// readBackComment reads a comment back with its issue: alone it cannot be read.
func readBackComment(ctx context.Context, s *Toolset, issue, id int, set map[string]any) (*toolpost.Result, error) {
	done, facts := fmt.Sprintf("Changed comment %d of issue %d", id, issue), map[string]any{"id": id, "issue_id": issue}
	i, err := issueEndpoint().get(ctx, s, issueEndpoint().recordPath(issue), "journals")
	if err != nil {
		return s.unread(done, explain(err, fmt.Sprintf("issue %d", issue)), facts)
	}
	now := comment(i, id)
	switch {
	case set["notes"] == "" && (now == nil || now.Notes == ""): // what was changed with it may still be there
		facts["removed"] = true
		return s.answerLine(fmt.Sprintf("Removed comment %d of issue %d.", id, issue), facts)
	case now == nil:
		facts["read_back"] = false
		return s.answerLine(done+", but this account does not see it now.", facts)
	}
	wrong := diffValues(set, map[string]any{"notes": normalizeNewlines(string(now.Notes)), "private_notes": now.Private})
	if len(wrong) == len(set) {
		return nil, toolpost.Failed.Errorf("Redmine did not save the change of comment %d, perhaps because %s: %v.", id, notAllowed, wrong)
	}
	if len(wrong) > 0 {
		facts["not_taken"] = wrong
	}
	return s.answerLine(summarize(done, notAllowed, wrong), facts)
}
