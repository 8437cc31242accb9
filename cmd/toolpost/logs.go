package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/top"
	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
)

func logsCommand() *cobra.Command {
	var (
		r              running
		follow, asJSON bool
		every          time.Duration
	)
	cmd := &cobra.Command{
		Use:   "logs [ADDRESS] [SERVER]",
		Short: "Show the last log lines of serve, or those about one server",
		Long: `Show the last log lines and failed calls of a running toolpost serve, or only
those about one SERVER of it. With --follow, go on until it ends.
` + runningHelp,
		Example: `  toolpost logs
  toolpost logs github --follow`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			server := ""
			if n := len(args); n > 0 && !cli.IsAddress(args[n-1]) {
				server, args = args[n-1], args[:n-1]
			}
			fetch, err := r.find(cmd, args)
			if err != nil {
				return err
			}
			if !follow {
				every = 0
			}
			return showLogs(cmd, fetch, server, asJSON, every)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines")
	cmd.Flags().DurationVar(&every, "interval", time.Second, "with --follow, ask again after this `TIME`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON object for each line")
	return cmd
}

// showLogs writes the lines that there are, and with an interval those that come.
func showLogs(cmd *cobra.Command, fetch top.Fetch, server string, asJSON bool, every time.Duration) error {
	for after := uint64(0); ; {
		s, err := fetch(cmd.Context(), after)
		if after > 0 && (errors.Is(err, errNotRunning) || errors.Is(err, context.Canceled)) {
			return nil // serve or the user ended it
		}
		if err == nil && after == 0 {
			err = checkServer(s, server)
		}
		if err != nil {
			return err
		}
		if err := writeLogs(cmd.OutOrStdout(), s, server, asJSON); err != nil || every <= 0 {
			return err
		}
		after = max(s.Seq, 1)
		select {
		case <-time.After(every):
		case <-cmd.Context().Done():
			return nil
		}
	}
}

// checkServer reports that there is no such server; "" stands for all.
func checkServer(s *status.Status, server string) error {
	if server == "" || slices.ContainsFunc(s.Servers, func(one status.Server) bool { return one.Name == server }) {
		return nil
	}
	return cli.Usagef("the serve that runs has no server %q; \"toolpost status\" lists them", server)
}

// writeLogs writes the log lines and failed calls of a state in their order.
func writeLogs(w io.Writer, s *status.Status, server string, asJSON bool) error {
	lines := slices.Clone(s.Logs)
	for _, c := range s.Calls {
		if c.Failed() {
			text := fmt.Sprintf("call failed tool=%s server=%s client=%s outcome=%s err=%s", c.Name, c.Server, c.Client, c.Outcome, c.Error)
			lines = append(lines, status.Log{Seq: c.Seq, Time: c.Time, Level: "warn", Text: text, Server: c.Server})
		}
	}
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].Seq < lines[j].Seq })
	for _, l := range lines {
		if server != "" && l.Server != server {
			continue
		}
		if asJSON {
			if err := json.NewEncoder(w).Encode(l); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(w, "%s %-5s %s\n", l.Time.Local().Format(time.DateTime), cleartext.Printable(l.Level), cleartext.Printable(l.Text)); err != nil {
			return err
		}
	}
	return nil
}
