package redmine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

type listIssuesInput struct {
	Project    string   `json:"project_id,omitempty" desc:"Id, key or name"`
	Subproject string   `json:"subproject_id,omitempty" desc:"Id; !* for none"`
	Issue      string   `json:"issue_id,omitempty" jsonschema:"maxLength=10000" desc:"Ids separated by commas" filter:"|"`
	Tracker    string   `json:"tracker_id,omitempty" desc:"Names or ids separated by |" filter:"|,"`
	Status     string   `json:"status_id,omitempty" desc:"open, closed, * for all, or names or ids separated by |; default open"`
	Priority   string   `json:"priority_id,omitempty" desc:"Names or ids separated by |" filter:"|,"`
	Assignee   string   `json:"assigned_to_id,omitempty" desc:"Id, name or me; !* for nobody" filter:"|"`
	Author     string   `json:"author_id,omitempty" desc:"Id, name or me" filter:"|"`
	Watcher    string   `json:"watcher_id,omitempty" desc:"Id, name or me" filter:"|"`
	Category   string   `json:"category_id,omitempty" desc:"Name or id; needs a project" filter:"|,"`
	Version    string   `json:"fixed_version_id,omitempty" desc:"Name or id; a name needs a project" filter:"|,"`
	Parent     string   `json:"parent_id,omitempty" filter:"|"`
	Subject    string   `json:"subject,omitempty" desc:"Part of it"`
	Created    string   `json:"created_on,omitempty" desc:"2026-01-31, >=2026-01-01 or ><2026-01-01|2026-01-31; so the other dates" filter:"|"`
	Updated    string   `json:"updated_on,omitempty" filter:"|"`
	Closed     string   `json:"closed_on,omitempty" filter:"|"`
	Start      string   `json:"start_date,omitempty" filter:"|"`
	Due        string   `json:"due_date,omitempty" filter:"|"`
	Filters    []filter `json:"filters,omitempty" desc:"Further conditions, also on custom fields"`
	Query      string   `json:"query_id,omitempty" desc:"Saved query id or name"`
	Sort       string   `json:"sort,omitempty" desc:"Columns such as updated:desc,id"`
	Include    string   `json:"include,omitempty" desc:"Some of attachments,relations"`
	Fields     bool     `json:"show_fields,omitempty"`
	rowSpan
}

func listIssues(s *Toolset) entry {
	return tool(s, "list_issues", "List issues", "List issues, one line each.\nFilters take names as well as ids.", reads,
		func(ctx context.Context, in listIssuesInput) (*toolpost.Result, error) {
			q := &listQuery{s: s, ctx: ctx, list: issueRows(), what: "issues", filters: issueFilters(), values: url.Values{}}
			q.fields = func() ([]field, error) { return issueFields(ctx, s, q.list.project, 0) }
			query, err := issuesQuery(q, &in)
			if err != nil {
				return nil, err
			}
			all, total, err := rows[issue](ctx, s, q.list.path, query, q.list.key, in.Offset, in.most())
			switch {
			case status(err) == http.StatusNotFound && in.Query != "":
				return nil, toolpost.Retry.Errorf("There is no saved query %s here. List the saved queries; for one that belongs to a project, give that project too.", in.Query)
			case err != nil:
				return nil, explain(err, "the list of issues")
			}
			noteUnsorted(q, all)
			return answerIssues(q, all, &in, total)
		})
}

// answerIssues answers with issues, and with the ids of what they name.
func answerIssues(q *listQuery, all []issue, in *listIssuesInput, total int) (*toolpost.Result, error) {
	l := newListing(all, in.Offset, total)
	l.what, l.key, l.remarks, l.brief, l.facts = q.what, "issues", remarks(q, total), true, map[string]any{}
	if ids := idLegend(all); len(ids) > 0 {
		l.facts["ids"], l.end = ids, legendText(ids)
	}
	for i := range all {
		all[i].CustomFields = shownFields(q, in.Fields, all[i].Project, all[i].CustomFields)
	}
	return l.answer(q.s)
}

// linesBelow returns the relations and files of an issue.
func (i *issue) linesBelow() (lines []string) {
	for _, r := range i.Relations {
		lines = append(lines, r.text())
	}
	for _, a := range i.Attachments {
		lines = append(lines, fmt.Sprintf("file %s [%d]", a.Name, a.ID))
	}
	return lines
}

// shownFields are the custom fields of a row if they are asked for.
func shownFields(q *listQuery, asked bool, in idName, fields customFields) customFields {
	if !asked {
		return nil
	}
	nameFields(q.ctx, q.s, q.list.project, in.ID, fields)
	return fields
}

func legendText(ids map[string]map[string]int) (text string) {
	for _, kind := range sortedKeys(ids) {
		var parts []string
		for _, name := range sortedKeys(ids[kind]) {
			id := fmt.Sprintf(" [%d]", ids[kind][name])
			parts = append(parts, strings.TrimSuffix(name, id)+id)
		}
		text += fmt.Sprintf("%s: %s\n", kind, strings.Join(parts, ", "))
	}
	return text
}

// issuesQuery makes the query of a list.
func issuesQuery(q *listQuery, in *listIssuesInput) (url.Values, error) {
	q.project(in.Project)
	subproject(q, in.Subproject)
	withStatus(q, in.Status)
	q.addTagged(in)
	if in.Subject != "" {
		q.where("subject", q.filters["subject"], "~", []string{in.Subject})
	}
	for _, f := range in.Filters {
		q.filter(f)
	}
	q.sort(in.Sort, sortable)
	if in.Include != "" {
		include, err := checkIncludes(in.Include, "attachments,relations")
		q.fail(err)
		q.set("include", include)
	}
	if in.Query != "" {
		n, isID := number(in.Query)
		if !isID {
			found, err := q.s.find(q.ctx, source{"saved query", "/queries.json", "queries"}, in.Query)
			q.fail(err)
			q.noteMatch(in.Query, found)
			n = found.ID
		}
		q.set("query_id", fmt.Sprint(n))
		refuseBesideQuery(q)
		return q.encode()
	}
	q.below()
	if !q.has("status_id") {
		q.where("status_id", q.filters["status_id"], "o", nil)
		q.what = "open issues"
		q.remark("Only open issues are listed; give * as the status for all.")
	}
	return q.encode()
}

// withStatus takes a status that is called so before a word for all, or for those that
// are open or closed, unless it is written small.
func withStatus(q *listQuery, text string) {
	text = strings.TrimSpace(text)
	l := strings.ToLower(text)
	operator := map[string]string{
		"open": "o", "not closed": "o", "!closed": "o", "closed": "c", "not open": "c", "!open": "c",
		"all": "*", "any": "*", "both": "*", "open,closed": "*", "open|closed": "*", "closed,open": "*", "closed|open": "*",
	}[strings.ReplaceAll(l, ", ", ",")]
	if operator != "" && text != l {
		all, err := q.s.names(q.ctx, statuses(), false)
		q.fail(err)
		if len(selectNamed(all, func(n idName) bool { return n.Name == text })) == 1 {
			operator = ""
		}
	}
	q.addText("status_id", cmp.Or(operator, text), "|,")
}

const sortable = "id, project, tracker, status, priority, author, assigned_to, category, fixed_version, " +
	"parent, subject, start_date, due_date, estimated_hours, done_ratio, created_on, updated_on, closed_on"

// parts are what an issue names, by kind.
func (i *issue) parts() map[string]*idName {
	all := map[string]*idName{
		"project": &i.Project, "tracker": &i.Tracker, "status": &i.Status.idName, "priority": &i.Priority,
		"assignee": i.AssignedTo, "version": i.FixedVersion,
	}
	maps.DeleteFunc(all, func(_ string, n *idName) bool { return n == nil || n.ID == 0 })
	return all
}

// idLegend returns the ids of the names in a list of issues, by kind. Namesakes, such as
// versions of two projects, get theirs into the name.
func idLegend(all []issue) map[string]map[string]int {
	type name struct{ kind, text string }
	known, several := map[name]int{}, map[name]bool{}
	for i := range all {
		for kind, n := range all[i].parts() {
			called := name{kind, n.Name}
			if id, ok := known[called]; ok && id != n.ID {
				several[called] = true
			}
			known[called] = n.ID
		}
	}
	found := map[string]map[string]int{}
	for i := range all {
		for kind, n := range all[i].parts() {
			if several[name{kind, n.Name}] {
				n.Name = n.String()
			}
			if found[kind] == nil {
				found[kind] = map[string]int{}
			}
			found[kind][n.Name] = n.ID
		}
	}
	return found
}
