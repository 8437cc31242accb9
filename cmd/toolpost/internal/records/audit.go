// Package records has the commands about what is kept of calls: the audit log (audit),
// large outputs (cache) and recordings (replay).
package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/trail"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/observe"
)

const auditHelp = `List the calls that "toolpost serve" has recorded, the newest last: which client
called which tool, when, with what outcome. The configuration switches the
record on with "audit": true. It is in the folder toolpost/audit of
$XDG_STATE_HOME, by default ~/.local/state, or among the settings of
applications on macOS and Windows.

An OUTCOME is ok, tool_error, denied, invalid, input_required, protocol_error,
canceled, timeout, unavailable, circuit_open or limited. A call that has not
ended is running; if its process ended first, it is unknown whether the call was
executed.`

// Audit returns the command "audit".
func Audit() *cobra.Command {
	var (
		o      auditOptions
		follow bool
	)
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List the recorded calls: who called which tool, with what outcome",
		Long:  auditHelp,
		Example: `  toolpost audit
  toolpost audit --since 2h --errors
  toolpost audit --tool 'github__*' --json
  toolpost audit --follow
  toolpost audit stats --by tool
  toolpost audit verify`,
		Args: cli.RejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, filter, err := o.find()
			if err != nil {
				return err
			}
			calls, damaged, err := trail.Calls(dir, filter)
			if err != nil {
				return err
			}
			p := &callPrinter{out: cmd.OutOrStdout(), json: o.json}
			p.width, _ = terminal.Size(p.out)
			if len(calls) == 0 && !follow && !o.json {
				_, err := io.WriteString(p.out, noCalls(dir))
				return err
			}
			if err := p.print(calls); err != nil {
				return err
			}
			warnDamaged(cmd.ErrOrStderr(), damaged)
			if !follow {
				return nil
			}
			return trail.Follow(cmd.Context(), dir, filter, nil, func(r *trail.Record) error { return p.print([]*trail.Record{r}) })
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.failed, "errors", false, "only calls that did not succeed")
	cmd.Flags().StringVar(&o.outcome, "outcome", "", "only calls with this `OUTCOME`")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "the newest `N` calls; 0 for all")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with calls as they end, until interrupted")
	cmd.AddCommand(auditStats(), auditVerify())
	for _, c := range cmd.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	return cmd
}

// auditOptions are the flags that select calls.
type auditOptions struct {
	server, tool, client, outcome, since string
	failed, json                         bool
	limit                                int
}

func (o *auditOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.server, "server", "", "only calls of servers that match `GLOB`")
	f.StringVar(&o.tool, "tool", "", "only calls of tools that match `GLOB`, as clients or the server call them")
	f.StringVar(&o.client, "client", "", "only calls of clients that match `GLOB`, such as claude-code")
	f.StringVar(&o.since, "since", "", "only calls since `TIME`: 90m, 2h, 7d, 2026-11-24 or 2026-11-24T08:00:00Z")
	f.BoolVar(&o.json, "json", false, "write JSON, for calls one record on each line")
}

// find returns where the log is, and what is selected of it.
func (o *auditOptions) find() (dir string, f *trail.Filter, err error) {
	for flag, glob := range map[string]string{"server": o.server, "tool": o.tool, "client": o.client} {
		if _, err := path.Match(glob, ""); err != nil {
			return "", nil, cli.Usagef("--%s %q is not a pattern; write \\[ for a bracket", flag, glob)
		}
	}
	if o.limit < 0 {
		return "", nil, cli.Usagef("--limit is a number of calls, 0 or more")
	}
	since, err := cli.ParseSince(o.since, time.Now())
	if err != nil {
		return "", nil, err
	}
	dir, err = owner.AuditDir()
	return dir, &trail.Filter{Server: o.server, Tool: o.tool, Client: o.client, Since: since, Failed: o.failed, Outcome: observe.Outcome(o.outcome), Limit: o.limit}, err
}

// noCalls explains why nothing is listed.
func noCalls(dir string) string {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return "No call is recorded yet. To record calls, add \"audit\": true to the configuration and start \"toolpost serve\" again.\n"
	}
	return "No recorded call matches.\n"
}

func warnDamaged(w io.Writer, lines int) {
	if lines > 0 {
		fmt.Fprintf(w, "toolpost: %s of the log cannot be read; \"toolpost audit verify\" shows which\n", terminal.Count(lines, "line"))
	}
}

// A callPrinter writes calls, as a table or as JSON.
type callPrinter struct {
	out    io.Writer
	json   bool
	width  int
	widths []int // of the columns of the last table; nil before it
}

func (p *callPrinter) print(calls []*trail.Record) error {
	if p.json {
		for _, r := range calls {
			if _, err := fmt.Fprintln(p.out, r); err != nil {
				return err
			}
		}
		return nil
	}
	var rows [][]string
	if p.widths == nil {
		rows = append(rows, []string{"TIME", "CLIENT", "TOOL", "OUTCOME", "MS", "BYTES"})
	}
	for _, r := range calls {
		rows = append(rows, callRow(r))
	}
	var text string
	text, p.widths = cli.Columns(rows, p.widths, 2, p.width)
	_, err := io.WriteString(p.out, text)
	return err
}

func callRow(r *trail.Record) []string {
	outcome := string(r.Outcome)
	if r.ErrorCode != 0 {
		outcome += fmt.Sprintf(" %d", r.ErrorCode)
	}
	tool := r.Tool
	if tool == "" {
		tool = r.Method
	}
	row := []string{r.Time.Local().Format("2006-01-02 15:04:05"), cli.Dash(r.Principal.Client), cli.Dash(tool), cli.Dash(outcome), "-", "-"}
	if r.Phase != trail.PhaseStart {
		row[4], row[5] = strconv.FormatFloat(r.Duration, 'f', 1, 64), strconv.FormatInt(r.BytesOut, 10)
	}
	return row
}

func auditVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was changed, inserted or removed",
		Long: `Check the chain of the records: each contains the digest of the one before. The
exit code is 1 if a record was changed, inserted, moved, or removed between
others. It cannot be found out that the newest records or the oldest files were
removed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := owner.AuditDir()
			if err != nil {
				return err
			}
			v, err := trail.Verify(dir)
			if err != nil {
				return err
			}
			if err := writeVerification(cmd.OutOrStdout(), v, asJSON); err != nil {
				return err
			}
			if n := len(v.Problems); n > 0 {
				return fmt.Errorf("the audit log was changed or damaged: %s", terminal.Count(n, "problem"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func writeVerification(w io.Writer, v *trail.Verification, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(w, v)
	}
	for _, p := range v.Problems {
		fmt.Fprintf(w, "%s:%d: %s\n", p.File, p.Line, cleartext.Printable(p.Message))
	}
	for _, p := range v.Notes {
		fmt.Fprintf(w, "%s:%d: note: %s\n", p.File, p.Line, cleartext.Printable(p.Message))
	}
	_, err := fmt.Fprintf(w, "%s in %s, %s\n", terminal.Count(v.Records, "record"), terminal.Count(v.Files, "file"), terminal.Count(len(v.Problems), "problem"))
	return err
}

func auditStats() *cobra.Command {
	var (
		o  auditOptions
		by string
	)
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count the recorded calls and show how long they took",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys := map[string]trail.Key{"server": trail.ByServer, "tool": trail.ByTool, "client": trail.ByClient}
			if keys[by] == nil {
				return cli.Usagef("--by is %q; want server, tool or client", by)
			}
			dir, filter, err := o.find()
			if err != nil {
				return err
			}
			calls, damaged, err := trail.Calls(dir, filter)
			if err != nil {
				return err
			}
			warnDamaged(cmd.ErrOrStderr(), damaged)
			stats := trail.Summarize(calls, keys[by])
			if o.json {
				return cli.WriteJSON(cmd.OutOrStdout(), stats)
			}
			width, _ := terminal.Size(cmd.OutOrStdout())
			rows := [][]string{{strings.ToUpper(by), "CALLS", "ERRORS", "P50 MS", "P95 MS", "BYTES"}}
			for _, s := range stats {
				rows = append(rows, []string{cli.Dash(s.Name), strconv.Itoa(s.Calls), strconv.Itoa(s.Errors),
					strconv.FormatFloat(s.P50, 'f', 1, 64), strconv.FormatFloat(s.P95, 'f', 1, 64), strconv.FormatInt(s.BytesOut, 10)})
			}
			text, _ := cli.Columns(rows, nil, 5, width)
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&by, "by", "tool", "count by `KEY`: server, tool or client")
	return cmd
}
