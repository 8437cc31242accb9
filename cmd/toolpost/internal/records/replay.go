package records

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/mcpserver"
)

// Replay returns the command "replay".
func Replay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "Serve a recording on standard input and output",
		Long: `Be an MCP server that lists and answers what "toolpost serve --record FILE" has
recorded, without network and without the servers. A call with the same name and
arguments as a recorded one gets its result; repeated calls get theirs in the
recorded order, and the last one from then on. Any other call fails, and the
error lists recorded calls of the tool.`,
		Example: `  toolpost serve --record session.jsonl
  toolpost list -- toolpost replay session.jsonl
  in a configuration: {"mcpServers": {"recorded": {"command": "toolpost",
    "args": ["replay", "session.jsonl"], "prefix": ""}}}`,
		Args: cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			rec, err := readRecording(args[0])
			if err != nil {
				return err
			}
			if rec.Torn {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: the last line of %s is not complete and is left out\n", args[0])
			}
			p, err := recording.NewPlayer(rec)
			if err != nil {
				return cli.WrapUsage(err)
			}
			server, err := mcpserver.New(cmd.Context(), p, &mcpserver.Options{Name: "toolpost-replay", Version: cli.ReadBuild().Version, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return cli.WrapUsage(err)
			}
			err = server.ServeStdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
			if err != nil && cmd.Context().Err() != nil {
				err = nil
			}
			return errors.Join(err, server.Close())
		},
	}
}

func readRecording(path string) (*recording.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.WrapUsage(fmt.Errorf("read recording: %w", err))
	}
	defer f.Close()
	rec, err := recording.Read(f)
	if err != nil {
		return nil, cli.WrapUsage(fmt.Errorf("%s: %w", path, err))
	}
	return rec, nil
}
