package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/lint"
	"github.com/toolpost/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/recording"
)

const diffHelp = `Compare two lists of tools, or two recordings with their calls: which tools were
added, removed or changed, and which calls have other results. BEFORE and AFTER
are recordings of "toolpost serve --record", JSON files of tools, configurations
or addresses (http://… or https://…).

A change is breaking if arguments that were right may be wrong now: a tool or an
argument is removed, an argument is required now or accepts less.

The exit code is 1 if they differ, and 2 if they cannot be compared.`

func diffCommand() *cobra.Command {
	var (
		t      target
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare two lists of tools, or two recordings",
		Long:  diffHelp,
		Example: `  toolpost diff yesterday.jsonl today.jsonl
  toolpost diff tools.json http://127.0.0.1:7717/mcp
  toolpost diff --json old/toolpost.json new/toolpost.json`,
		Args: checked(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := t.recorded(cmd, args[0])
			if err != nil {
				return usageError{err}
			}
			after, err := t.recorded(cmd, args[1])
			if err != nil {
				return usageError{err}
			}
			d := recording.Compare(before, after)
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), d)
			} else {
				err = writeDifference(terminal.NewPage(cmd.OutOrStdout()), d)
			}
			if err == nil && !d.Empty() {
				err = errors.New("they differ")
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&t.timeout, "timeout", defaultTimeout, "how long to wait for servers to connect")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// recorded returns what an argument of diff stands for. The target has the timeout.
func (t *target) recorded(cmd *cobra.Command, arg string) (*recording.Recording, error) {
	one := &target{timeout: t.timeout}
	if isAddress(arg) {
		cfg, _, err := one.split([]string{arg}, -1)
		if err != nil {
			return nil, err
		}
		return one.listed(cmd, cfg)
	}
	data, err := interruptible(cmd.Context(), func() ([]byte, error) { return os.ReadFile(arg) })
	if err != nil {
		return nil, err
	}
	if recording.Is(data) {
		rec, err := recording.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		return rec, nil
	}
	f, notTools := lint.ParseFile(arg, data)
	if notTools == nil {
		return ofTools(f)
	}
	if _, err := config.LoadData(arg, data); err != nil {
		return nil, fmt.Errorf("%s is neither a recording nor a configuration nor a file of tools: %w", arg, notTools)
	}
	one.config = arg
	return one.listed(cmd, nil)
}

// ofTools returns a recording of the tools of a file.
func ofTools(f *lint.File) (*recording.Recording, error) {
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

// listed returns a recording of what the servers of a configuration list now.
func (t *target) listed(cmd *cobra.Command, cfg *config.Config) (*recording.Recording, error) {
	s, err := t.open(cmd, cfg)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.complain(cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	c, err := recording.NewCatalogue(s.set, func(string) bool { return false })
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
