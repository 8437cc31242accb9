package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The address of a login page comes from a foreign server, and must not control the terminal.
func TestLoginAddressIsPrintable(t *testing.T) {
	t.Setenv("BROWSER", "/nonexistent")
	t.Setenv("PATH", "")
	for _, noBrowser := range []bool{true, false} {
		var out strings.Builder
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		cmd.SetErr(&strings.Builder{})
		o := loginOptions{noBrowser: noBrowser}
		if err := o.person(cmd).Visit(t.Context(), "https://a.example/\x1b]0;x\a"); err != nil || strings.ContainsAny(out.String(), "\x1b\a") || !strings.Contains(out.String(), "https://a.example/") {
			t.Errorf("noBrowser %v: printed %q, %v", noBrowser, out.String(), err)
		}
	}
}
