package output_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/output"
)

// TestReadingTools checks the inputs, which models have learnt.
func TestReadingTools(t *testing.T) {
	want := map[string]input{
		"tool_output_cache": {
			Properties: map[string]property{"ref_id": {"string"}, "offset": {"integer"}, "limit": {"integer"}},
			Required:   []string{"ref_id"},
		},
		"tool_output_cache_grep": {
			Properties: map[string]property{
				"ref_id": {"string"}, "pattern": {"string"}, "regex": {"boolean"},
				"before": {"integer"}, "after": {"integer"}, "max_matches": {"integer"},
			},
			Required: []string{"ref_id", "pattern"},
		},
	}
	got := map[string]input{}
	for _, tool := range output.New(newShelf(), nil).Tools() {
		var in input
		if err := json.Unmarshal(tool.Input.Raw(), &in); err != nil {
			t.Fatal(err)
		}
		got[tool.Name] = in
		if a := tool.Annotations; a.ReadOnly == nil || !*a.ReadOnly {
			t.Errorf("%s is not marked read-only", tool.Name)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

type input struct {
	Properties map[string]property
	Required   []string
}

type property struct{ Type string }
