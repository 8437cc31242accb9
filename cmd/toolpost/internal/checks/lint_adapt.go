package checks

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/schema/dialect"
)

// adapt writes the tools as the one target gets them, or what is different.
func (o *lintOptions) adapt(cmd *cobra.Command, src *lint.Source) error {
	d, err := findTarget(src.Book, o.targets)
	if err != nil {
		return err
	}
	a := lint.Adapt(src, d, &dialect.Options{Server: o.server})
	for _, w := range a.Withheld {
		who := "a tool without a name"
		if w.Name != "" {
			who = fmt.Sprintf("tool %q", cleartext.Printable(w.Name))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: %s is withheld: %s (%s)\n", who, cleartext.Printable(w.Why), w.Rule)
	}
	if o.diff {
		p := terminal.NewPage(cmd.OutOrStdout())
		if err := a.Diff(p); err != nil {
			return err
		}
		return p.Flush()
	}
	return a.Fix(cmd.OutOrStdout())
}
