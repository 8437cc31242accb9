package checks

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Adapt returns the command "adapt".
func Adapt() *cobra.Command {
	var (
		t       connect.Target
		targets []string
		server  string
		decode  string
	)
	cmd := &cobra.Command{
		Use:   "adapt --for TARGET [FILE | ADDRESS] [-- COMMAND…]",
		Short: "Show tools as one client or model gets them",
		Long: `Show tools as one client or model gets them. The output is JSON with each
adapted tool, what was lost by adapting it, and the tools that are withheld.

With --decode TOOL, read one JSON object of arguments per line from standard
input, as a model wrote it for the adapted tool. Write one line for each:
{"arguments":…} in the shape of the tool's own schema, or {"error":…}. TOOL is
the name before or after adapting.
` + sourceHelp,
		Example: `  toolpost adapt --for gemini tools.json
  toolpost adapt --for openai-strict http://127.0.0.1:7717/mcp
  echo '{"id": "7"}' | toolpost adapt --for claude-desktop --decode show tools.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if decode != "" && len(args) > 0 && args[0] == "-" {
				return cli.Usagef("--decode reads arguments from standard input; name a file for the tools")
			}
			src, err := readSource(cmd, &t, args)
			if err != nil {
				return err
			}
			d, err := findTarget(src.Book, targets)
			if err != nil {
				return err
			}
			a := lint.Adapt(src, d, &dialect.Options{Server: server})
			for _, f := range a.Findings {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: %s: %s\n", f.Rule, f.Message)
			}
			if decode != "" {
				return cli.Interruptibly(cmd.Context(), func() error { return decodeArguments(a, decode, cmd.InOrStdin(), cmd.OutOrStdout()) })
			}
			return a.Write(cmd.OutOrStdout())
		},
	}
	t.AddFlags(cmd)
	addTargetFlags(cmd, &targets, &server)
	completeTargets(cmd)
	cmd.Flags().StringVar(&decode, "decode", "", "convert arguments for `TOOL` back to its own schema, one JSON object per line")
	return cmd
}

func addTargetFlags(cmd *cobra.Command, targets *[]string, server *string) {
	cmd.Flags().StringSliceVar(targets, "for", nil, "check or adapt for `TARGET`, such as claude-code or gemini")
	cmd.Flags().StringVar(server, "server", "toolpost", "`NAME` of the server in the client; it adds to the length of tool names")
}
