package schema_test

import (
	"testing"

	"github.com/toolpost/toolpost/schema"
)

// mapped describes itself with a map, whose order Go does not fix.
type mapped string

func (mapped) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1, "maxLength": 9, "pattern": "x", "title": "T", "examples": []any{map[string]any{"b": 1, "a": 2, "c": 3}}}
}

// TestDeclaredByMap checks that a type gets the same schema each time: clients
// cache definitions, and show a change as one.
func TestDeclaredByMap(t *testing.T) {
	first := ""
	for range 50 {
		s, err := schema.ForInput[struct{ F mapped }]()
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(s.Raw())
		}
		if got := string(s.Raw()); got != first {
			t.Fatalf("once %s, then %s", first, got)
		}
	}
}
