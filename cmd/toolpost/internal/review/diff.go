package review

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/ownership"
)

const diffHelp = `Compare two lists of tools, or two recordings with their calls: which tools were
added, removed or changed, and which calls have other results. BEFORE and AFTER
are recordings of "toolpost serve --record", JSON files of tools, configurations
or addresses (http://… or https://…).

The servers of a configuration start only if you have approved the file
("toolpost help trust"), or if it is your own. Otherwise two configurations are
compared as text, without their secrets.

A change is breaking if arguments that were right may be wrong now: a tool or an
argument is removed, an argument is required now or accepts less.

The exit code is 1 if they differ, and 2 if they cannot be compared.`

// Diff returns the command "diff".
func Diff() *cobra.Command {
	var (
		t      connect.Target
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two lists of tools, or two recordings",
		Long:  diffHelp,
		Example: `  toolpost diff yesterday.jsonl today.jsonl
  toolpost diff tools.json http://127.0.0.1:7717/mcp
  toolpost diff --json old/toolpost.json new/toolpost.json`,
		Args: cli.CheckArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, after, err := openCompared(cmd, args)
			if err != nil {
				return cli.WrapUsage(err)
			}
			if before.cfg != nil && after.cfg != nil && !(before.trusted && after.trusted) {
				return compareFiles(cmd, before, after, asJSON)
			}
			d, err := compareLists(cmd, t.Timeout, before, after)
			if err != nil {
				return cli.WrapUsage(err)
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), d)
			} else {
				err = writeDifference(terminal.NewPage(cmd.OutOrStdout()), d)
			}
			if err == nil && !d.Empty() {
				err = errors.New("they differ")
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&t.Timeout, "timeout", connect.DefaultTimeout, "how long to wait for servers to connect")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// A compared is what an argument of diff stands for.
type compared struct {
	arg  string
	data []byte               // of a file; nil for an address
	rec  *recording.Recording // of a recording or a file of tools

	cfg     *config.Config // of a configuration
	trusted bool           // the user has approved its content
}

func openCompared(cmd *cobra.Command, args []string) (before, after *compared, err error) {
	if before, err = readCompared(cmd, args[0]); err == nil {
		after, err = readCompared(cmd, args[1])
	}
	return before, after, err
}

// readCompared reads an argument. It starts and contacts nothing.
func readCompared(cmd *cobra.Command, arg string) (*compared, error) {
	c := &compared{arg: arg}
	if cli.IsAddress(arg) {
		return c, nil
	}
	var err error
	if c.data, err = cli.Interruptible(cmd.Context(), func() ([]byte, error) { return os.ReadFile(arg) }); err != nil {
		return nil, err
	}
	if recording.Is(c.data) {
		if c.rec, err = recording.Read(bytes.NewReader(c.data)); err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		return c, nil
	}
	f, notTools := lint.ParseFile(arg, c.data)
	if notTools == nil {
		c.rec, err = recordTools(f)
		return c, err
	}
	if c.cfg, err = configfile.Load(arg, c.data); err != nil {
		return nil, fmt.Errorf("%s is neither a recording nor a configuration nor a file of tools: %w", arg, notTools)
	}
	c.trusted = isApproved(arg, c.cfg)
	return c, nil
}

// isApproved reports whether a file is the user's own, or the user has approved its
// content. Naming it here does not approve it: a person compares files to review them.
func isApproved(file string, cfg *config.Config) bool {
	if ownership.Check(file) != nil {
		return false
	}
	if owner.SameFile(file, owner.UserFile()) {
		return true
	}
	r, err := owner.NewReview(cfg)
	return err == nil && r.Approved()
}

// compareLists returns how what is listed differs, and the recorded calls.
func compareLists(cmd *cobra.Command, timeout time.Duration, before, after *compared) (*recording.Difference, error) {
	b, err := readList(cmd, timeout, before)
	if err != nil {
		return nil, err
	}
	a, err := readList(cmd, timeout, after)
	if err != nil {
		return nil, err
	}
	return recording.Compare(b, a), nil
}

// readList returns a recording, or what servers list now.
func readList(cmd *cobra.Command, timeout time.Duration, c *compared) (*recording.Recording, error) {
	if c.rec != nil {
		return c.rec, nil
	}
	one, found := &connect.Target{Timeout: timeout, Config: c.arg}, c.cfg
	if c.cfg == nil {
		one.Config = ""
		cfg, _, err := one.Split([]string{c.arg}, -1)
		if err != nil {
			return nil, err
		}
		found = cfg
	} else if !c.trusted {
		return nil, fmt.Errorf("%s is a configuration that you have not approved, so its servers are not started; run: toolpost trust %s", c.arg, cleartext.ShellWord(c.arg))
	}
	return listServers(cmd, one, found)
}

// recordTools returns a recording of the tools of a file.
func recordTools(f *lint.File) (*recording.Recording, error) {
	c := &recording.Catalogue{}
	for i, t := range f.Tools {
		if t.Tool == nil || t.Name == "" {
			return nil, fmt.Errorf("%s: tool %d cannot be read; \"toolpost lint %[1]s\" shows why", f.Path, i+1)
		}
		raw, err := t.Definition.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("%s: tool %d: %w", f.Path, i+1, err)
		}
		c.Tools = append(c.Tools, raw)
	}
	return &recording.Recording{Catalogue: c}, nil
}

// listServers returns a recording of what the servers of a configuration list now. Those
// that do not come from a file have no pins.
func listServers(cmd *cobra.Command, t *connect.Target, found *config.Config) (*recording.Recording, error) {
	var pins *gateway.Pins
	if found.File != "" {
		pins = owner.Pins(found)
	}
	s, err := t.OpenServers(cmd, found, pins)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	c, err := recording.NewCatalogue(s.Set, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	return &recording.Recording{Catalogue: c}, nil
}

func writeDifference(p *terminal.Page, d *recording.Difference) error {
	if d.Empty() {
		p.WriteString("No difference.\n")
	}
	for _, t := range d.Tools {
		writeItem(p, "tool", t)
	}
	for _, t := range d.Prompts {
		writeItem(p, "prompt", t)
	}
	for _, t := range d.Resources {
		writeItem(p, "resource", t)
	}
	for _, c := range d.Calls {
		args := ""
		if len(c.Args) > 0 {
			args = " " + terminal.Cut(plainText(string(c.Args)), 200)
		}
		p.WriteString(fmt.Sprintf("\n%s call %s%s (number %d)\n", c.Change, p.Paint("1", plainText(c.Name)), args, c.Number))
		if c.Change == recording.Changed {
			writeFields(p, flatten(c.Before), flatten(c.After), func(string, string) bool { return false })
		}
	}
	return p.Flush()
}

func writeItem(p *terminal.Page, what string, d *recording.ItemDifference) {
	p.WriteString(fmt.Sprintf("\n%s %s %s\n", d.Change, what, p.Paint("1", plainText(d.Name))))
	for _, why := range d.Breaking {
		p.Line(p.Paint("31", "    breaking: "), plainText(why))
	}
	if d.Change == recording.Changed {
		writeFields(p, flatten(d.Before), flatten(d.After), func(string, string) bool { return false })
	}
}
