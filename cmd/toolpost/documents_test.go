package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/dev/documents"
)

// TestDocumentedCommands checks that every command line in a page, and in the examples of
// the help, is one of the program: its command, flags and arguments.
func TestDocumentedCommands(t *testing.T) {
	all, err := documents.Commands("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 200 {
		t.Errorf("only %d commands in the pages", len(all))
	}
	all = append(all, helpExamples(rootCommand())...)
	root := rootCommand()
	for _, c := range all {
		if slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
			root = rootCommand() // flags keep their values
		}
		err := parse(root, c)
		if err != nil && (c.Whole || !errors.As(err, new(*pflag.ValueRequiredError))) {
			t.Errorf("%s: toolpost %s: %v", c.Where, strings.Join(c.Args, " "), err)
		}
	}
}

// parse parses a command line as the program does, and the arguments of a mention only if
// they may be an unknown subcommand.
func parse(root *cobra.Command, c *documents.Command) error {
	cmd, rest, err := root.Find(c.Args)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil || !c.Whole && !cmd.HasSubCommands() {
		return err
	}
	return errors.Join(cmd.ValidateArgs(cmd.Flags().Args()), cmd.ValidateFlagGroups())
}

// helpExamples returns the examples of the help of a command and of those below it.
func helpExamples(cmd *cobra.Command) []*documents.Command {
	var all []*documents.Command
	for line := range strings.Lines(cmd.Example) {
		for _, words := range documents.Words(strings.TrimSpace(line)) {
			if words[0] == "toolpost" {
				all = append(all, &documents.Command{Where: "the help of " + cmd.CommandPath(), Args: words[1:], Whole: true})
			}
		}
	}
	for _, child := range cmd.Commands() {
		all = append(all, helpExamples(child)...)
	}
	return all
}

// TestMessagesNameCommands checks that the commands that messages tell people to run exist.
func TestMessagesNameCommands(t *testing.T) {
	source, err := documents.Strings("../..")
	if err != nil {
		t.Fatal(err)
	}
	root, named := rootCommand(), regexp.MustCompile(`(?:"|run: )toolpost ([a-z]+)`).FindAllStringSubmatch(source, -1)
	if len(named) < 50 {
		t.Errorf("only %d commands in messages", len(named))
	}
	for _, m := range named {
		cmd, _, err := root.Find([]string{m[1]})
		if err != nil || cmd == root {
			t.Errorf("a message has %q, but there is no command %q", m[0], m[1])
		}
	}
}

// elsewhere has what no script can run, and where it is run.
var elsewhere = map[string]string{
	"toolpost login": "TestAuthLogin of dev/live, with a real authorization server",
}

// TestDocumentedCommandsRun checks that a script runs each command that a page shows, with
// each of its flags.
func TestDocumentedCommandsRun(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || scripts == nil {
		t.Fatalf("no scripts: %v", err)
	}
	root, runs := rootCommand(), map[string]bool{}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "toolpost ") {
				continue // not worth the time
			}
			for _, words := range documents.Words(line) {
				for _, use := range usesOf(root, words) {
					runs[use] = true
				}
			}
		}
	}
	all, err := documents.Commands("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !c.Whole {
			continue
		}
		for _, use := range usesOf(root, append([]string{"exec", "toolpost"}, c.Args...)) {
			if !runs[use] && elsewhere[use] == "" {
				t.Errorf("%s: no script in testdata runs %q", c.Where, use)
			}
		}
	}
}

// usesOf returns what a line of a script uses of the program, if it runs it: a command, and
// the command with each flag, such as "toolpost list --fresh".
func usesOf(root *cobra.Command, words []string) []string {
	i := slices.Index(words, "toolpost")
	if last := words[len(words)-1]; i < 0 && strings.Contains(last, "toolpost ") && len(words) > 1 { // of sh -c
		for _, line := range documents.Words(last) {
			if uses := usesOf(root, line); uses != nil {
				return uses
			}
		}
	}
	if i < 1 || words[0] == "!" || !slices.ContainsFunc(words[:i], func(w string) bool { return w == "exec" || w == "start" || w == "terminal" || w == "eventually" }) {
		return nil
	}
	cmd, rest, err := root.Find(words[i+1:])
	if err != nil {
		return nil // which may be what the script tests
	}
	uses := []string{cmd.CommandPath()}
	for _, word := range rest {
		name, _, _ := strings.Cut(word, "=")
		flag := cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
		switch {
		case word == "--":
			return uses
		case len(name) == 2 && name[0] == '-':
			flag = cmd.Flags().ShorthandLookup(name[1:])
		case !strings.HasPrefix(name, "--"):
			continue
		}
		if flag != nil {
			uses = append(uses, cmd.CommandPath()+" --"+flag.Name)
		}
	}
	return uses
}

// TestDocumentedScreens checks that each screen in a guide is one that a test compares: what
// follows a command, up to a line with "…", is in a file of testdata.
func TestDocumentedScreens(t *testing.T) {
	golden := goldens(t)
	blocks, err := documents.Blocks("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if !b.IsScreen() || strings.Contains(b.Page, "/evidence/") {
			continue
		}
		command, screen := "", ""
		check := func() {
			if strings.TrimSpace(screen) != "" && !strings.Contains(golden, screen) {
				t.Errorf("%s: no file of testdata has this, after %q:\n%s", b.Where(0), command, screen)
			}
			screen = ""
		}
		for line := range strings.Lines(b.Text) {
			switch next, ok := strings.CutPrefix(line, "$ "); {
			case ok:
				check()
				command = strings.TrimSpace(next)
			case line == "…\n":
				check()
			case line != "\n" || screen != "":
				screen += line
			}
		}
		check()
	}
}

// goldens returns the text of all files that tests compare the program's output with.
func goldens(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"testdata/*.txtar", "internal/*/testdata/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || files == nil {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
			all.WriteString("\n")
		}
	}
	return all.String()
}
