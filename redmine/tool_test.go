package redmine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/bounds"
)

// TestBounded: nothing in the arguments of a tool can grow without limit.
func TestBounded(t *testing.T) {
	s, err := New(&Options{URL: "http://redmine.test", Anonymous: true}) // nothing is requested
	if err != nil {
		t.Fatal(err)
	}
	tools := 0
	for _, g := range groups {
		for _, e := range g.tools(s) {
			tools++
			found, err := bounds.Unbounded(e.checked.Raw())
			if err != nil || len(found) > 0 {
				t.Errorf("%s: %q (%v)", e.Name, found, err)
			}
		}
	}
	if tools < 80 {
		t.Errorf("there are only %d tools", tools)
	}
}

// TestArgumentForms: arguments are taken in the forms of Redmine and of other clients. Only
// a custom field takes an id for its name, also beside its name; an id that a tool does
// not know is never taken for the name of a new record.
func TestArgumentForms(t *testing.T) {
	s, err := New(&Options{URL: "http://redmine.test", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]*shape{}
	for _, tool := range s.tools {
		shapes[tool.Name] = &shape{tool: tool.Name}
		if err := json.Unmarshal(tool.Input.Raw(), shapes[tool.Name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ tool, give, want string }{
		{"update_issue", `{"custom_fields":[{"id":9,"value":7}]}`, `{"custom_fields":[{"name":"9","value":"7"}]}`},
		{"update_issue", `{"custom_fields":[{"id":"9","name":"Customer","value":"x"}]}`, `{"custom_fields":[{"name":"9","value":"x"}]}`},
		{"update_issue", `{"custom_fields":[{"id":9,"value":["dev",2]}]}`, `{"custom_fields":[{"name":"9","values":["dev","2"]}]}`},
		{"update_issue", `{"custom_fields":[{"name":"E","value":null},{"name":"F","value":true}]}`, `{"custom_fields":[{"name":"E"},{"name":"F","value":"true"}]}`},
		{"update_issue", `{"custom_fields":{"Customer":"Foo","9":["a","b"],"Gone":null}}`, `{"custom_fields":[{"name":"9","values":["a","b"]},{"name":"Customer","value":"Foo"},{"name":"Gone"}]}`},
		{"update_issue", `{"custom_fields":{"id":9,"value":7}}`, `{"custom_fields":[{"name":"9","value":"7"}]}`},
		{"update_issue", `{"custom_field_values":{"9":"x"}}`, `{"custom_fields":[{"name":"9","value":"x"}]}`},
		{"update_issue", `{"id":5,"due_date":null,"custom_fields":null,"status":"New","is_private":true}`, `{"id":"5","is_private":"true","status_id":"New"}`},
		{"get_issue", `{"issue_id":5}`, `{"id":"5"}`},
		{"get_issue", `{"id":null}`, `{"id":null}`},
		{"edit_issue_description", `{"issue_id":5}`, `{"id":"5"}`},
		{"update_issue_category", `{"issue_id":5}`, `{"issue_id":5}`},
		{"update_issue_category", `{"category_id":5}`, `{"id":"5"}`},
		{"update_issue_comment", `{"issue_id":5,"journal_id":6}`, `{"id":"6","issue_id":"5"}`},
		{"show_role", `{"role_id":5}`, `{"id":"5"}`},
		{"show_user", `{"user_id":"me"}`, `{"id":"me"}`},
		{"update_membership", `{"membership_id":5,"role_id":"Developer"}`, `{"id":"5","role_ids":["Developer"]}`},
		{"create_membership", `{"project":"alpha","user_id":7,"role_id":[3]}`, `{"project_id":"alpha","role_ids":["3"],"user_ids":["7"]}`},
		{"create_membership", `{"user_id":7,"user_ids":["8"]}`, `{"user_id":7,"user_ids":["8"]}`},
		{"create_membership", `{"user":"A, B","roles":["Developer"]}`, `{"role_ids":["Developer"],"user_ids":["A, B"]}`},
		{"create_version", `{"id":"7","project_id":"alpha"}`, `{"id":"7","project_id":"alpha"}`},
		{"create_group", `{"id":"7"}`, `{"id":"7"}`},
	} {
		if got := asText(json.RawMessage(tt.give), shapes[tt.tool]); string(got) != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.tool, tt.give, got, tt.want)
		}
	}
}

// TestLongNames: a name that no record can have is refused before it is looked for.
func TestLongNames(t *testing.T) {
	s, err := New(&Options{URL: "http://127.0.0.1:1", Anonymous: true}) // a request would fail otherwise
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 100_000)
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "list_versions", Arguments: json.RawMessage(`{"project_id":"` + long + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); !r.IsError() || !strings.Contains(text, "1000 characters") || len(text) > 1000 {
		t.Errorf("the answer is %.300s (%d bytes)", text, len(text))
	}
}

// TestUnknownState: a state that Redmine does not send is not one that it changed.
func TestUnknownState(t *testing.T) {
	if now := settableFields(&user{}); now["status"] != nil {
		t.Errorf("the status is %v", now["status"])
	}
	if now := settableFields(&user{Status: 3}); now["status"] != 3 {
		t.Errorf("the status is %v, want 3", now["status"])
	}
}
