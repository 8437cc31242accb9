package redmine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestNoProject: an answer without a project does not turn a list of one project into
// one of all.
func TestNoProject(t *testing.T) {
	for _, answer := range []string{`{"project":null}`, `{"project":{"name":"Alpha"}}`} {
		f := newFake(map[string]string{"GET /projects/alpha.json": answer, "GET /news.json": `{"news":[],"total_count":0}`, "GET /queries.json": `{"queries":[],"total_count":0}`})
		set := f.open(t)
		for _, tool := range []string{"list_news", "list_queries", "list_activities"} {
			if text, failed := use(t.Context(), t, set, tool, `{"project_id":"alpha"}`); !failed || !strings.Contains(text, "no project") {
				t.Errorf("%s with %s: %s", tool, answer, text)
			}
		}
	}
}

// TestListStays: a list that cannot be read again is still known.
func TestListStays(t *testing.T) {
	broken := false
	f := newFake(map[string]string{
		"GET /projects/1.json":    `{"project":{"id":1,"name":"Alpha"}}`,
		"GET /trackers.json":      `{"trackers":[{"id":1,"name":"Bug"}]}`,
		"GET /issues.json":        `{"issues":[],"total_count":0}`,
		"GET /custom_fields.json": `{"custom_fields":[]}`,
	})
	f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Path == "/trackers.json" && broken {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		if r.URL.Path == "/issues.json" && r.URL.Query().Get("op[tracker_id]") == "=" && r.URL.Query().Get("v[tracker_id][]") == "" {
			w.WriteHeader(http.StatusUnprocessableEntity) // it knows the filter
			fmt.Fprint(w, `{"errors":["Tracker cannot be blank"]}`)
			return true
		}
		return false
	}
	set := f.open(t)
	for _, step := range []struct {
		tracker string
		broken  bool
		fails   bool
	}{{"Bug", false, false}, {"Nope", true, true}, {"Bug", true, false}} {
		broken = step.broken
		if text, failed := use(t.Context(), t, set, "list_issues", `{"project_id":"1","tracker_id":"`+step.tracker+`"}`); failed != step.fails {
			t.Errorf("%s: %s", step.tracker, text)
		}
	}
}

// TestOddAccount: what the tools do not need of their account does not stop them.
func TestOddAccount(t *testing.T) {
	f := newFake(map[string]string{
		"GET /users/current.json":  `{"user":{"id":1,"login":"admin","admin":true,"status":"1","custom_fields":{"a":1},"created_on":5}}`,
		"GET /issue_statuses.json": `{"issue_statuses":[{"id":1,"name":"New"}]}`,
	})
	if text, failed := use(t.Context(), t, f.open(t), "list_issue_statuses", `{}`); failed || !strings.Contains(text, "New [1]") {
		t.Error(text)
	}
}

// TestManyIDs: one text may have many ids, and a name that is too long is not looked for.
func TestManyIDs(t *testing.T) {
	f := newFake(map[string]string{
		"GET /users.json":                  `{"users":[],"total_count":0}`,
		"GET /issues.json":                 `{"issues":[],"total_count":0}`,
		"GET /custom_fields.json":          `{"custom_fields":[{"id":3,"name":"Owner","customized_type":"issue","field_format":"user"}]}`,
		"GET /issues/5.json":               `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"tracker":{"id":1},"custom_fields":[{"id":3,"name":"Owner","value":""}]}}`,
		"GET /projects/1/memberships.json": `{"memberships":[],"total_count":0}`,
	})
	set := f.open(t)
	text, _ := use(t.Context(), t, set, "list_issues", `{"parent_id":"`+strings.Repeat("123|", 60)+`123"}`)
	if strings.Contains(text, "characters") {
		t.Error(text)
	}
	text, failed := use(t.Context(), t, set, "update_issue", `{"id":"5","custom_fields":[{"name":"Owner","value":"`+strings.Repeat("x", 50_000)+`"}]}`)
	if !failed || len(text) > 2000 {
		t.Errorf("the answer has %d bytes: %.300s", len(text), text)
	}
}
