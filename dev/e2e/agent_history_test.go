package e2e_test

import (
	"testing"

	"github.com/toolpost/toolpost/dev/historytest"
)

// TestHistories runs random conversations with every provider.
func TestHistories(t *testing.T) {
	conversations := 2
	if raced {
		conversations = 1 // it takes ten times as long
	}
	for _, p := range historytest.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			historytest.Run(t, p, conversations)
		})
	}
}
