package redminetest

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedWest asks for days as somebody whose time zone is west of the server's,
// where Redmine itself is a day off.
func TestRecordedWest(t *testing.T) {
	r := tape(t, filepath.Join("testdata", "west.jsonl"))
	live(t, r, "Hawaii")
	call := inProcess(t, r)
	for _, c := range []struct{ tool, arguments, want, not string }{
		{"list_time_entries", `{"spent_on":"2026-01-27"}`, "] 2026-01-27", "] 2026-01-28"},
		{"list_time_entries", `{"from":"2026-01-27","to":"2026-01-27"}`, "] 2026-01-27", "] 2026-01-28"},
		{"list_issues", `{"status_id":"*","due_date":"2026-02-28"}`, "due 2026-02-28", "No "},
		{"list_issues", `{"status_id":"*","due_date":">=2026-02-28"}`, "due 2026-02-28", "due 2026-02-27"},
		{"list_issues", `{"status_id":"*","due_date":"<=2026-02-28"}`, "due 2026-02-28", "due 2026-03-"},
	} {
		text, failed, err := call(t.Context(), "carol", c.tool, c.arguments)
		if err != nil || failed || !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s %s: %v %s", c.tool, c.arguments, err, text)
		}
	}
	live(t, r, "")
}

// live has carol live in a time zone.
func live(t *testing.T, r *Recorder, zone string) {
	t.Helper()
	body := `{"user":{"firstname":"Carol"},"pref":{"time_zone":"` + zone + `"}}`
	o := options(r, "")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, o.URL+"/users/7.json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Redmine-API-Key", o.Key)
	answer, err := r.As("").RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer.Status)
	}
}
