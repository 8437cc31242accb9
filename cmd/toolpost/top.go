package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/top"
)

const topHelp = `Show what a running "toolpost serve" does: servers, clients, calls, errors and
log lines, with durations, sizes and tokens.
` + runningHelp + `

Keys: tab or 1 to 5 choose a list, / filters it, enter opens the details of a
row, p pauses, q quits.

--json writes the state once, as GET /status answers it; --once draws it once.
Neither needs a terminal. Arguments and results of calls are never shown.`

func topCommand() *cobra.Command {
	var (
		r            running
		asJSON, once bool
		every        time.Duration
	)
	cmd := &cobra.Command{
		Use:   "top [ADDRESS]",
		Short: "Watch a running serve: servers, clients, calls, errors and tokens",
		Long:  topHelp,
		Example: `  toolpost top
  toolpost top http://127.0.0.1:9000
  toolpost top --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			fetch, err := r.find(cmd, args)
			if errors.Is(err, errNotRunning) && r.target.Config == "" {
				fetch, err = r.find(cmd, []string{r.standard}) // watch what else runs
			}
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON || once {
				return showStatus(cmd.Context(), out, r.target.Address, asJSON, fetch)
			}
			if !terminal.Is(out) || !terminal.Is(cmd.InOrStdin()) {
				return cli.Usagef("there is no terminal; use --json or --once")
			}
			return top.Run(cmd.Context(), cmd.InOrStdin(), terminal.Unsafe(out), r.target.Address, every, fetch)
		},
	}
	r.flags(cmd)
	f := cmd.Flags()
	f.DurationVar(&every, "interval", time.Second, "ask the server again after this `TIME`")
	f.BoolVar(&asJSON, "json", false, "write the state once as JSON")
	f.BoolVar(&once, "once", false, "draw the state once")
	cli.Exclusive(cmd, "json", "once")
	return cmd
}

// onceWidth and onceHeight are the screen of --once without a terminal.
const onceWidth, onceHeight = 100, 24

// showStatus writes the state once.
func showStatus(ctx context.Context, w io.Writer, address string, asJSON bool, fetch top.Fetch) error {
	s, err := fetch(ctx, 0)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(w, s)
	}
	width, height := terminal.Size(w)
	_, err = io.WriteString(w, top.Once(address, cmp.Or(width, onceWidth), cmp.Or(height, onceHeight), s))
	return err
}
