package accept_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/toolpost/toolpost/dev/accept"
)

// TestHostile wants the oracle itself to survive what it hands out.
func TestHostile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for _, b := range accept.Hostile() {
		began := time.Now()
		if len(b.Schema) < 50_000 {
			if _, err := accept.Compile(b.Schema); err != nil {
				refused++
			}
			accept.RandomInstance(rng, b.Schema)
		}
		accept.Check("mcp", []accept.Tool{{Name: "t", Input: b.Schema}})
		t.Logf("%s: %v", b.Name, time.Since(began))
	}
	if refused < 10 {
		t.Errorf("only %d are refused", refused)
	}
}
