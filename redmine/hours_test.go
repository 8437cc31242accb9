package redmine_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestMinutesAreSent: Redmine gets the minutes, as it would keep 1.33 otherwise, and its
// answer, which is rounded, is what was asked for.
func TestMinutesAreSent(t *testing.T) {
	for _, answered := range []string{"1.33", "1.3333333333333333"} {
		f := newFake(map[string]string{
			"GET /projects/1.json":     `{"project":{"id":1,"name":"P","time_entry_activities":[{"id":9,"name":"Development"}]}}`,
			"POST /time_entries.json":  `{"time_entry":{"id":7}}`,
			"GET /time_entries/7.json": `{"time_entry":{"id":7,"hours":` + answered + `,"project":{"id":1,"name":"P"},"activity":{"id":9,"name":"Development"}}}`,
			"GET /issues/5.json":       `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"estimated_hours":` + answered + `}}`,
			"PUT /issues/5.json":       ``,
			"PUT /time_entries/7.json": ``,
		})
		set := f.open(t)
		for _, c := range []struct{ tool, arguments, sent string }{
			{"create_time_entry_for_project", `{"project_id":"1","hours":"1h20m","activity_id":"9"}`, `"hours":"1:20"`},
			{"update_issue", `{"id":"5","estimated_hours":"80m"}`, `"estimated_hours":"1:20"`},
		} {
			text, failed := use(t.Context(), t, set, c.tool, c.arguments)
			if failed || strings.Contains(text, "did not save") || !strings.Contains(strings.Join(f.bodies, "\n"), c.sent) {
				t.Errorf("%s: %s\n%q", c.tool, text, f.bodies)
			}
		}
		if text, _ := use(t.Context(), t, set, "update_time_entry", `{"id":"7","hours":"1:25"}`); !strings.Contains(text, "Redmine did not save the change") {
			t.Error(text)
		}
	}
}

// TestMinutesInConditions: hours with minutes are each that Redmine shows so; it takes
// numbers only.
func TestMinutesInConditions(t *testing.T) {
	for written, want := range map[string][]string{
		"1:20": {"><", "1.3250", "1.3417"}, ">=1h20": {">=", "1.3250"}, "<=80m": {"<=", "1.3417"}, "><0:20|1:20": {"><", "0.3250", "1.3417"},
		"0:00": {"=", "0"}, ">=1.5": {">=", "1.5"}, "1:30": {"=", "1.5"}, "><1:20|2": {"><", "1.3250", "2"},
	} {
		f := newFake(map[string]string{"GET /issue_statuses.json": `{"issue_statuses":[]}`})
		var last url.Values
		f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if r.URL.Path != "/issues.json" {
				return false
			}
			if q := r.URL.Query(); q.Get("v[estimated_hours][]") == "" { // asked whether it knows the filter
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(`{"errors":["Estimated time cannot be blank"]}`))
			} else {
				last = q
				_, _ = w.Write([]byte(`{"issues":[],"total_count":0,"limit":50}`))
			}
			return true
		}
		operator := strings.TrimRight(written, "0123456789:.mh|")
		values := strings.ReplaceAll(strings.TrimPrefix(written, operator), "|", `","`)
		text, failed := use(t.Context(), t, f.open(t), "list_issues", `{"filters":[{"field":"estimated hours","operator":"`+operator+`","values":["`+values+`"]}]}`)
		got := append([]string{last.Get("op[estimated_hours]")}, last["v[estimated_hours][]"]...)
		if failed || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q, want %q: %s", written, got, want, text)
		}
	}
}

// TestSumOfThirds: three times 1:20 are 4:00, although Redmine returns 1.33 for each. Hours
// that no minutes give are added as they are.
func TestSumOfThirds(t *testing.T) {
	for each, want := range map[string]string{"1.33": "4 h, 4:00", "0.01": "0.03 h, 0:02", "0.99": "2.97 h, 2:58", "1.5": "4.5 h, 4:30"} {
		row := `{"id":7,"hours":` + each + `,"spent_on":"2026-01-01","user":{"id":1,"name":"A"},"project":{"id":1,"name":"P"},"activity":{"id":9,"name":"D"}}`
		f := newFake(map[string]string{"GET /time_entries.json": `{"time_entries":[` + row + `,` + row + `,` + row + `],"total_count":3,"limit":50}`})
		text, structured, _ := result(t.Context(), t, f.open(t), "list_time_entries", `{}`)
		number, _, _ := strings.Cut(want, " ")
		if !strings.Contains(text, "Sum: "+want+"\n") || !strings.Contains(text, "by person: A [1] "+want+"\n") || !strings.Contains(structured, `"hours":`+number+`,"offset"`) {
			t.Errorf("%s: want %s: %s %s", each, want, text, structured)
		}
	}
}
