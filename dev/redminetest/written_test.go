package redminetest

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// A leaky transport loses the answer to a change, or all after it.
type leaky struct {
	real    http.RoundTripper
	loses   string // "change" or "after"
	changes int
}

func (l *leaky) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet && l.changes > 0 && l.loses == "after" {
		return nil, errors.New("connection reset by peer")
	}
	resp, err := l.real.RoundTrip(req)
	if req.Method != http.MethodGet {
		if l.changes++; l.loses == "change" && err == nil {
			_ = resp.Body.Close()
			return nil, errors.New("connection reset by peer")
		}
	}
	return resp, err
}

// TestRecordedLosses: a change is sent once, whatever becomes of its answer; if
// that is lost the model is told to look, and if only what was read after it is
// lost, that the change was made. It comes after the scripts, as it makes things.
func TestRecordedLosses(t *testing.T) {
	if recording() { // over connections, which stay open
		testLosses(t)
		return
	}
	synctest.Test(t, testLosses) // the pauses between attempts take no time
}

func testLosses(t *testing.T) {
	r := tape(t, filepath.Join("testdata", "losses.jsonl"))
	call := func(loses, tool, arguments string) (text string, failed bool, changes int) {
		t.Helper()
		o := options(r, "")
		l := &leaky{real: o.Transport, loses: loses}
		o.Transport = l
		text, _, failed = says(t, o, tool, arguments)
		return text, failed, l.changes
	}
	for _, c := range []struct {
		tool, arguments string
	}{
		{"create_project", `{"name":"Lost ${loses}","identifier":"lost-${loses}","enabled_module_names":["issue_tracking","time_tracking","wiki","news","files"]}`},
		{"create_version", `{"project_id":"lost-${loses}","name":"1"}`},
		{"create_issue_category", `{"project_id":"lost-${loses}","name":"UI"}`},
		{"create_issue", `{"project_id":"lost-${loses}","tracker_id":"Bug","subject":"Lost"}`},
		{"create_time_entry_for_project", `{"project_id":"lost-${loses}","hours":"1","activity_id":"Development"}`},
		{"write_wiki_page", `{"project_id":"lost-${loses}","title":"Lost","text":"Text"}`},
		{"create_news", `{"project_id":"lost-${loses}","title":"Lost","description":"Text"}`},
		{"create_membership", `{"project_id":"lost-${loses}","user_ids":["alice"],"role_ids":["Manager"]}`},
		{"update_project", `{"id":"lost-${loses}","description":"Changed"}`},
		{"update_version", `{"id":"1","project_id":"lost-${loses}","description":"Changed"}`},
		{"edit_wiki_page", `{"project_id":"lost-${loses}","title":"Lost","old_text":"Text","new_text":"Other"}`},
		{"delete_project", `{"id":"lost-${loses}","confirm":true}`},
	} {
		for _, loses := range []string{"change", "after"} {
			text, failed, changes := call(loses, c.tool, strings.ReplaceAll(c.arguments, "${loses}", loses))
			if changes != 1 {
				t.Errorf("%s: losing %s, %d changes are sent: %s", c.tool, loses, changes, text)
			}
			switch {
			case loses == "change" && (!failed || !strings.Contains(text, "may have been made")):
				t.Errorf("%s: the answer is lost, and it says %s", c.tool, text)
			case loses == "after" && (failed || strings.Contains(text, "may have been made")):
				t.Errorf("%s: reading back is lost, and it says %s", c.tool, text)
			}
		}
	}
}
