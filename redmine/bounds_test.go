package redmine_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/redmine"
)

// TestArgumentsAreBounded: no text and no list that a tool takes is without a limit.
func TestArgumentsAreBounded(t *testing.T) {
	s, err := redmine.New(&redmine.Options{URL: "http://redmine.test", Key: "key-of-the-test"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		raw, err := json.Marshal(tool.Input)
		if err != nil {
			t.Fatal(err)
		}
		bounded(t, tool.Name, raw)
	}
}

// bounded checks a schema. The texts of a list are bounded by the length of all
// arguments.
func bounded(t *testing.T, at string, raw json.RawMessage) {
	t.Helper()
	var s struct {
		Type       string
		Enum       []any
		MaxLength  *int
		MaxItems   *int
		Items      json.RawMessage
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(at, err)
	}
	if s.Type == "string" && s.MaxLength == nil && s.Enum == nil || s.Type == "array" && s.MaxItems == nil {
		t.Errorf("%s has no limit: %s", at, raw)
	}
	for name, property := range s.Properties {
		bounded(t, at+"/"+name, property)
	}
	var item struct{ Properties map[string]json.RawMessage }
	if s.Items != nil && json.Unmarshal(s.Items, &item) == nil && item.Properties != nil {
		bounded(t, at+"/items", s.Items)
	}
}
