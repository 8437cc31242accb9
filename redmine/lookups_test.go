package redmine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// manyProjects is a Redmine as an account in so many projects sees it.
func manyProjects(projects int) *fakeRedmine {
	var own []string
	for n := range projects {
		own = append(own, fmt.Sprintf(`{"id":%d,"project":{"id":%d,"name":"P%d"},"roles":[{"id":4,"name":"Developer"}]}`, n+1, n+1, n+1))
	}
	f := newFake(map[string]string{
		"GET /users/current.json": `{"user":{"id":8,"login":"loner","firstname":"A","lastname":"Loner","memberships":[` + strings.Join(own, ",") + `]}}`,
		"GET /roles/4.json":       `{"role":{"id":4,"name":"Developer","permissions":[],"time_entries_visibility":"all"}}`,
		"GET /time_entries.json":  `{"time_entries":[],"total_count":0}`,
		"GET /issues.json":        `{"issues":[],"total_count":0}`,
		"GET /users/8.json":       `{"user":{"id":8,"login":"loner","firstname":"A","lastname":"Loner"}}`,
	})
	f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if strings.HasSuffix(r.URL.Path, "/memberships.json") {
			fmt.Fprint(w, `{"memberships":[{"id":1,"user":{"id":9,"name":"Bob Developer"},"roles":[]}],"total_count":1,"limit":100,"offset":0}`)
			return true
		}
		return false
	}
	return f
}

// TestLookupsAreBounded: in many projects an unknown name costs some requests at
// once, and what is the same for all projects is read once.
func TestLookupsAreBounded(t *testing.T) {
	f := manyProjects(150)
	set := f.open(t)
	for _, name := range []string{"Stranger", "Nobody Else"} {
		before := len(f.requests)
		text, failed := use(t.Context(), t, set, "list_issues", fmt.Sprintf(`{"assigned_to_id":%q}`, name))
		if !failed || !strings.Contains(text, "Bob Developer [9]") {
			t.Errorf("%s: %s", name, text)
		}
		if n := len(f.requests) - before; n > 60 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
	before := len(f.requests)
	if text, failed := use(t.Context(), t, set, "list_time_entries", `{"user_id":"me"}`); failed {
		t.Error(text)
	}
	if n := f.count("GET /roles/4.json"); n != 1 || len(f.requests)-before > 10 {
		t.Errorf("one role is read %d times, in %d requests", n, len(f.requests)-before)
	}
}

// TestCreateReadsAhead: what a new issue needs is read at once, so that a slow
// Redmine answers before clients give up.
func TestCreateReadsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(map[string]string{
			"GET /projects/alpha.json":                `{"project":{"id":1,"name":"Alpha","identifier":"alpha"}}`,
			"GET /trackers.json":                      `{"trackers":[{"id":1,"name":"Bug"}]}`,
			"GET /issue_statuses.json":                `{"issue_statuses":[{"id":1,"name":"New"}]}`,
			"GET /enumerations/issue_priorities.json": `{"issue_priorities":[{"id":2,"name":"High"}]}`,
			"GET /projects/1/issue_categories.json":   `{"issue_categories":[{"id":3,"name":"UI"}]}`,
			"GET /projects/1/versions.json":           `{"versions":[{"id":4,"name":"1.0"}]}`,
			"GET /projects/1/memberships.json":        `{"memberships":[{"id":1,"user":{"id":9,"name":"Bob Developer"},"roles":[]}]}`,
			"GET /custom_fields.json":                 `{"custom_fields":[{"id":1,"name":"Customer","customized_type":"issue","field_format":"string","trackers":[{"id":1,"name":"Bug"}]}]}`,
			"POST /issues.json":                       `{"issue":{"id":5}}`,
			"GET /issues/5.json":                      anIssue,
		})
		f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			time.Sleep(5 * time.Second)
			return false
		}
		set, start := f.open(t), time.Now()
		text, failed := use(t.Context(), t, set, "create_issue", `{"project_id":"alpha","subject":"Login","tracker_id":"bug","status_id":"new","priority_id":"high","category_id":"ui",
			"fixed_version_id":"1.0","assigned_to_id":"Developer, Bob","custom_fields":[{"name":"Customer","value":"ACME"}]}`)
		if took := time.Since(start); failed || took > 40*time.Second {
			t.Errorf("%v, %d requests: %s", took, len(f.requests), text)
		}
	})
}

// TestFieldsHaveNames: values of custom fields are names where Redmine has ids.
func TestFieldsHaveNames(t *testing.T) {
	fields := `[{"id":1,"name":"Owner","value":"9"},{"id":2,"name":"Found in","value":"4"},{"id":3,"name":"Phase","value":"2"},
		{"id":4,"name":"Regression","value":"1"},{"id":5,"name":"Points","value":"5"},{"id":6,"name":"Reviewers","multiple":true,"value":["9","10"]}]`
	issue := strings.Replace(anIssue, `"custom_fields":[]`, `"custom_fields":`+fields+`,"journals":[{"id":1,"user":{"id":9,"name":"Bob"},"notes":"",
		"details":[{"property":"cf","name":"1","old_value":"10","new_value":"9"}]}]`, 1)
	f := newFake(map[string]string{
		"GET /issues/5.json":               issue,
		"GET /issues.json":                 `{"issues":[` + strings.TrimSuffix(strings.TrimPrefix(issue, `{"issue":`), "}") + `],"total_count":1}`,
		"GET /projects/1/versions.json":    `{"versions":[{"id":4,"name":"1.1"}]}`,
		"GET /projects/1/memberships.json": `{"memberships":[{"id":1,"user":{"id":9,"name":"Bob Developer"},"roles":[]}]}`,
		"GET /users/10.json":               `{"user":{"id":10,"login":"hana","firstname":"花","lastname":"藤原"}}`,
		"GET /custom_fields.json": `{"custom_fields":[{"id":1,"name":"Owner","field_format":"user"},{"id":2,"name":"Found in","field_format":"version"},
			{"id":3,"name":"Phase","field_format":"enumeration","possible_values":[{"value":"2","label":"Build"}]},{"id":4,"name":"Regression","field_format":"bool"},
			{"id":5,"name":"Points","field_format":"int"},{"id":6,"name":"Reviewers","field_format":"user","multiple":true}]}`,
	})
	set := f.open(t)
	for _, call := range [][2]string{{"get_issue", `{"id":"5"}`}, {"list_issues", `{"show_fields":true}`}} {
		text, _ := use(t.Context(), t, set, call[0], call[1])
		for _, want := range []string{"Owner: Bob Developer [9]", "Found in: 1.1 [4]", "Phase: Build [2]", "Regression: yes", "Points: 5\n", "Reviewers: Bob Developer [9], 花 藤原 [10]"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", call[0], want, text)
			}
		}
	}
	if text, _ := use(t.Context(), t, set, "get_issue", `{"id":"5"}`); !strings.Contains(text, "Owner: 花 藤原 [10] → Bob Developer [9]") {
		t.Errorf("a change has ids: %s", text)
	}
}
