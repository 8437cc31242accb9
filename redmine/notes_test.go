package redmine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/redmine"
)

// movedIssue is [anIssue] after a move that dropped its category and its version.
const movedIssue = `{"issue":{"id":5,"project":{"id":2,"name":"Beta"},"tracker":{"id":1,"name":"Bug"},"status":{"id":1,"name":"New"},
	"priority":{"id":2,"name":"Normal"},"author":{"id":1,"name":"Redmine Admin"},"subject":"Login","description":"","custom_fields":[],
	"updated_on":"2026-01-02T00:00:00Z","journals":[{"id":9,"user":{"id":1,"name":"Redmine Admin"},"created_on":"2026-01-02T00:00:00Z","notes":"","details":[
	{"property":"attr","name":"category_id","old_value":"3","new_value":null},{"property":"attr","name":"fixed_version_id","old_value":"4","new_value":null}]}]}}`

// TestNewWithoutOptions: options that are missing are an error and no panic.
func TestNewWithoutOptions(t *testing.T) {
	if s, err := redmine.New(nil); s != nil || err == nil || !strings.Contains(err.Error(), "open Redmine: ") {
		t.Errorf("got %v, error %v", s, err)
	}
}

// TestPartOfANameIsNoted: who gives a part of a name learns what it was taken for,
// in changes and in lists of time.
func TestPartOfANameIsNoted(t *testing.T) {
	f := newFake(map[string]string{
		"GET /issues/5.json":               anIssue,
		"PUT /issues/5.json":               "",
		"GET /issue_statuses.json":         `{"issue_statuses":[{"id":1,"name":"New"},{"id":3,"name":"Resolved"}]}`,
		"GET /projects/1/memberships.json": `{"memberships":[{"id":1,"user":{"id":9,"name":"Bob Developer"},"roles":[]}]}`,
		"GET /users.json":                  `{"users":[{"id":9,"login":"bob","firstname":"Bob","lastname":"Developer"}],"total_count":1}`,
		"GET /time_entries.json":           `{"time_entries":[],"total_count":0}`,
		"GET /users/9.json":                `{"user":{"id":9,"login":"bob","firstname":"Bob","lastname":"Developer"}}`,
	})
	set := f.open(t)
	for _, c := range []struct{ tool, arguments, note string }{
		{"update_issue", `{"id":"5","subject":"Login","status_id":"resolv"}`, `"resolv" was taken for Resolved [3].`},
		{"update_issue", `{"id":"5","subject":"Login","status_id":"Resolved"}`, ""},
		{"update_issue", `{"id":"5","subject":"Login","assigned_to_id":"develop"}`, `"develop" was taken for Bob Developer [9].`},
		{"update_issue", `{"id":"5","subject":"Login","assigned_to_id":"Developer, Bob"}`, ""},
		{"update_issue", `{"id":"5","subject":"Login","assigned_to_id":"me"}`, ""},
		{"list_time_entries", `{"user_id":"develop"}`, `"develop" was taken for Bob Developer [9].`},
		{"list_time_entries", `{"user_id":"9"}`, ""},
		{"list_time_entries", `{"user_id":"me"}`, ""},
	} {
		text, _ := use(t.Context(), t, set, c.tool, c.arguments)
		if c.note != "" && strings.Count(text, c.note) != 1 || c.note == "" && strings.Contains(text, "was taken for") {
			t.Errorf("%s %s: want %q once in %s", c.tool, c.arguments, c.note, text)
		}
	}
}

// TestNothingWasDifferent: a change to what is there already does not pass for one.
func TestNothingWasDifferent(t *testing.T) {
	f := newFake(map[string]string{"GET /issues/5.json": anIssue, "PUT /issues/5.json": ""})
	set := f.open(t)
	for arguments, want := range map[string]string{
		`{"id":"5","subject":"Login"}`:                 "Nothing was different: issue 5 already has these values.",
		`{"id":"5","subject":"Login","notes":"Hello"}`: "the comment was not added",
	} {
		if text, _ := use(t.Context(), t, set, "update_issue", arguments); !strings.Contains(text, want) || strings.Contains(text, "Changed issue 5.") {
			t.Errorf("%s: %s", arguments, text)
		}
	}
}

// TestMoveNamesWhatItDropped: the journal of a move has the names of what is known
// in the old project only.
func TestMoveNamesWhatItDropped(t *testing.T) {
	f := newFake(map[string]string{
		"GET /projects/beta.json":               `{"project":{"id":2,"name":"Beta","identifier":"beta"}}`,
		"GET /projects/2/issue_categories.json": `{"issue_categories":[{"id":7,"name":"Other"}]}`,
		"GET /projects/2/versions.json":         `{"versions":[]}`,
	})
	moved := false
	f.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		switch {
		case r.Method == http.MethodPut:
			moved = true
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path != "/issues/5.json":
			return false
		case moved:
			fmt.Fprint(w, movedIssue)
		default:
			fmt.Fprint(w, strings.Replace(anIssue, `"custom_fields":[]`, `"custom_fields":[],"category":{"id":3,"name":"UI"},"fixed_version":{"id":4,"name":"1.1"}`, 1))
		}
		return true
	}
	text, failed := use(t.Context(), t, f.open(t), "update_issue", `{"id":"5","subject":"Login","project_id":"beta"}`)
	for _, want := range []string{"category: UI [3] → ", "fixed_version: 1.1 [4] → "} {
		if failed || !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestMembersNotReadBack: that some members were refused is told also where the
// members cannot be read back.
func TestMembersNotReadBack(t *testing.T) {
	f := newFake(map[string]string{
		"GET /projects/alpha.json": `{"project":{"id":1,"name":"Alpha","identifier":"alpha"}}`,
		"GET /groups.json":         `{"groups":[{"id":20,"name":"Team"}]}`,
		"GET /roles.json":          `{"roles":[{"id":4,"name":"Developer"}]}`,
		"GET /users/9.json":        `{"user":{"id":9,"login":"bob","firstname":"Bob","lastname":"Developer"}}`,
	})
	posted := false
	f.handle = func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/memberships.json"):
			return false
		case r.Method == http.MethodPost && strings.Contains(body, `"user_id":20`):
			posted = true
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"membership":{"id":31,"project":{"id":1,"name":"Alpha"},"group":{"id":20,"name":"Team"},"roles":[{"id":4,"name":"Developer"}]}}`)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"errors":["User is invalid"]}`)
		case posted:
			w.WriteHeader(http.StatusForbidden)
		default:
			fmt.Fprint(w, `{"memberships":[{"id":1,"user":{"id":9,"name":"Nobody Here"},"roles":[]}],"total_count":1}`)
			if r.URL.Query().Get("offset") == "" {
				return true
			}
		}
		return true
	}
	// #20 is a group by its id, as 20 is.
	text, _ := use(t.Context(), t, f.open(t), "create_membership", `{"project_id":"alpha","user_ids":["#20","77"],"role_ids":["Developer"]}`)
	for _, want := range []string{"Added 1 members", "User is invalid", "could not be read back", "list_memberships"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestNoneWithBlanks: none clears a field also with blanks around it.
func TestNoneWithBlanks(t *testing.T) {
	f := newFake(map[string]string{
		"GET /issues/5.json": anIssue, "PUT /issues/5.json": "", "GET /projects/1/memberships.json": `{"memberships":[]}`,
	})
	text, _ := use(t.Context(), t, f.open(t), "update_issue", `{"id":"5","subject":"Login","due_date":" none ","assigned_to_id":" None ","estimated_hours":"none "}`)
	if body := strings.Join(f.bodies, "\n"); !strings.Contains(body, `"assigned_to_id":"","due_date":"","estimated_hours":""`) {
		t.Errorf("Redmine was sent %s; %s", body, text)
	}
}

// TestSimilarNamesFirst: where there are many names, an error begins with those that
// are like the one given.
func TestSimilarNamesFirst(t *testing.T) {
	var all []string
	for n := range 160 {
		all = append(all, fmt.Sprintf(`{"id":%d,"name":"Project %03d","identifier":"p-%d"}`, n+1, n, n))
	}
	all = append(all, `{"id":900,"name":"Warehouse","identifier":"warehouse"}`, `{"id":901,"name":"倉庫システム","identifier":"x"}`)
	f := newFake(map[string]string{"GET /projects.json": `{"projects":[` + strings.Join(all, ",") + `],"total_count":162}`})
	set := f.open(t)
	for given, want := range map[string]string{"warehose": "Warehouse [900]", "倉庫 システム": "倉庫システム [901]"} {
		text, failed := use(t.Context(), t, set, "show_project", fmt.Sprintf(`{"id":%q}`, given))
		if !failed || !strings.Contains(text, "Most like it are: "+want) || !strings.Contains(text, "archived project is not listed") {
			t.Errorf("%s: %s", given, text)
		}
	}
}
