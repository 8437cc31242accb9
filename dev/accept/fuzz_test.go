package accept_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

// FuzzSchema wants an oracle that judges whatever it is given.
func FuzzSchema(f *testing.F) {
	for _, s := range accept.Torture() {
		f.Add([]byte(s.Input()))
	}
	for seed := range uint64(20) {
		f.Add([]byte(accept.RandomSchema(source(seed))))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		if len(schema) > 4_000 {
			t.Skip()
		}
		for _, target := range accept.Targets() {
			accept.Check(target, []accept.Tool{{Name: "t", Input: schema, Output: schema, Strict: true}})
		}
		if v, ok := accept.RandomInstance(source(1), schema); ok {
			if failing, err := accept.Valid(schema, v); err == nil && failing != nil {
				t.Errorf("%s: %s: %v", schema, v, failing)
			}
		}
		if after := accept.Mutate(source(1), schema); json.Valid(schema) && !json.Valid(after) {
			t.Errorf("%s became %s", schema, after)
		}
	})
}
