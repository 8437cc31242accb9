// Package checks has the commands that look for mistakes: in configurations (check), in
// the whole setup (doctor), and in tools for each client and model (lint, adapt).
package checks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

const checkHelp = `Read a configuration without starting anything. Show each mistake with its line
and column, variables that are not set, keys that have no effect, secrets in
plain text, and whether other users can change the file. FILE is the
configuration that "toolpost serve" would use if you name none.

--schema prints a JSON Schema of toolpost.json. Editors such as VS Code complete
and check a file with it: save it, and name it under "$schema" in the file.

Exit codes: 0 if there is no error, 1 if there is one (with --strict, or a
warning), 2 if there is no such file or it cannot be read.`

// Check returns the command "check".
func Check() *cobra.Command {
	var o struct{ asJSON, strict, schema bool }
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration without starting anything",
		Long:  checkHelp,
		Example: `  toolpost check
  toolpost check --json ~/project/toolpost.json
  toolpost check --schema > toolpost.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.schema {
				_, err := io.WriteString(cmd.OutOrStdout(), config.JSONSchema())
				return err
			}
			c, err := newCheckup(args)
			if err != nil {
				return err
			}
			if o.asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), c)
			} else {
				err = c.write(cmd.OutOrStdout())
			}
			if err == nil {
				err = failure(c.Findings, o.strict)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.asJSON, "json", false, "write the findings as JSON")
	f.BoolVar(&o.strict, "strict", false, "exit with 1 for warnings too")
	f.BoolVar(&o.schema, "schema", false, "print the JSON Schema of toolpost.json")
	cli.Exclusive(cmd, "schema", "json")
	cli.Exclusive(cmd, "schema", "strict")
	return cmd
}

// failure returns the error that sets the exit code of a command with findings.
func failure(findings []doctor.Finding, strict bool) error {
	if !doctor.Failed(findings, strict) {
		return nil
	}
	return cli.ErrShown
}

// A checkup is what check finds in one configuration file.
type checkup struct {
	File     string           `json:"file"`
	Trust    string           `json:"trust"`   // see trustOf
	Servers  int              `json:"servers"` // 0 if the file cannot be used
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Findings []doctor.Finding `json:"findings"`
}

func newCheckup(args []string) (*checkup, error) {
	c, own := &checkup{Trust: "named", Findings: []doctor.Finding{}}, true
	if len(args) > 0 {
		c.File = args[0]
	} else {
		var err error
		if c.File, own, err = owner.DefaultFile(); err != nil {
			return nil, cli.WrapUsage(err)
		}
		if c.File == "" {
			return nil, cli.Usagef("there is no configuration here; name one: toolpost check FILE")
		}
	}
	data, err := config.Read(c.File)
	if errors.Is(err, fs.ErrNotExist) && len(args) > 0 {
		return nil, cli.Usagef("there is no file %q; name a configuration", c.File)
	}
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	cfg, findings := doctor.Configuration(c.File, data)
	c.Findings = append(c.Findings, findings...)
	if cfg != nil {
		c.Servers = len(cfg.Servers)
		if !own {
			var found []doctor.Finding
			c.Trust, found = trustOf(c.File, cfg)
			c.Findings = append(c.Findings, found...)
		}
	}
	doctor.Sort(c.Findings)
	c.Errors, c.Warnings = doctor.Count(c.Findings, doctor.Error), doctor.Count(c.Findings, doctor.Warning)
	return c, nil
}

// trustOf returns whether the user has approved a file of the current folder:
// approved, changed or unapproved. A file that the user names, and the user's
// own, need no approval: named.
func trustOf(file string, cfg *config.Config) (state string, findings []doctor.Finding) {
	r, err := owner.NewReview(cfg)
	if err != nil {
		return "unapproved", []doctor.Finding{{ID: "trust-unknown", Severity: doctor.Warning, File: file, Message: err.Error()}}
	}
	if r.Approved() {
		return "approved", nil
	}
	state = "unapproved"
	if r.ApprovedBefore() {
		state = "changed"
	}
	return state, []doctor.Finding{{
		ID: "not-approved", Severity: doctor.Warning, File: file,
		Message: "the file " + r.State() + ", and toolpost does not use it before",
		Fix:     "toolpost trust " + cleartext.ShellWord(file),
	}}
}

func (c *checkup) write(w io.Writer) error {
	p := terminal.NewPage(w)
	p.Line("", fmt.Sprintf("%s: %s, %s", c.File, terminal.Count(c.Servers, "server"), doctor.Summary(c.Findings)))
	doctor.WriteFindings(p, c.Findings, true)
	return p.Flush()
}
