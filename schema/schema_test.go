package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func TestSchemaFromJSON(t *testing.T) {
	var tool struct{ Input, Other *schema.Schema }
	if err := json.Unmarshal([]byte(`{"Input":{"type":"object", "properties":{"a":{"default":1.0}}}}`), &tool); err != nil {
		t.Fatal(err)
	}
	if tool.Other != nil {
		t.Error("a schema that is not there was made")
	}
	if err := tool.Input.Validate([]byte(`[]`)); err == nil {
		t.Error("an array is an object")
	}
	if got := string(tool.Input.ApplyDefaults([]byte(`{}`))); got != `{"a":1.0}` {
		t.Error(got)
	}
	if raw, err := json.Marshal(tool.Input); err != nil || string(raw) != `{"type":"object","properties":{"a":{"default":1.0}}}` {
		t.Errorf("%s, %v", raw, err)
	}
	if err := json.Unmarshal([]byte(`{"Input":[]}`), &tool); err == nil || !strings.Contains(err.Error(), "want a JSON object") {
		t.Error(err)
	}
}

func TestZeroSchema(t *testing.T) {
	var s schema.Schema
	if err := s.Validate([]byte(`1`)); err != nil || len(s.Unvalidated()) != 1 {
		t.Error(err, s.Unvalidated())
	}
	if got := string(s.ApplyDefaults([]byte(`{}`))); got != `{}` {
		t.Error(got)
	}
	if raw, err := json.Marshal(&s); err != nil || string(raw) != "null" {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestWith(t *testing.T) {
	inferred, err := schema.ForInput[struct {
		A string `json:"a,omitempty"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	rewritten := []byte(`{"properties":{"b":{"type":"string"}}}`)
	parsed := schema.MustParse(`{}`)
	for _, test := range []struct {
		of   *schema.Schema
		null bool
	}{{inferred, true}, {parsed, false}} {
		s, err := test.of.With(rewritten)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Validate([]byte(`{"b":null}`)) == nil; got != test.null {
			t.Errorf("null is accepted: %v, want %v", got, test.null)
		}
		if string(s.Raw()) != string(rewritten) {
			t.Errorf("%s", s.Raw())
		}
	}
	if _, err := inferred.With([]byte(`7`)); err == nil {
		t.Error("a number is a schema")
	}
}

type opaque struct{}

func (opaque) MarshalJSON() ([]byte, error)  { return []byte("1"), nil }
func (*opaque) UnmarshalJSON(_ []byte) error { return nil }

func TestFindingsStay(t *testing.T) {
	s, err := schema.ForInput[struct{ F opaque }]()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Findings(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if got := schema.MustParse(`{}`).Findings(); len(got) != 0 {
		t.Error(got)
	}
}
