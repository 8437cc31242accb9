package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/dev/man"
)

// TestManPages: every command has a manual page with all of its flags.
func TestManPages(t *testing.T) {
	pages, err := man.Pages("toolpost", "summary", time.Now(), func(args ...string) (string, error) {
		root := rootCommand()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs(args)
		err := root.Execute()
		return out.String(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, p := range pages {
		texts[p.Name] = string(p.Text)
	}
	commands := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			visit(child)
		}
		if c.Hidden || c.Name() == "help" {
			return
		}
		commands++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, ok := texts[name]
		if !ok {
			t.Errorf("there is no page %s", name)
			return
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, strings.ReplaceAll("--"+f.Name, "-", `\-`)) {
				t.Errorf("%s lacks --%s", name, f.Name)
			}
		})
	}
	visit(rootCommand())
	if commands != len(pages) {
		t.Errorf("there are %d commands and %d pages", commands, len(pages))
	}
}
