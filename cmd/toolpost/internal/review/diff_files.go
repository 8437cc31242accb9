package review

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// compareFiles compares two configurations as text: nothing of them has run.
func compareFiles(cmd *cobra.Command, before, after *compared, asJSON bool) error {
	for _, c := range []*compared{before, after} {
		if !c.trusted {
			fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: you have not approved %s, so its servers are not started and the files are compared as text; to compare what the servers list, run: toolpost trust %[1]s\n", cleartext.Printable(cleartext.ShellWord(c.arg)))
		}
	}
	differ := !bytes.Equal(before.data, after.data)
	lines := configfile.Lines(before.arg, before.data, after.arg, after.data)
	p := terminal.NewPage(cmd.OutOrStdout())
	var err error
	switch {
	case asJSON:
		err = cli.WriteJSON(cmd.OutOrStdout(), map[string]any{"differ": differ, "lines": changedLines(lines)})
	case !differ:
		p.WriteString("No difference.\n")
		err = p.Flush()
	default:
		p.Diff(lines)
		if len(changedLines(lines)) == 0 {
			p.WriteString("Only secrets or line ends differ, which are not shown.\n")
		}
		err = p.Flush()
	}
	if err == nil && differ {
		err = errors.New("they differ")
	}
	return err
}

// A changedLine is one line of two files that are compared as text.
type changedLine struct {
	Change recording.Change `json:"change"`
	Before string           `json:"before,omitempty"`
	After  string           `json:"after,omitempty"`
}

func changedLines(lines []terminal.Line) []changedLine {
	changed := []changedLine{}
	for _, l := range lines {
		switch l.Mark {
		case '-':
			changed = append(changed, changedLine{Change: recording.Removed, Before: l.Before})
		case '+':
			changed = append(changed, changedLine{Change: recording.Added, After: l.After})
		}
	}
	return changed
}
