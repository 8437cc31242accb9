package dialect_test

import (
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestOutputSchemaEffect: a client that loses all tools over an output schema
// that is not an object does not lose them over one that declares its draft.
func TestOutputSchemaEffect(t *testing.T) {
	for _, id := range []string{"gemini-cli", "claude-code-2.1.197"} {
		d, err := dialect.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		for output, want := range map[string]dialect.Effect{
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`: dialect.Advice,
			`{"type":"array"}`: dialect.KillsServer,
		} {
			tool := defined(t, `{"name":"a","description":"A.","inputSchema":{"type":"object"},"outputSchema":`+output+`}`)
			found := d.Lint([]*toolpost.Tool{tool}, nil)
			if len(found) != 1 || found[0].Effect != want {
				t.Errorf("%s: %s: got %v, want %s", id, output, found, want)
			}
		}
	}
}
