package cliversion_test

import (
	"testing"

	"github.com/toolpost/toolpost/claude/internal/cliversion"
)

func TestAtLeast(t *testing.T) {
	for _, test := range []struct {
		version, least string
		want           bool
	}{
		{"2.1.329", "2.1.40", true},
		{"2.1.9", "2.1.40", false},
		{"v2.1.40 (Claude Code)", "2.1.40", true},
		{"3.0.0", "2.9.9", true},
		{"new", "2.0.0", false},
	} {
		if got := cliversion.AtLeast(test.version, test.least); got != test.want {
			t.Errorf("%q at least %q: %v", test.version, test.least, got)
		}
	}
}
