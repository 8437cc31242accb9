package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
)

// Claude returns the command "claude".
func Claude() *cobra.Command {
	cmd := &cobra.Command{
		Use:                        "claude",
		Short:                      "Read the output of the Claude CLI",
		SuggestionsMinimumDistance: 2,
		Args:                       cli.RejectUnknown,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(summarizeCommand())
	return cmd
}

func summarizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "summarize [FILE]",
		Short: "Summarize a saved run of the Claude CLI",
		Long: `Summarize a saved run of the Claude CLI as JSON: its last result, and each
unknown type of message or content block with the number of times it occurred.

FILE is the output of the CLI with --output-format stream-json --verbose.
Without FILE, or with -, it is read from standard input. Lines that are not JSON
objects are skipped.

Exit codes: 0 for a success, 1 if the result is an error, 2 if the stream cannot
be read (it is empty, it has no result, or a message lacks a required member) or
the summary cannot be written.`,
		Example: `  claude -p "say hello" --output-format stream-json --verbose | toolpost claude summarize
  toolpost claude summarize run.jsonl`,
		Args: cli.CheckArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Interruptibly(cmd.Context(), func() error {
				stream := cmd.InOrStdin()
				if len(args) > 0 && args[0] != "-" {
					file, err := os.Open(args[0])
					if err != nil {
						return cli.WrapUsage(err)
					}
					defer file.Close()
					stream = file
				}
				return summarize(cmd.OutOrStdout(), cmd.ErrOrStderr(), stream)
			})
		},
	}
}

// A runSummary is a response with its unknown messages and content blocks.
type runSummary struct {
	*claude.Response
	Unknown map[string]int `json:"unknown"`
	Error   string         `json:"error,omitempty"`
}

func summarize(out, log io.Writer, stream io.Reader) error {
	parser := &message.Parser{Logger: slog.New(slog.NewTextHandler(log, nil))}
	response, err := claude.Collect(parser.Read(stream))
	if err != nil {
		return cli.WrapUsage(fmt.Errorf("read the stream: %w", err))
	}
	s := runSummary{Response: response, Unknown: parser.Unknown()}
	failure := response.Err()
	if failure != nil {
		s.Error = failure.Error()
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(s)
	if err == nil { // the text of a model stays unchanged, and may be invalid UTF-8
		_, err = out.Write(bytes.ToValidUTF8(text.Bytes(), []byte("\ufffd")))
	}
	if err != nil {
		return cli.WrapUsage(fmt.Errorf("write the summary: %w", err))
	}
	return failure
}
