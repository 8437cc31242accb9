package cli_test

import (
	"errors"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
)

// TestExclusive: of several groups, each lets one of its flags be set.
func TestExclusive(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--json", "--yes"}, ""},
		{[]string{"--once", "--json"}, "give --json or --once, only one of them"},
		{[]string{"--yes", "--deny"}, "give --deny or --yes, only one of them"},
		{[]string{"--yes=false", "--deny=false"}, "give --deny or --yes, only one of them"},
		{[]string{"--yes", "--deny", "--once", "--json"}, "give --json or --once, only one of them"},
	} {
		ran := false
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error { ran = true; return nil }}
		for _, name := range []string{"json", "once", "yes", "deny"} {
			cmd.Flags().Bool(name, false, "")
		}
		cli.Exclusive(cmd, "once", "json")
		cli.Exclusive(cmd, "yes", "deny")
		cmd.SetArgs(append([]string{}, test.args...))
		err := cmd.Execute()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want || ran == (test.want != "") || err != nil && (!errors.As(err, new(cli.UsageError)) || cli.Report(io.Discard, err) != cli.ExitUsage) {
			t.Errorf("%q: got %q, ran %v, want %q", test.args, got, ran, test.want)
		}
	}
}
