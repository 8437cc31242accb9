package e2e_test

import (
	"runtime/debug"
	"testing"

	"github.com/toolpost/toolpost/dev/historytest"
)

// TestHistories runs random conversations with every provider.
func TestHistories(t *testing.T) {
	conversations := 2
	if raced {
		conversations = 1 // it takes ten times as long
	}
	percent := debug.SetGCPercent(400) // the copies live for a moment: collecting them was a fifth of the time
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	for _, p := range historytest.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			historytest.Run(t, p, conversations)
		})
	}
}
