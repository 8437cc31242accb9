package redminetest

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
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
	tape := filepath.Join("testdata", "losses.jsonl")
	var r *Recorder
	if os.Getenv("TOOLPOST_RECORD") != "" {
		r = Record(t, tape)
	} else {
		r = Replay(t, tape)
	}
	call := func(loses, tool, arguments string) (text string, failed bool, changes int) {
		t.Helper()
		o := options(r, "")
		l := &leaky{real: o.HTTP.Transport, loses: loses}
		o.HTTP = &http.Client{Transport: l}
		s, err := redmine.New(o)
		if err != nil {
			t.Fatal(err)
		}
		set, err := toolpost.NewSet(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		result, err := set.Call(t.Context(), &toolpost.Call{Name: tool, Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		text, _ = result.FirstText()
		return text, result.IsError(), l.changes
	}
	for _, c := range []struct {
		tool, arguments string
		told            bool // that it was made, without a failure
	}{
		{"create_project", `{"name":"Lost ${loses}","identifier":"lost-${loses}","enabled_module_names":["issue_tracking","time_tracking","wiki","news","files"]}`, true},
		{"create_version", `{"project_id":"lost-${loses}","name":"1"}`, true},
		{"create_issue_category", `{"project_id":"lost-${loses}","name":"UI"}`, true},
		{"create_issue", `{"project_id":"lost-${loses}","tracker_id":"Bug","subject":"Lost"}`, true},
		{"create_time_entry_for_project", `{"project_id":"lost-${loses}","hours":"1","activity_id":"Development"}`, true},
		{"write_wiki_page", `{"project_id":"lost-${loses}","title":"Lost","text":"Text"}`, true},
		{"create_news", `{"project_id":"lost-${loses}","title":"Lost","description":"Text"}`, true},
		{"create_membership", `{"project_id":"lost-${loses}","user_ids":["alice"],"role_ids":["Manager"]}`, true},
		{"update_project", `{"id":"lost-${loses}","description":"Changed"}`, true},
		{"update_version", `{"id":"1","project_id":"lost-${loses}","description":"Changed"}`, true},
		{"edit_wiki_page", `{"project_id":"lost-${loses}","title":"Lost","old_text":"Text","new_text":"Other"}`, true},
		{"delete_project", `{"id":"lost-${loses}","confirm":true}`, true},
	} {
		for _, loses := range []string{"change", "after"} {
			text, failed, changes := call(loses, c.tool, strings.ReplaceAll(c.arguments, "${loses}", loses))
			if changes != 1 {
				t.Errorf("%s: losing %s, %d changes are sent: %s", c.tool, loses, changes, text)
			}
			switch {
			case loses == "change" && (!failed || !strings.Contains(text, "may have been made")):
				t.Errorf("%s: the answer is lost, and it says %s", c.tool, text)
			case loses == "after" && (c.told && failed || strings.Contains(text, "may have been made")):
				t.Errorf("%s: reading back is lost, and it says %s", c.tool, text)
			}
		}
	}
}
