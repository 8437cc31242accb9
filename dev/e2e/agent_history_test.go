package e2e_test

import (
	"testing"

	"github.com/toolpost/toolpost/dev/historytest"
)

// TestHistories runs random conversations with every provider. TOOLPOST_FAULT_RUNS=10000
// makes 20 with each.
func TestHistories(t *testing.T) {
	conversations := max(faultRuns(500)/500, 1)
	for _, p := range historytest.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			historytest.Run(t, p, conversations)
		})
	}
}
