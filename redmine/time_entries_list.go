package redmine

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

type listTimeInput struct {
	Activity string   `json:"activity_id,omitempty" desc:"Names or ids separated by |" filter:"|,"`
	User     string   `json:"user_id,omitempty" desc:"Id, name or me" filter:"|"`
	Project  string   `json:"project_id,omitempty" desc:"Id, key or name; includes subprojects"`
	Issue    string   `json:"issue_id,omitempty" jsonschema:"maxLength=10000" desc:"Id; ~12 for 12 with its subtasks" filter:"|"`
	SpentOn  string   `json:"spent_on,omitempty" desc:"2026-01-31 or ><2026-01-01|2026-01-31; w or lw for this or last week, m or lm for months" filter:"|"`
	From     string   `json:"from,omitempty" desc:"First day"`
	To       string   `json:"to,omitempty" desc:"Last day"`
	Comments string   `json:"comments,omitempty" jsonschema:"maxLength=1024" desc:"Part of them"`
	Filters  []filter `json:"filters,omitempty" desc:"On custom fields and hours"`
	Sort     string   `json:"sort,omitempty" desc:"Columns such as hours:desc,user; default newest first"`
	Fields   bool     `json:"show_fields,omitempty"`
	rowSpan
}

func listTime(s *Toolset) entry {
	return tool(s, "list_time_entries", "List time entries", "List logged time, newest first, with sums by person, activity and project of the entries shown.", reads,
		func(ctx context.Context, in listTimeInput) (*toolpost.Result, error) {
			q := &listQuery{s: s, ctx: ctx, list: timeRows(), filters: timeFilters(), values: url.Values{}}
			q.fields = func() ([]field, error) { return timeFields(ctx, s) }
			query, err := timeQuery(q, &in)
			if err != nil {
				return nil, err
			}
			all, total, err := rows[timeEntry](ctx, s, q.list.path, query, q.list.key, in.Offset, in.most())
			if err != nil {
				return nil, explain(err, "the list of time entries")
			}
			noteUnsorted(q, all)
			if own := ownTime(ctx, s); len(own) > 0 {
				q.told = append(q.told, fmt.Sprintf("This account cannot see the time of others in %s.", listNames(own)))
			}
			return answerTime(q, all, &in, total)
		})
}

// timeFilters are those of time entries. Redmine shows all entries if a condition
// is wrong.
func timeFilters() map[string]filterSpec {
	return map[string]filterSpec{
		"spent_on":               {kindPast, dates},
		"activity_id":            {kindList, bySource(activities)},
		"user_id":                {kindOptional, each(filterUser)},
		"author_id":              {kindOptional, each(filterUser)},
		"issue_id":               {kindTree, oneIssue},
		"comments":               {kindText, texts},
		"hours":                  {kindNumber, hoursOf},
		"project.status":         {kindList, fixedValues("active", "1", "closed", "5")},
		"issue.tracker_id":       {kindList, bySource(trackers)},
		"issue.status_id":        {kindList, bySource(statuses)},
		"issue.category_id":      {kindOptional, each(filterCategory)},
		"issue.fixed_version_id": {kindList, each(filterVersion)},
	}
}

// timeQuery makes the query of a list.
func timeQuery(q *listQuery, in *listTimeInput) (url.Values, error) {
	q.project(in.Project)
	q.below()
	q.addTagged(in)
	if in.SpentOn != "" && in.From+in.To != "" {
		q.fail(toolpost.Retry.Errorf("Give either spent_on, or from and to."))
	}
	switch {
	case in.From != "" && in.To != "":
		q.where("spent_on", q.filters["spent_on"], "><", []string{in.From, in.To})
	case in.From != "":
		q.where("spent_on", q.filters["spent_on"], ">=", []string{in.From})
	case in.To != "":
		q.where("spent_on", q.filters["spent_on"], "<=", []string{in.To})
	}
	if in.Comments != "" {
		q.where("comments", q.filters["comments"], "~", []string{in.Comments})
	}
	for _, f := range in.Filters {
		q.filter(f)
	}
	q.sort(in.Sort, timeColumns)
	return q.encode()
}

func filterUser(q *listQuery, text string) (string, error) {
	n, err := q.s.resolve(q.ctx, text, scope{users: true})
	if me, bad := q.s.account(q.ctx); bad == nil && !me.matches(text) {
		q.noteMatch(text, n)
	}
	q.remark("The person is %s.", n)
	return strconv.Itoa(n.ID), err
}

// oneIssue is an issue, which must be there: otherwise nothing would look like no
// time.
func oneIssue(q *listQuery, operator string, values []string) ([]string, error) {
	if len(values) > 1 || strings.ContainsAny(values[0], ", ") {
		return nil, toolpost.Retry.Errorf("Give one issue at a time.")
	}
	return issueIDs(q, operator, values)
}

const timeColumns = "spent_on, user, activity, project, issue, hours, comments, created_on"

// answerTime answers with time entries, and with the sums of their hours.
func answerTime(q *listQuery, all []timeEntry, in *listTimeInput, total int) (*toolpost.Result, error) {
	var issues []int
	for i := range all {
		if n := all[i].issue(); n > 0 {
			issues = append(issues, n)
		}
	}
	subjects, err := subjectsOf(q.ctx, q.s, issues)
	if err != nil {
		return nil, err
	}
	sums := hourSums{}
	for i := range all {
		e := &all[i]
		e.Subject, e.CustomFields = subjects[e.issue()], shownFields(q, in.Fields, e.Project, e.CustomFields)
		sums.add("all", "", e.Hours)
		sums.add("person", e.User.String(), e.Hours)
		sums.add("activity", e.Activity.String(), e.Hours)
		sums.add("project", e.Project.String(), e.Hours)
	}
	sums.round()
	spent := sums["all"][""]
	delete(sums, "all")
	l := newListing(all, in.Offset, total)
	l.what, l.key, l.remarks, l.brief = "time entries", "time_entries", remarks(q, total), true
	l.facts = map[string]any{"hours": spent, "sums": sums}
	if len(all) > 0 {
		l.end = sums.text(spent, len(all) < total)
	}
	return l.answer(q.s)
}

// hourSums are sums of hours by kind, such as "person", and then by name.
type hourSums map[string]map[string]hours

func (sums hourSums) add(kind, name string, h hours) {
	if sums[kind] == nil {
		sums[kind] = map[string]hours{}
	}
	sums[kind][name] += h.exact()
}

// round leaves two places of each sum, as Redmine does.
func (sums hourSums) round() {
	for _, names := range sums {
		for name, h := range names {
			names[name] = hours(math.Round(float64(h)*100) / 100)
		}
	}
}

func (sums hourSums) text(all hours, part bool) string {
	of := ""
	if part {
		of = " of the entries shown"
	}
	text := fmt.Sprintf("\nSum%s: %s\n", of, all)
	for _, kind := range sortedKeys(sums) {
		var parts []string
		for _, name := range sortedKeys(sums[kind]) {
			parts = append(parts, name+" "+sums[kind][name].String())
		}
		text += fmt.Sprintf("- by %s: %s\n", kind, strings.Join(parts, "; "))
	}
	return text
}

// subjectsOf reads those of issues, a hundred at a time. Who sees an entry may not
// see its issue.
func subjectsOf(ctx context.Context, s *Toolset, issues []int) (map[int]string, error) {
	slices.Sort(issues)
	var ids []string
	for _, n := range slices.Compact(issues) {
		ids = append(ids, strconv.Itoa(n))
	}
	subjects := map[int]string{}
	for part := range slices.Chunk(ids, 100) {
		query := url.Values{"issue_id": {strings.Join(part, ",")}, "status_id": {"*"}}
		some, _, err := rows[issue](ctx, s, "/issues.json", query, "issues", 0, 100)
		switch {
		case status(err) == http.StatusForbidden:
			return subjects, nil // this account may see time, but no issues
		case err != nil:
			return nil, explain(err, "the issues asked for")
		}
		for i := range some {
			subjects[some[i].ID] = some[i].Subject
		}
	}
	return subjects, nil
}
