package bounds_test

import (
	"os"
	"slices"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/bounds"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
	"github.com/toolpost/toolpost/store"
)

// TestOwnTools looks at every argument of our own tools but those for Redmine, which
// check more than they publish: see TestBounded there.
func TestOwnTools(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	shell := stdtool.NewShell(t.TempDir(), nil)
	defer shell.Close()
	cache := output.New(store.Memory(nil), nil)
	tools := toolpost.Join(
		stdtool.NewWorkspace(root), shell, stdtool.Todos(nil),
		toolpost.Tools{stdtool.Fetch(nil), stdtool.Done()},
	)
	set, err := toolpost.NewSet(t.Context(), cache.Layer(tools))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := set.Tools(t.Context())
	if len(all) < 17 {
		t.Errorf("only %d tools", len(all))
	}
	for _, tool := range all {
		found, err := bounds.Unbounded(tool.Input.Raw())
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			t.Errorf("%s: %s", tool.Name, f)
		}
	}
}

func TestUnbounded(t *testing.T) {
	for schema, want := range map[string][]string{
		`{"type":"object","additionalProperties":false}`: nil,
		`{"type":"object"}`: {"arguments has no maxProperties", "arguments has names without a maxLength", "arguments has values of any kind"},
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"type":"array"}}}`: {
			"arguments.a has no maxLength", "arguments.b has no maxItems", "arguments.b has items of any kind"},
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","maxLength":1},"b":{"type":"array","maxItems":2,"items":{"type":"integer"}},"c":{"type":"string","enum":["x"]}}}`: nil,
		`{"type":"object","maxProperties":3,"propertyNames":{"maxLength":4},"additionalProperties":{"type":"string"}}`:                                                                                      {"arguments.* has no maxLength"},
		`{"type":"object","additionalProperties":false,"properties":{"a":{"anyOf":[]}}}`:                                                                                                                    {`arguments.a has the type "", which has no known limit`},
	} {
		got, err := bounds.Unbounded([]byte(schema))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, error %v", schema, got, err)
		}
	}
}
