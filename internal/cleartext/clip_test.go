package cleartext_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/cleartext"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aéb", 2, "a…"}} {
		if got := cleartext.Clip(c.text, c.max); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.max, got, c.want)
		}
	}
}
