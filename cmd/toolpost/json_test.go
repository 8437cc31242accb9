package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestJSONFlag: every command that lists or changes something writes it as JSON too.
func TestJSONFlag(t *testing.T) {
	const (
		group  = "shows its help"
		serves = "serves until it is ended"
		plain  = "writes one text as it is, for programs that read it"
		json   = "writes JSON anyway"
	)
	without := map[string]string{
		"toolpost": group, "toolpost cache": group, "toolpost secret": group, "toolpost service": group, "toolpost claude": group, "toolpost completion": group, "toolpost help": group,
		"toolpost serve": serves, "toolpost redmine": serves, "toolpost replay": serves,
		"toolpost cache show": plain, "toolpost secret key": plain, "toolpost token": plain,
		"toolpost completion bash": plain, "toolpost completion fish": plain, "toolpost completion powershell": plain, "toolpost completion zsh": plain,
		"toolpost adapt": json, "toolpost claude summarize": json,
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			visit(child)
		}
		if !c.Runnable() {
			return
		}
		why, isException := without[c.CommandPath()]
		if has := c.Flags().Lookup("json") != nil; has == isException {
			t.Errorf("%s: --json is %v, the reason against it is %q", c.CommandPath(), has, why)
		}
		delete(without, c.CommandPath())
	}
	visit(rootCommand())
	for name := range without {
		t.Errorf("there is no command %s", name)
	}
}
