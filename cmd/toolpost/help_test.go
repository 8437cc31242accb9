package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The help of every command fits a terminal of 80 columns, apart from examples,
// which are for copying.
func TestHelpWidth(t *testing.T) {
	var visit func(*cobra.Command)
	visited := 0
	visit = func(c *cobra.Command) {
		visited++
		var help strings.Builder
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.Replace(help.String(), c.Example, "", 1)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: a line of the help has %d characters: %s", c.CommandPath(), n, line)
			}
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(rootCommand())
	if visited < 15 {
		t.Errorf("only %d commands", visited)
	}
}
