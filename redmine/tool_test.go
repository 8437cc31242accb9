package redmine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/bounds"
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

// TestNameID: only a custom field takes an id for its name, also beside its name; an
// id that a tool does not know is never taken for the name of a new record.
func TestNameID(t *testing.T) {
	s, err := New(&Options{URL: "http://redmine.test", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]*shape{}
	for _, tool := range s.tools {
		shapes[tool.Name] = &shape{}
		if err := json.Unmarshal(tool.Input.Raw(), shapes[tool.Name]); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ tool, give, want string }{
		{"update_issue", `{"custom_fields":[{"id":9,"value":7}]}`, `{"custom_fields":[{"name":"9","value":"7"}]}`},
		{"update_issue", `{"custom_fields":[{"id":"9","name":"Customer","value":"x"}]}`, `{"custom_fields":[{"name":"9","value":"x"}]}`},
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
	if now := settable(&user{}); now["status"] != nil {
		t.Errorf("the status is %v", now["status"])
	}
	if now := settable(&user{Status: 3}); now["status"] != 3 {
		t.Errorf("the status is %v, want 3", now["status"])
	}
}
