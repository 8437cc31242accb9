package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// statusReport is what status writes as JSON.
type statusReport struct {
	Running bool   `json:"running"`
	URL     string `json:"url,omitempty"` // of /mcp
	PID     int    `json:"pid,omitempty"`
	*status.Status
}

func statusCommand() *cobra.Command {
	var (
		r      running
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "status [ADDRESS]",
		Aliases: []string{"ps"},
		Short:   "Show whether serve runs, with which servers and clients",
		Long: `Show whether toolpost serve runs, where and since when, with its servers and
clients. Exit with 1 if it does not run.
` + runningHelp,
		Example: `  toolpost status
  toolpost status --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			fetch, err := r.find(cmd, args)
			report := &statusReport{}
			if err == nil {
				report.Status, err = fetch(cmd.Context(), 0)
			}
			if errors.Is(err, errNotRunning) {
				ctx, cancel := context.WithTimeout(cmd.Context(), runPatience)
				defer cancel()
				err = r.nameOther(ctx)
			}
			if asJSON && (err == nil || errors.Is(err, errNotRunning)) {
				if report.Running = err == nil; report.Running {
					report.URL = r.target.Address
				}
				if report.Running && r.run != nil {
					report.URL, report.PID = r.run.URL, r.run.PID
				}
				return errors.Join(cli.WriteJSON(cmd.OutOrStdout(), report), err)
			}
			if err != nil {
				return err
			}
			return r.show(cmd.OutOrStdout(), report.Status)
		},
	}
	r.flags(cmd)
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// show writes the state for a person.
func (r *running) show(w io.Writer, s *status.Status) error {
	where := r.target.Address
	if r.run != nil {
		where = fmt.Sprintf("%s, process %d", r.run.URL, r.run.PID)
	}
	fmt.Fprintf(w, "Runs since %s (%s) at %s\n", s.Started.Local().Format(time.DateTime), ago(s.Time.Sub(s.Started)), where)
	rows := [][]string{{"SERVER", "STATE", "TOOLS", ""}}
	ready, tools := 0, 0
	for _, server := range s.Servers {
		if server.State == "ready" {
			ready++
			tools += server.Tools
		}
		rows = append(rows, []string{cleartext.Printable(server.Name), cleartext.Printable(server.State), fmt.Sprint(server.Tools), cleartext.Printable(server.Error)})
	}
	if len(s.Servers) > 0 {
		width, _ := terminal.Size(w)
		text, _ := cli.Columns(rows, nil, 0, width)
		for line := range strings.Lines("\n" + text) {
			fmt.Fprintln(w, strings.TrimRight(line, " \n"))
		}
	}
	for i, c := range s.Clients {
		if i == 0 {
			fmt.Fprintln(w, "\nClients:")
		}
		fmt.Fprintf(w, "  %s: %s\n", cleartext.Printable(c.Name), terminal.Count(int(c.Calls), "request"))
	}
	if len(s.Servers) == 0 { // the tools are its own
		_, err := fmt.Fprintf(w, "\n%s\n", terminal.Count(s.Tools, "tool"))
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d of %s ready, %s\n", ready, terminal.Count(len(s.Servers), "server"), terminal.Count(tools, "tool"))
	return err
}

// ago is a duration as people say it.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return terminal.Count(int(d.Seconds()), "second")
	case d < 2*time.Hour:
		return terminal.Count(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return terminal.Count(int(d.Hours()), "hour")
	}
	return terminal.Count(int(d.Hours()/24), "day")
}
