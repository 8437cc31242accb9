package provider_test

import (
	"testing"

	"github.com/toolpost/toolpost/model/internal/provider"
)

// TestWorse: of two words, the worse one counts, in whichever order they come.
func TestWorse(t *testing.T) {
	order := []string{"", "stop", "pause_turn", "max_tokens", "reason_of_tomorrow", "content_filter", "abort"}
	for i, mild := range order {
		for _, bad := range order[i:] {
			if a, b := provider.Worse(mild, bad), provider.Worse(bad, mild); a != bad || b != bad {
				t.Errorf("of %q and %q, the worse ones are %q and %q", mild, bad, a, b)
			}
		}
	}
	for _, two := range [][2]string{{"SAFETY", "refusal"}, {"stop", "tool_calls"}, {"", " "}, {"length", "MAX_TOKENS"}} {
		if got := provider.Worse(two[0], two[1]); got != two[0] {
			t.Errorf("%q takes the place of %q, which is as bad", got, two[0])
		}
	}
}
