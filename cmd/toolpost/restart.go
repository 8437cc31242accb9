package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/upstream"
)

func restartCommand() *cobra.Command {
	var (
		r      running
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "restart SERVER",
		Short: "Restart one server of the serve that runs",
		Long: `End the processes and connections of one SERVER of the toolpost serve that runs
with the configuration, and start it again. Wait until it is ready, or say why
it is not and exit with 1. Its calls under way fail; other servers go on.
An interrupt ends the wait, not the restart.`,
		Example: `  toolpost restart github
  toolpost restart github --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.restart(cmd, args[0])
			if err == nil && asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), s)
			}
			switch {
			case err != nil:
				return err
			case s.State != string(upstream.Ready):
				return fmt.Errorf("%s is %s: %s", cleartext.Printable(s.Name), cleartext.Printable(s.State), cleartext.Printable(s.Error))
			case asJSON:
				return nil
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is ready: %s\n", cleartext.Printable(s.Name), terminal.Count(s.Tools, "tool"))
			return err
		},
		ValidArgsFunction: r.completeServer,
	}
	cmd.Flags().StringVar(&r.target.Config, "config", "", "configuration `FILE`")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// restart restarts a server of the run, and returns its state when it is ready or has failed.
func (r *running) restart(cmd *cobra.Command, server string) (*status.Server, error) {
	if _, err := r.findRun(cmd); err != nil {
		return nil, err
	}
	client := r.run.Client(runPatience, "", cmd.CommandPath())
	defer client.Close()
	raw, err := client.Restart(cmd.Context(), server)
	if err != nil {
		return nil, r.explain(err)
	}
	s := &status.Server{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("read the state of the server: %w", err)
	}
	return s, nil
}

// completeServer returns the names of the servers of the configuration for the shell.
func (r *running) completeServer(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	found, err := cli.FindConfiguration(cmd.Context(), r.target.Config, &cli.Prompter{Out: io.Discard})
	if err != nil || found == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, s := range found.Servers {
		if !s.Disabled && cleartext.Printable(s.Name) == s.Name {
			names = append(names, s.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
