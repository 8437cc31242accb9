package redmine_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// issueAnswers are those of a Redmine with one issue.
func issueAnswers() map[string]string {
	return map[string]string{
		"GET /issues/5.json": `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"status":{"id":1,"name":"New"},"assigned_to":{"id":2,"name":"Alice A"},"due_date":"2026-01-31","custom_fields":[
			{"id":9,"name":"Environment","multiple":true,"value":["test"]},{"id":10,"name":"Customer","value":"Foo"}]}}`,
		"PUT /issues/5.json":               ``,
		"GET /custom_fields.json":          `{"custom_fields":[{"id":9,"name":"Environment","customized_type":"issue","field_format":"string","multiple":true},{"id":10,"name":"Customer","customized_type":"issue","field_format":"string"}]}`,
		"GET /projects/1.json":             `{"project":{"id":1,"name":"P"}}`,
		"GET /projects/1/memberships.json": `{"memberships":[{"id":1,"project":{"id":1,"name":"P"},"user":{"id":2,"name":"Alice A"},"roles":[]}],"total_count":1}`,
	}
}

// sent is the body of the last change.
func (f *fakeRedmine) sent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.requests) - 1; i >= 0; i-- {
		if !strings.HasPrefix(f.requests[i], "GET ") {
			return f.bodies[i]
		}
	}
	return ""
}

// TestCustomFieldForms: custom fields may be written as in Redmine's API and as values by
// names; a field with one value gets one.
func TestCustomFieldForms(t *testing.T) {
	for given, want := range map[string]string{
		`[{"name":"Environment","value":["dev","production"]}]`: `[{"id":9,"value":["dev","production"]}]`,
		`[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`:    `[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`,
		`{"Customer":"Bar"}`:                 `[{"id":10,"value":"Bar"}]`,
		`{"Customer":["Bar"],"9":"dev"}`:     `[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`,
		`{"Customer":null,"Environment":[]}`: `[{"id":10,"value":""},{"id":9,"value":[""]}]`,
	} {
		f := newFake(issueAnswers())
		text, _ := use(t.Context(), t, f.open(t), "update_issue", `{"id":5,"custom_fields":`+given+`}`)
		if sent := f.sent(); !strings.Contains(sent, want) {
			t.Errorf("%s: sent %s, want %s: %s", given, sent, want, text)
		}
	}
}

// TestEmptyClears: the only empty argument of a change clears its field, as in Redmine's
// API. Several are how some clients leave arguments out: nothing is cleared, and the
// answer has the word that clears.
func TestEmptyClears(t *testing.T) {
	for _, c := range []struct{ tool, arguments, sent, says string }{
		{"update_issue", `{"id":5,"assigned_to_id":""}`, `{"issue":{"assigned_to_id":""}}`, ""},
		{"update_issue", `{"id":5,"assigned_to_id":"","notes":"N"}`, `"assigned_to_id":""`, ""},
		{"update_issue", `{"id":5,"due_date":" "}`, `{"issue":{"due_date":""}}`, ""},
		{"update_issue", `{"id":5,"assigned_to_id":"","due_date":"","category_id":""}`, ``, "Nothing to change"},
		{"update_issue", `{"id":5,"assigned_to_id":"","due_date":"","category_id":"","subject":"S"}`, `{"issue":{"subject":"S"}}`, "the old values were kept: assigned_to_id, due_date. Write none to clear one"},
		{"update_issue", `{"id":5,"subject":""}`, ``, "Nothing to change"},
		{"update_issue", `{"id":5,"description":""}`, ``, "Write none to clear it"},
	} {
		f := newFake(issueAnswers())
		text, _ := use(t.Context(), t, f.open(t), c.tool, c.arguments)
		sent := f.sent()
		if !strings.Contains(sent, c.sent) || c.sent == "" && sent != "" || !strings.Contains(text, c.says) {
			t.Errorf("%s: sent %s, want %s: %s", c.arguments, sent, c.sent, text)
		}
	}
}

// listed is the query that a list is read with, and the text of the answer.
func listed(t *testing.T, tool, arguments string) (query url.Values, text string) {
	t.Helper()
	f := newFake(map[string]string{
		"GET /issue_statuses.json":              `{"issue_statuses":[{"id":1,"name":"New"},{"id":2,"name":"All set"}]}`,
		"GET /custom_fields.json":               `{"custom_fields":[{"id":10,"name":"Due size","customized_type":"issue","field_format":"string"}]}`,
		"GET /projects/1.json":                  `{"project":{"id":1,"name":"P"}}`,
		"GET /projects/1/memberships.json":      `{"memberships":[{"id":1,"project":{"id":1,"name":"P"},"user":{"id":2,"name":"Nonella A"},"roles":[]}],"total_count":1}`,
		"GET /projects/1/issue_categories.json": `{"issue_categories":[{"id":4,"name":"None"}],"total_count":1}`,
		"GET /users.json":                       `{"users":[{"id":2,"login":"nonella","firstname":"Nonella","lastname":"A"}],"total_count":1}`,
	})
	f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Path != "/issues.json" && r.URL.Path != "/time_entries.json" {
			return false
		}
		q := r.URL.Query()
		for _, name := range q["f[]"] {
			probe := name != "status_id" && len(q["v["+name+"][]"]) == 1 && q.Get("v["+name+"][]") == ""
			if probe && r.URL.Path == "/issues.json" { // asked whether it knows the filter
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(`{"errors":["cannot be blank"]}`))
				return true
			}
		}
		query = q
		_, _ = w.Write([]byte(`{"issues":[],"time_entries":[],"total_count":0,"limit":50}`))
		return true
	}
	text, _ = use(t.Context(), t, f.open(t), tool, arguments)
	return query, text
}

// TestNobody: none is what is not set, unless something is called so.
func TestNobody(t *testing.T) {
	for _, c := range []struct{ arguments, filter, operator string }{
		{`{"assigned_to_id":"none"}`, "assigned_to_id", "!*"},
		{`{"assigned_to_id":"Nobody"}`, "assigned_to_id", "!*"},
		{`{"assigned_to_id":"unassigned"}`, "assigned_to_id", "!*"},
		{`{"assigned_to_id":"!none"}`, "assigned_to_id", "*"},
		{`{"assigned_to_id":"any"}`, "assigned_to_id", "*"},
		{`{"assigned_to_id":"Nonella"}`, "assigned_to_id", "="},
		{`{"project_id":"1","category_id":"none"}`, "category_id", "="},
		{`{"project_id":"1","fixed_version_id":"none"}`, "fixed_version_id", "!*"},
		{`{"due_date":"none"}`, "due_date", "!*"},
		{`{"parent_id":"none"}`, "parent_id", "!*"},
		{`{"filters":[{"field":"assignee","operator":"=","values":["none"]}]}`, "assigned_to_id", "!*"},
		{`{"filters":[{"field":"description","operator":"~","values":["none"]}]}`, "description", "~"},
		{`{"status_id":"all"}`, "status_id", "*"},
		{`{"status_id":"any"}`, "status_id", "*"},
		{`{"status_id":"All set"}`, "status_id", "="},
	} {
		query, text := listed(t, "list_issues", c.arguments)
		if got := query.Get("op[" + c.filter + "]"); got != c.operator {
			t.Errorf("%s: %q, want %q: %s", c.arguments, got, c.operator, text)
		}
	}
}

// TestSortForms: an order may be written as other programs have it.
func TestSortForms(t *testing.T) {
	for given, want := range map[string]string{
		"updated:desc,id": "updated_on:desc,id", "-updated_on": "updated_on:desc", "+updated": "updated_on:asc", "priority desc": "priority:desc",
		"priority  DESC, id ASC": "priority:desc,id:asc", "-priority_id,assignee": "priority:desc,assigned_to", "due descending": "due_date:desc",
		"Due size desc": "cf_10:desc", "-cf_10": "cf_10:desc", "cf_10:asc": "cf_10:asc",
	} {
		query, text := listed(t, "list_issues", `{"sort":"`+given+`"}`)
		if got := query.Get("sort"); got != want {
			t.Errorf("%s: %q, want %q: %s", given, got, want, text)
		}
	}
	for given, want := range map[string]string{"-votes": `Cannot sort by "votes"; the columns are`, "updated:down": "write asc or desc"} {
		if _, text := listed(t, "list_issues", `{"sort":"`+given+`"}`); !strings.Contains(text, want) {
			t.Errorf("%s: %s", given, text)
		}
	}
}

// inDays is a day counted from today.
func inDays(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }

// TestSeveralNames: several names, and all but one, are understood in the forms of other programs.
func TestSeveralNames(t *testing.T) {
	for _, c := range []struct{ arguments, filter, want string }{
		{`{"assigned_to_id":"myself"}`, "assigned_to_id", "= me"},
		{`{"assigned_to_id":"<< me >>"}`, "assigned_to_id", "= me"},
		{`{"assigned_to_id":"not me"}`, "assigned_to_id", "! me"},
		{`{"assigned_to_id":"not assigned"}`, "assigned_to_id", "!*"},
		{`{"assigned_to_id":"me, Nonella A"}`, "assigned_to_id", "= me 2"},
		{`{"assigned_to_id":"A, Nonella"}`, "assigned_to_id", "= 2"},
		{`{"assigned_to_id":["me","Nonella A"]}`, "assigned_to_id", "= me 2"},
		{`{"status_id":"not closed"}`, "status_id", "o"},
		{`{"status_id":"!open"}`, "status_id", "c"},
		{`{"status_id":"open, closed"}`, "status_id", "*"},
		{`{"status_id":"Not New"}`, "status_id", "! 1"},
		{`{"status_id":["New",2]}`, "status_id", "= 1 2"},
		{`{"status_id":[]}`, "status_id", ""},
	} {
		query, text := listed(t, "list_issues", c.arguments)
		if got := strings.Join(append([]string{query.Get("op[" + c.filter + "]")}, query["v["+c.filter+"][]"]...), " "); got != c.want {
			t.Errorf("%s: %q, want %q: %s", c.arguments, got, c.want, text)
		}
	}
}

// TestPeriods: periods in words, months and years are conditions on dates; others are
// refused with words that are taken.
func TestPeriods(t *testing.T) {
	synctest.Test(t, testPeriods) // in which today does not end
}

func testPeriods(t *testing.T) {
	for _, c := range []struct{ filter, given, want string }{
		{"updated_on", "this month", "m"},
		{"updated_on", "Last Week", "lw"},
		{"updated_on", "last_month", "lm"},
		{"updated_on", "last 7 days", "><t- 7"},
		{"updated_on", "in the past 2 weeks", "><t- 14"},
		{"updated_on", "last 3 weeks", "><t- 21"},
		{"created_on", "last 24 hours", "><t- 1"},
		{"created_on", "yesterday", "ld"},
		{"closed_on", "2026-02", ">< 2026-02-01 2026-02-28"},
		{"closed_on", ">=2026-02", ">= 2026-02-01"},
		{"closed_on", "<=2026-02", "<= 2026-02-28"},
		{"closed_on", "><2026-01|2026-03", ">< 2026-01-01 2026-03-31"},
		{"closed_on", "2026", ">< 2026-01-01 2026-12-31"},
		{"closed_on", "2026/2", ">< 2026-02-01 2026-02-28"},
		{"closed_on", "since 2026-02-03", ">= 2026-02-03"},
		{"due_date", "overdue", "<t- 1"},
		{"due_date", "next week", "nw"},
		{"due_date", "tomorrow", "nd"},
		{"due_date", "next 14 days", "><t+ 14"},
		{"due_date", "this year", "y"},
		{"due_date", "2026-01", ">< 2025-12-31T10:00:01Z 2026-01-31T10:00:00Z"},
		{"due_date", "w", "w"},
		{"due_date", "<t+7", "<t+ 7"},
		{"updated_on", "7 days ago", "= " + inDays(-7)},
		{"updated_on", ">=2 weeks ago", ">= " + inDays(-14)},
		{"updated_on", "since yesterday", ">= " + inDays(-1)},
		{"updated_on", "last 7d", "><t- 7"},
		{"updated_on", "within 3 days", "><t- 3"},
		{"updated_on", "2026-01-01 to 2026-01-31", ">< 2026-01-01 2026-01-31"},
		{"updated_on", "between 2026-01-01 and 2026-02", ">< 2026-01-01 2026-02-28"},
		{"updated_on", "2026-01..2026-03", ">< 2026-01-01 2026-03-31"},
		{"updated_on", "from 1999-12-01 until today", ">< 1999-12-01 " + inDays(0)},
		{"updated_on", "after 2026-01-31", ">= 2026-02-01"},
		{"updated_on", "after 2026-01", ">= 2026-02-01"},
		{"updated_on", "before 2026-01-01", "<= 2025-12-31"},
		{"updated_on", "<2026", "<= 2025-12-31"},
		{"updated_on", "> 2026-01-01", ">= 2026-01-02"},
		{"updated_on", "since 2026-01-15T10:00:00Z", ">= 2026-01-15T10:00:00Z"},
		{"updated_on", "Q1 2026", ">< 2026-01-01 2026-03-31"},
		{"updated_on", "2026-Q4", ">< 2026-10-01 2026-12-31"},
		{"updated_on", ">=2026-Q4", ">= 2026-10-01"},
		{"updated_on", "15.1.2026", "= 2026-01-15"},
		{"updated_on", "Jan 15, 2026", "= 2026-01-15"},
		{"updated_on", "先週", "lw"},
		{"updated_on", "昨日", "ld"},
		{"due_date", "past due", "<t- 1"},
		{"due_date", "due this week", "w"},
		{"due_date", "within 3 days", "><t+ 3"},
		{"updated_on", "within the last 7 days", "><t- 7"},
		{"updated_on", "within last week", "lw"},
		{"updated_on", "within the 3 days", "><t- 3"},
		{"due_date", "within the next 3 days", "><t+ 3"},
		{"due_date", "within the last 3 days", "><t- 3"},
		{"updated_on", "since last week", ">= 1999-12-20"},
		{"updated_on", "since the previous week", ">= 1999-12-20"},
		{"updated_on", "since this week", ">= 1999-12-27"},
		{"updated_on", "since 先週", ">= 1999-12-20"},
		{"updated_on", "until last week", "<= 1999-12-26"},
		{"updated_on", "before this month", "<= 1999-12-31"},
		{"updated_on", "after last month", ">= 2000-01-01"},
		{"updated_on", "since last month", ">= 1999-12-01"},
		{"updated_on", "since last quarter", ">= 1999-10-01"},
		{"updated_on", "since this year", ">= 2000-01-01"},
		{"updated_on", "since last year", ">= 1999-01-01"},
		{"updated_on", "since the last 7 days", ">= 1999-12-25"},
		{"updated_on", "before the last 2 months", "<= 1999-10-31"},
		{"updated_on", "from last month to today", ">< 1999-12-01 2000-01-01"},
		{"updated_on", "last year to this month", ">< 1999-01-01 2000-01-31"},
		{"due_date", "by next week", "<= 2000-01-09T10:00:00Z"},
		{"due_date", "until the next 14 days", "<= 2000-01-15T10:00:00Z"},
		{"due_date", "by 2026-02-01", "<= 2026-02-01T10:00:00Z"},
	} {
		query, text := listed(t, "list_issues", `{"`+c.filter+`":"`+c.given+`"}`)
		got := strings.Join(append([]string{query.Get("op[" + c.filter + "]")}, query["v["+c.filter+"][]"]...), " ")
		if got != c.want {
			t.Errorf("%s %s: %q, want %q: %s", c.filter, c.given, got, c.want, text)
		}
	}
	if query, text := listed(t, "list_time_entries", `{"spent_on":"last 7 days"}`); query.Get("op[spent_on]") != "><t-" {
		t.Error(text)
	}
	if query, text := listed(t, "list_time_entries", `{"from":"2026-01","to":"2026-02"}`); len(query["v[spent_on][]"]) != 2 || !strings.HasPrefix(query["v[spent_on][]"][1], "2026-02-28") {
		t.Error(query, text)
	}
	for _, given := range []string{"soon", "since last moon", "within the next 7 days", "within the", "before", "since late", "last 7 moons", "2026-13", "next week", "01/15/2026", "2026-Q5", "between x and y", "up to you"} {
		if _, text := listed(t, "list_issues", `{"updated_on":"`+given+`"}`); !strings.Contains(text, "this month") || !strings.Contains(text, "last 7 days") {
			t.Errorf("%s: %s", given, text)
		}
	}
	for _, given := range []string{"2026-03 to 2026-01", "2026-03..2026-02-28", "between today and yesterday", "from this month until last month", "><2026-03|2026-01", "2026-01-02 - 2026-01-01"} {
		if _, text := listed(t, "list_issues", `{"updated_on":"`+given+`"}`); !strings.Contains(text, "is after the last") {
			t.Errorf("%s: %s", given, text)
		}
	}
	if _, text := listed(t, "list_time_entries", `{"from":"2026-03","to":"2026-01"}`); !strings.Contains(text, "is after the last") {
		t.Error(text)
	}
	if _, text := listed(t, "list_issues", `{"updated_on":"overdue"}`); !strings.Contains(text, "due_date") {
		t.Error(text)
	}
}

// TestQueriesNameTheirProject: a saved query of a project shows the project's name.
func TestQueriesNameTheirProject(t *testing.T) {
	f := newFake(map[string]string{
		"GET /queries.json":  `{"queries":[{"id":1,"name":"Late","is_public":true,"project_id":7},{"id":2,"name":"Mine","is_public":false},{"id":3,"name":"Far","is_public":true,"project_id":8}],"total_count":3}`,
		"GET /projects.json": `{"projects":[{"id":7,"name":"Web shop","identifier":"shop"}],"total_count":1}`,
	})
	text, structured, _ := result(t.Context(), t, f.open(t), "list_queries", `{}`)
	for _, want := range []string{"- Late [1] | project Web shop [7]\n", "- Mine [2] | private\n", "- Far [3] | project [8]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if !strings.Contains(structured, `"project_id":7,"project":"Web shop"`) {
		t.Error(structured)
	}
}
