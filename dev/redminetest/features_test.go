package redminetest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// features are those for a user, on recorded answers, or recorded as in TestRecorded.
func features(t *testing.T) *toolpost.Features {
	t.Helper()
	r := tape(t, filepath.Join("testdata", "features.jsonl"))
	s, err := redmine.New(options(r, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	return s.Features()
}

// TestFeatures reads documents and prompts, and completes names, as one user and
// in this order.
func TestFeatures(t *testing.T) {
	f := features(t)
	handlers := map[string]toolpost.Handler{}
	for _, r := range f.Resources {
		handlers["read "+r.URI], handlers["complete "+r.URI] = r.Read, r.Complete
	}
	for _, p := range f.Prompts {
		handlers["get "+p.Name], handlers["complete "+p.Name] = p.Get, p.Complete
	}
	const (
		issue   = "redmine://issues/{id}"
		project = "redmine://projects/{id}"
		page    = "redmine://projects/{id}/wiki/{title}"
	)
	complete := func(name, value, context string) string {
		return `{"argument":{"name":"` + name + `","value":"` + value + `"},"context":{"arguments":{` + context + `}}}`
	}
	for _, c := range []struct {
		handler, name, arguments string
		want                     string // in the result, or in the error after "error: "
	}{
		{"read " + issue, "redmine://issues/1", "", `"mimeType":"text/markdown","text":"# `},
		{"read " + issue, "redmine://issues/1/2", "", "error: not found"},
		{"read " + issue, "redmine://issues/99999", "", "error: Redmine did not find issue 99999"},
		{"read " + issue, "redmine://issues/%zz", "", "error: invalid URL escape"},
		{"read " + project, "redmine://projects/alpha", "", "# Project Alpha"},
		{"read " + project, "redmine://projects/nowhere", "", "error: There is no project"},
		{"complete " + project, "", complete("id", "SUB", ""), `"values":["alpha-sub"]`},
		{"read " + page, "redmine://projects/alpha/wiki/Guide", "", "Guide"},
		{"read " + page, "redmine://projects/alpha/wiki/Nothing", "", "error: There is no wiki page"},
		{"complete " + page, "", complete("id", "alp", ""), `"values":["alpha","alpha-sub"]`},
		{"complete " + page, "", complete("title", "g", `"id":"alpha"`), `"values":["Guide"]`},
		{"complete " + page, "", complete("title", "g", ``), `"values":[]`},
		{"get triage", "", `{"project":"alpha"}`, "status_id open"},
		{"get triage", "", `{"project":"alpha","status":"new"}`, "status_id New"},
		{"get triage", "", `{"project":"alpha","status":"lost"}`, "error: There is no status"},
		{"get triage", "", `{"project":" "}`, `error: give the argument "project"`},
		{"get triage", "", `{"project":"alpha","x":"y"}`, `error: there is no argument "x"`},
		{"get weekly_report", "", `{"project":"alpha","since":"2026-01-31"}`, "created_on >=2026-01-31"},
		{"get weekly_report", "", `{"project":"alpha","since":"monday"}`, "error: \"monday\" is not a date"},
		{"get release_notes", "", `{"project":"alpha","version":"1.1"}`, "fixed_version_id 2"},
		{"get release_notes", "", `{"project":"alpha"}`, `error: give the argument "version"`},
		{"complete release_notes", "", complete("project", "SUB", ""), "Alpha"},
		{"complete release_notes", "", complete("version", "", `"project":"alpha"`), `"values":["1.0","1.1","2.0"]`},
		{"complete triage", "", complete("status", "new", ""), `"hasMore":false,"total":1,"values":["New"]`},
		{"complete triage", "", complete("status", "n", ""), `In Progress`},
	} {
		if c.want = strings.TrimSpace(c.want); handlers[c.handler] == nil {
			t.Errorf("%s: there is none", c.handler)
			continue
		}
		result, err := handlers[c.handler](t.Context(), &toolpost.Call{Name: c.name, Arguments: json.RawMessage(c.arguments)})
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else if raw, err := result.MarshalJSON(); err == nil {
			got = string(raw)
		}
		if !strings.Contains(got, c.want) || err != nil && !strings.HasPrefix(c.want, "error: ") {
			t.Errorf("%s %s %s: no %q in %.1000s", c.handler, c.name, c.arguments, c.want, got)
		}
	}
}

// TestFeaturesOfGroups: what needs a tool is there with it only.
func TestFeaturesOfGroups(t *testing.T) {
	s, err := redmine.New(&redmine.Options{URL: "http://127.0.0.1:3999", Anonymous: true, Groups: []string{"issues"}})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Features()
	if len(f.Resources) != 1 || f.Resources[0].URI != "redmine://issues/{id}" || len(f.Prompts) != 3 {
		t.Errorf("got %d resources and %d prompts", len(f.Resources), len(f.Prompts))
	}
}
