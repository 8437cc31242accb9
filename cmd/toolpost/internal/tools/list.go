// Package tools has the commands that list, find and call tools (list, find, call).
package tools

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// List returns the command "list".
func List() *cobra.Command { return listCommand(&connect.Target{}) }

func listCommand(t *connect.Target) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [ADDRESS] [-- COMMAND…]",
		Aliases: []string{"ls"},
		Short:   "List the tools of a configuration, an address or a command",
		Long:    "List tools, each with the first line of its description.\n" + connect.TargetHelp,
		Example: `  toolpost list
  toolpost list http://127.0.0.1:7717/mcp
  toolpost list --json -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, rest, err := t.Split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return cli.Usagef("%q is not an address; give http://… or https://…, or a command after --", rest[0])
			}
			s, err := t.Open(cmd, cfg)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
				return err
			}
			tools, err := s.Set.Tools(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return writeDefinitions(cmd.OutOrStdout(), tools)
			}
			width, _ := terminal.Size(cmd.OutOrStdout())
			return writeTools(cmd.OutOrStdout(), tools, width)
		},
	}
	t.AddQuickFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the full definitions, exactly as clients get them")
	return cmd
}

// writeDefinitions writes a JSON array with one definition per line.
func writeDefinitions(w io.Writer, tools []*toolpost.Tool) error {
	before := "[\n"
	for _, t := range tools {
		raw, err := t.Definition.MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, raw); err != nil {
			return err
		}
		before = ",\n"
	}
	if len(tools) == 0 {
		before = "["
	} else {
		before = "\n"
	}
	_, err := io.WriteString(w, before+"]\n")
	return err
}

// writeTools writes one line per tool, cut at width unless that is 0.
func writeTools(w io.Writer, tools []*toolpost.Tool, width int) error {
	longest := 0
	for _, t := range tools {
		longest = max(longest, terminal.Width(cleartext.Printable(t.Name)))
	}
	var b strings.Builder
	for _, t := range tools {
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		line := strings.TrimRight(fmt.Sprintf("%s  %s", terminal.Pad(cleartext.Printable(t.Name), longest), strings.TrimSpace(first)), " ")
		b.WriteString(terminal.Cut(cleartext.Printable(line), width) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
