package redmine

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type listIssuesInput struct {
	Project    string   `json:"project_id,omitempty" jsonschema:"description=Project id or key or name"`
	Subproject string   `json:"subproject_id,omitempty" jsonschema:"description=Subproject id. Write !* for the project without its subprojects"`
	Issue      string   `json:"issue_id,omitempty" jsonschema:"description=Issue ids with commas between"`
	Tracker    string   `json:"tracker_id,omitempty" jsonschema:"description=Tracker name or id. Several with a bar between"`
	Status     string   `json:"status_id,omitempty" jsonschema:"description=open or closed or * for all or a status name or id. Several with a bar between. Open ones if left out"`
	Priority   string   `json:"priority_id,omitempty" jsonschema:"description=Priority name or id. Several with a bar between"`
	Assignee   string   `json:"assigned_to_id,omitempty" jsonschema:"description=Person id or name or me. Write !* for nobody"`
	Author     string   `json:"author_id,omitempty" jsonschema:"description=Person id or name or me"`
	Watcher    string   `json:"watcher_id,omitempty" jsonschema:"description=Person id or name or me"`
	Category   string   `json:"category_id,omitempty" jsonschema:"description=Category name or id. Needs a project"`
	Version    string   `json:"fixed_version_id,omitempty" jsonschema:"description=Version name or id. A name needs a project"`
	Parent     string   `json:"parent_id,omitempty" jsonschema:"description=Id of the parent issue"`
	Subject    string   `json:"subject,omitempty" jsonschema:"description=Text that the subject contains"`
	Created    string   `json:"created_on,omitempty" jsonschema:"description=Date such as 2026-01-31 or >=2026-01-01 or ><2026-01-01|2026-01-31"`
	Updated    string   `json:"updated_on,omitempty" jsonschema:"description=Date written like the creation date"`
	Closed     string   `json:"closed_on,omitempty" jsonschema:"description=Date written like the creation date"`
	Start      string   `json:"start_date,omitempty" jsonschema:"description=Date written like the creation date"`
	Due        string   `json:"due_date,omitempty" jsonschema:"description=Date written like the creation date"`
	Filters    []filter `json:"filters,omitempty" jsonschema:"description=Further conditions. Also for custom fields by name"`
	Query      string   `json:"query_id,omitempty" jsonschema:"description=Id of a saved query"`
	Sort       string   `json:"sort,omitempty" jsonschema:"description=Columns with commas between. Add :desc to turn one round such as updated:desc"`
	Include    string   `json:"include,omitempty" jsonschema:"description=attachments or relations to add"`
	Fields     bool     `json:"show_fields,omitempty" jsonschema:"description=Whether to show custom fields"`
	Offset     int      `json:"offset,omitempty" jsonschema:"minimum=0,description=Issues to skip"`
	Limit      int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50,description=Issues to show"`
}

// A filter is a condition that has no property of its own.
type filter struct {
	Field    string   `json:"field" jsonschema:"description=Name such as description or notes or estimated hours or a custom field"`
	Operator string   `json:"operator,omitempty" jsonschema:"default==,description=Such as = or ! or ~ or >= or !* or *"`
	Values   []string `json:"values,omitempty" jsonschema:"description=Texts to compare with"`
}

func listIssues(s *Server) entry {
	return tool(s, "list_issues", "List issues", "List issues as one line each, open ones if no status is given.\nFilters take names as well as ids.\nThe answer tells the total and how to go on.", reads,
		func(ctx context.Context, in listIssuesInput) (*toolpost.Result, error) {
			query, err := queryOf(ctx, s, &in)
			if err != nil {
				return nil, err
			}
			all, total, err := rows[issue](ctx, s, "/issues.json", query, "issues", in.Offset, limitOf(in.Limit))
			if err != nil {
				return nil, explain(err, "the list of issues")
			}
			return answerIssues(s, all, &in, total)
		})
}

// answerIssues answers with issues.
func answerIssues(s *Server, all []issue, in *listIssuesInput, total int) (*toolpost.Result, error) {
	answer := struct {
		Issues []row                     `json:"issues"`
		Total  int                       `json:"total"`
		Offset int                       `json:"offset"`
		IDs    map[string]map[string]int `json:"ids,omitempty"`
	}{[]row{}, total, in.Offset, ids(all)}
	var b strings.Builder
	b.WriteString(span("issues", len(all), in.Offset, total) + "\n")
	for i := range all {
		r := rowOf(&all[i])
		if in.Fields {
			r.Fields = fieldsOf(all[i].CustomFields)
		}
		answer.Issues = append(answer.Issues, r)
		b.WriteString(r.line() + "\n")
		for _, name := range sorted(r.Fields) {
			fmt.Fprintf(&b, "  %s: %s\n", name, r.Fields[name])
		}
		for _, l := range all[i].Relations {
			fmt.Fprintf(&b, "  #%d %s #%d\n", l.From, l.Type, l.To)
		}
		for _, a := range all[i].Attachments {
			fmt.Fprintf(&b, "  file %s [%d]\n", a.Name, a.ID)
		}
	}
	for _, kind := range sorted(answer.IDs) {
		var parts []string
		for _, name := range sorted(answer.IDs[kind]) {
			parts = append(parts, fmt.Sprintf("%s [%d]", name, answer.IDs[kind][name]))
		}
		fmt.Fprintf(&b, "%s: %s\n", kind, strings.Join(parts, ", "))
	}
	return s.answer(b.String(), answer)
}

// queryOf returns the query of a list. Redmine ignores filters that it does
// not know, so none of those is sent.
func queryOf(ctx context.Context, s *Server, in *listIssuesInput) (url.Values, error) {
	q := &issueQuery{s: s, ctx: ctx, values: url.Values{}}
	q.project(in.Project)
	q.several("tracker_id", in.Tracker, trackers())
	q.several("priority_id", in.Priority, priorities())
	q.status(in.Status)
	for _, p := range []struct{ name, text string }{
		{"assigned_to_id", in.Assignee}, {"author_id", in.Author}, {"watcher_id", in.Watcher},
	} {
		q.person(p.name, p.text)
	}
	q.within("category_id", in.Category, categories(q.in))
	q.within("fixed_version_id", in.Version, versions(q.in))
	for _, d := range []struct{ name, text string }{
		{"created_on", in.Created}, {"updated_on", in.Updated}, {"closed_on", in.Closed}, {"start_date", in.Start}, {"due_date", in.Due},
	} {
		q.date(d.name, d.text)
	}
	q.numbers("issue_id", in.Issue)
	q.numbers("parent_id", in.Parent)
	q.numbers("query_id", in.Query)
	subproject(q, in.Subproject)
	if strings.Contains(in.Subject, "|") {
		q.fail(toolpost.Retry("Redmine takes a bar for several texts; leave it out of the subject."))
	}
	if in.Subject != "" {
		q.set("subject", contains(in.Subject))
	}
	for _, f := range in.Filters {
		q.filter(f)
	}
	q.sort(in.Sort, sortable)
	if in.Include != "" {
		include, err := included(in.Include, "attachments,relations")
		q.fail(err)
		q.set("include", include)
	}
	alone(q, in.Query)
	return q.values, q.err
}

// An issueQuery is the query of a list as it is made. The first failure stays.
type issueQuery struct {
	s      *Server
	ctx    context.Context
	values url.Values
	in     int // the project
	err    error
}

func (q *issueQuery) set(name, value string) {
	if value != "" && q.err == nil {
		q.values.Set(name, value)
	}
}

// contains is the condition that a text has another in it. Without quotes Redmine
// looks for its words one by one, and leaves out those of one letter.
func contains(text string) string {
	if text = strings.TrimSpace(text); strings.ContainsAny(text, " \t") && !strings.Contains(text, `"`) {
		return `~"` + text + `"`
	}
	return "~" + text
}

func (q *issueQuery) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (q *issueQuery) project(text string) {
	if text == "" {
		return
	}
	n, err := q.s.project(q.ctx, text)
	q.fail(err)
	q.in = n.ID
	q.set("project_id", fmt.Sprint(n.ID))
}

// several finds names with bars between. A leading ! turns the condition round.
func (q *issueQuery) several(name, text string, src source) {
	if text == "" || q.err != nil {
		return
	}
	if text == "*" || text == "!*" {
		q.set(name, text)
		return
	}
	rest, not := strings.CutPrefix(text, "!")
	var found []string
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '|' || r == ',' }) {
		n, err := q.s.find(q.ctx, src, part)
		q.fail(err)
		found = append(found, fmt.Sprint(n.ID))
	}
	if len(found) == 0 {
		q.fail(toolpost.Retry("%q names no %s.", text, src.what))
	}
	value := strings.Join(found, "|")
	if not {
		value = "!" + value
	}
	q.set(name, value)
}

// status takes a status that is called so before a word for all that are open or
// closed, unless it is written small.
func (q *issueQuery) status(text string) {
	text = strings.TrimSpace(text)
	l := strings.ToLower(text)
	if l != "open" && l != "closed" && l != "*" {
		q.several("status_id", text, statuses())
		return
	}
	if text != l {
		all, err := q.s.names(q.ctx, statuses(), false)
		q.fail(err)
		if found := those(all, func(n named) bool { return n.Name == text }); len(found) == 1 {
			l = fmt.Sprint(found[0].ID)
		}
	}
	q.set("status_id", l)
}

func (q *issueQuery) person(name, text string) {
	switch l := strings.ToLower(strings.TrimSpace(text)); {
	case l == "" || q.err != nil:
	case l == "*", l == "!*", l == "me":
		q.set(name, l)
	default:
		n, err := q.s.person(q.ctx, q.in, text)
		q.fail(err)
		q.set(name, fmt.Sprint(n.ID))
	}
}

// within finds what belongs to the project.
func (q *issueQuery) within(name, text string, src source) {
	_, isID := number(text)
	switch {
	case text == "" || q.err != nil:
	case q.in > 0:
		q.several(name, text, src)
	case isID && name != "category_id" || text == "*" || text == "!*":
		q.set(name, strings.TrimPrefix(text, "#"))
	default:
		q.fail(toolpost.Retry("Give the project too: a %s belongs to one.", src.what))
	}
}

var dateForm = regexp.MustCompile(`^(?:(?:>=|<=|=)?\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?|><\d{4}-\d\d-\d\d\|\d{4}-\d\d-\d\d|!?\*|t|ld|w|lw|l2w|m|lm|y|[><]?t[-+]\d+)$`)

func (q *issueQuery) date(name, text string) {
	if text != "" && !dateForm.MatchString(text) {
		q.fail(toolpost.Retry("%q is no date for %s; write 2026-01-31, >=2026-01-01, <=2026-01-31 or ><2026-01-01|2026-01-31.", text, name))
	}
	q.set(name, text)
}

func (q *issueQuery) numbers(name, text string) {
	var all []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, ok := number(part)
		if !ok {
			q.fail(toolpost.Retry("%q is no id for %s; give numbers, such as 12,13.", part, name))
		}
		all = append(all, fmt.Sprint(n))
	}
	if text != "" && len(all) == 0 {
		q.fail(toolpost.Retry("%q has no id for %s; give numbers, such as 12,13.", text, name))
	}
	q.set(name, strings.Join(all, ","))
}

const sortable = "id, project, tracker, status, priority, author, assigned_to, category, fixed_version, " +
	"parent, subject, start_date, due_date, estimated_hours, done_ratio, created_on, updated_on, closed_on"

// sort sets the order, by some of the columns, which have commas between.
func (q *issueQuery) sort(text, columns string) {
	var by []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, direction, _ := strings.Cut(part, ":")
		switch {
		case slices.Contains([]string{"created", "updated", "closed"}, name):
			name += "_on"
		case slices.Contains([]string{"due", "start"}, name):
			name += "_date"
		}
		if !slices.Contains(strings.Split(columns, ", "), name) && !strings.HasPrefix(name, "cf_") || !slices.Contains([]string{"", "asc", "desc"}, direction) {
			q.fail(toolpost.Retry("Cannot sort by %q; the columns are %s, each with :asc or :desc after it.", part, columns))
		}
		if direction != "" {
			name += ":" + direction
		}
		by = append(by, name)
	}
	q.set("sort", strings.Join(by, ","))
}
