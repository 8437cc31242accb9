package redmine_test

import (
	"strings"
	"testing"
)

// TestLongTextsAreNotRepeated: the answer to a change does not repeat the long texts of a
// record, whichever tool changes it.
func TestLongTextsAreNotRepeated(t *testing.T) {
	long := strings.Repeat("and so on ", 8000)
	me := `"user":{"id":1,"name":"A"}`
	f := newFake(map[string]string{
		"GET /projects/1.json": `{"project":{"id":1,"name":"P","identifier":"p","description":"` + long + `","trackers":[{"id":1,"name":"Bug"}]}}`,
		"PUT /projects/1.json": ``,
		"POST /projects.json":  `{"project":{"id":1}}`,
		"GET /trackers.json":   `{"trackers":[{"id":1,"name":"Bug"}]}`,
		"POST /issues.json":    `{"issue":{"id":5}}`,
		"GET /issues/5.json": `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"tracker":{"id":1,"name":"Bug"},"description":"` + long + `",
			"custom_fields":[{"id":9,"name":"Log","value":"` + long + `"}],"journals":[{"id":3,` + me + `,"notes":"` + long + `","created_on":"2026-01-01T00:00:00Z"}]}}`,
		"PUT /issues/5.json":   ``,
		"GET /versions/3.json": `{"version":{"id":3,"name":"V","project":{"id":1,"name":"P"},"description":"` + long + `"}}`,
		"PUT /versions/3.json": ``,
		"GET /news/4.json":     `{"news":{"id":4,"title":"T","project":{"id":1,"name":"P"},"description":"` + long + `"}}`,
		"PUT /news/4.json":     ``,
	})
	set := f.open(t)
	for _, c := range [][2]string{
		{"create_issue", `{"project_id":"1","subject":"S","tracker_id":"1","description":"` + long + `"}`},
		{"update_issue", `{"id":"5","subject":"S"}`},
		{"update_issue", `{"id":"5","notes":"` + long + `"}`},
		{"update_project", `{"id":"1","name":"P"}`},
		{"update_project", `{"id":"1","description":"` + long + `"}`},
		{"update_version", `{"id":"3","name":"V"}`},
		{"update_news", `{"id":"4","title":"T"}`},
	} {
		text, structured, failed := result(t.Context(), t, set, c[0], c[1])
		if failed || len(text)+len(structured) > 4000 || !strings.Contains(text, "is not repeated here") {
			t.Errorf("%s %.60s: failed %v, %d and %d bytes: %.500s", c[0], c[1], failed, len(text), len(structured), text)
		}
		if strings.Contains(c[0], "issue") && !strings.Contains(structured, "description_hash") {
			t.Errorf("%s: no hash: %.300s", c[0], structured)
		}
	}
}
