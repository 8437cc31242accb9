package redmine_test

import (
	"strings"
	"testing"
)

// issueAnswers are those of a Redmine with one issue.
func issueAnswers() map[string]string {
	return map[string]string{
		"GET /issues/5.json": `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"status":{"id":1,"name":"New"},"assigned_to":{"id":2,"name":"Alice A"},"due_date":"2026-01-31","custom_fields":[
			{"id":9,"name":"Environment","multiple":true,"value":["test"]},{"id":10,"name":"Customer","value":"Foo"}]}}`,
		"PUT /issues/5.json":               ``,
		"GET /custom_fields.json":          `{"custom_fields":[{"id":9,"name":"Environment","customized_type":"issue","field_format":"string","multiple":true},{"id":10,"name":"Customer","customized_type":"issue","field_format":"string"}]}`,
		"GET /projects/1.json":             `{"project":{"id":1,"name":"P"}}`,
		"GET /projects/1/memberships.json": `{"memberships":[{"id":1,"project":{"id":1,"name":"P"},"user":{"id":2,"name":"Alice A"},"roles":[]}],"total_count":1}`,
	}
}

// sent is the body of the last change.
func (f *fakeRedmine) sent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.requests) - 1; i >= 0; i-- {
		if !strings.HasPrefix(f.requests[i], "GET ") {
			return f.bodies[i]
		}
	}
	return ""
}

// TestCustomFieldForms: custom fields may be written as in Redmine's API and as values by
// names; a field with one value gets one.
func TestCustomFieldForms(t *testing.T) {
	for given, want := range map[string]string{
		`[{"name":"Environment","value":["dev","production"]}]`: `[{"id":9,"value":["dev","production"]}]`,
		`[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`:    `[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`,
		`{"Customer":"Bar"}`:                 `[{"id":10,"value":"Bar"}]`,
		`{"Customer":["Bar"],"9":"dev"}`:     `[{"id":9,"value":["dev"]},{"id":10,"value":"Bar"}]`,
		`{"Customer":null,"Environment":[]}`: `[{"id":10,"value":""},{"id":9,"value":[""]}]`,
	} {
		f := newFake(issueAnswers())
		text, _ := use(t.Context(), t, f.open(t), "update_issue", `{"id":5,"custom_fields":`+given+`}`)
		if sent := f.sent(); !strings.Contains(sent, want) {
			t.Errorf("%s: sent %s, want %s: %s", given, sent, want, text)
		}
	}
}
