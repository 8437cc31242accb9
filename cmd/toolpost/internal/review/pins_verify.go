package review

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/upstream"
)

func verifyCommand(config *string) *cobra.Command {
	var (
		t      connect.Target
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Start the servers and compare their tools with the pins",
		Long: `Start the servers of the configuration and compare the definitions of their
tools with the pins. Nothing is pinned or approved. The exit code is 1 if a tool
has changed or is new, if a server cannot be reached, or if it has no pins.

For CI, set "lock": true in the configuration, run "toolpost list" once, and
commit toolpost.lock.`,
		Example: `  toolpost pins verify --config toolpost.json`,
		Args:    cli.CheckArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := readPins(cmd, *config)
			if err != nil {
				return err
			}
			return p.verify(cmd, &t, asJSON)
		},
	}
	cmd.Flags().DurationVar(&t.Timeout, "timeout", connect.DefaultTimeout, "how long to wait for servers to connect")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// verify compares the current definitions of the servers with the pins.
func (p *pinned) verify(cmd *cobra.Command, t *connect.Target, asJSON bool) error {
	where := owner.Pins(p.Config)
	where.ReadOnly = true
	s, err := t.OpenServers(cmd, p.Config, where)
	if err != nil {
		return err
	}
	defer s.Close()
	unreachable := s.ReportSkipped(cmd.ErrOrStderr())
	var wrong []string
	for _, st := range s.Status {
		server := p.server(st.Name)
		switch {
		case st.State == upstream.Disabled || server == nil || server.Unpinned || server.Source != nil:
		case st.State != upstream.Ready:
			wrong = append(wrong, fmt.Sprintf("%s cannot be checked", st.Name))
		case len(p.lock.Servers[st.Name]) == 0 && st.Tools > 0:
			wrong = append(wrong, fmt.Sprintf("%s has no pins; %q pins its tools", st.Name, owner.Command(p.Config, "list")))
		}
	}
	for _, w := range s.Withheld {
		wrong = append(wrong, fmt.Sprintf("the tool %q of %s is not as it was pinned", w.Tool, w.Server))
	}
	switch err := p.writeDifferences(cmd.OutOrStdout(), s.Withheld, asJSON); {
	case err != nil:
		return err
	case unreachable != nil:
		return unreachable
	case len(wrong) > 0:
		return fmt.Errorf("%s. To accept changes where the pins are kept, run %q and \"toolpost approve\"", strings.Join(wrong, "; "), owner.Command(p.Config, "list"))
	}
	if !asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "All tools are as they were pinned in %s.\n", p.file.Path())
	}
	return err
}

// writeDifferences writes the tools that are not as they were pinned.
func (p *pinned) writeDifferences(w io.Writer, all []gateway.WithheldTool, asJSON bool) error {
	page, listed := terminal.NewPage(w), []listedPin{}
	for _, t := range all {
		pin := p.lock.Servers[t.Server][t.Tool]
		c := &definitionChange{server: t.Server, tool: t.Tool, before: t.Approved, after: t.Pending, isNew: t.Approved == nil && pin == nil}
		l := listedPin{Server: t.Server, Tool: t.Tool, State: "changed", Before: c.before, After: c.after}
		if c.isNew {
			l.State = "new"
		}
		if pin != nil && pin.Approved != nil {
			l.SHA256 = pin.Approved.Hash
		}
		listed = append(listed, l)
		writeChange(page, c)
	}
	if asJSON {
		return cli.WriteJSON(w, listed)
	}
	return page.Flush()
}
