package agents

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/config"
)

// Run returns the command "run".
func Run() *cobra.Command {
	f := agentFlags{once: true}
	var allow []string
	cmd := &cobra.Command{
		Use:   "run [ADDRESS] [PROMPT | -] [-- COMMAND…]",
		Short: "Give a task to a model that has tools",
		Long: `Give a task to a model and show how it does it. The model has the tools of the
configuration, and standard tools that read and change the files of the current
folder and run commands in it. With -, the prompt is read from standard input.
The answer goes to standard output as the model writes it; calls, and at the end
the time, tokens and cost, go to standard error.

Tools that only read run at once. For others you are asked in the terminal;
--yes and --deny answer for you. Without a terminal such calls wait: the exit
code is 4, and --resume continues. "toolpost help exit-codes" lists all codes.
` + modelHelp + `

With --model claude or claude/NAME, the claude command does the task in a loop
of its own, with the tools of the configuration and those of --allow. Calls of
the configuration's tools that need an approval do not wait: without a terminal
they are not run, and the exit code is 4. --json writes its messages.
` + sessionHelp + "\n" + connect.TargetHelp,
		Example: `  toolpost run --model demo "What is in this folder?"
  toolpost run --model openai/gpt-6.2-sol --max-cost '$0.50' "Fix the failing test"
  git diff | toolpost run --tools none -
  toolpost run --model claude/haiku --allow "Bash(git log:*)" "What changed last?"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, words, err := f.split(cmd, args)
			if err != nil {
				return err
			}
			if f.session.resume == listSessions {
				return f.session.list(cmd.OutOrStdout())
			}
			defer f.startClock(cmd)()
			prompt, err := cli.Interruptible(cmd.Context(), func() (string, error) { return readPrompt(words, cmd.InOrStdin()) })
			if err == nil {
				err = f.run(cmd, cfg, prompt, allow)
			}
			return f.inTime(cmd, err)
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "with --model claude: allow `TOOL` of Claude Code, such as Read; may be repeated")
	return cmd
}

// run does one task.
func (f *agentFlags) run(cmd *cobra.Command, cfg *config.Config, prompt string, allow []string) error {
	if err := f.check(); err != nil {
		return err
	}
	resumes := f.session.resume != "" || f.session.file != ""
	if prompt == "" && !resumes {
		return cli.Usagef(`give a prompt, as in: toolpost run "What is in this folder?"`)
	}
	if kind, _, _ := strings.Cut(f.model.name, "/"); kind == "claude" {
		return f.runClaude(cmd, cfg, prompt, allow)
	}
	if len(allow) > 0 {
		return cli.Usagef("--allow is for --model claude; the tools of others are those of --tools")
	}
	b, err := f.open(cmd, cfg)
	if err != nil {
		return err
	}
	return errors.Join(b.do(cmd, prompt), b.close())
}

// do runs one turn. Calls of the session that wait come before the prompt.
func (b *bench) do(cmd *cobra.Command, prompt string) error {
	if prompt != "" && b.session.WaitingCalls() > 0 {
		if err := b.turn(cmd, ""); err != nil {
			return err
		}
	}
	return b.turn(cmd, prompt)
}

func (b *bench) turn(cmd *cobra.Command, prompt string) error {
	result, err := b.Turn(cmd.Context(), prompt)
	if result == nil && cmd.Context().Err() != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: to continue, run: toolpost run %s%s\n", b.session.command(&b.flags.session), b.server)
	}
	if err != nil {
		return errors.Join(err, b.Fail(err))
	}
	return b.outcome("toolpost run", result)
}

// readPrompt returns the words, or the text of the input for "-".
func readPrompt(words []string, in io.Reader) (string, error) {
	prompt := strings.Join(words, " ")
	if prompt == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		prompt = string(data)
	}
	return strings.TrimSpace(prompt), nil
}
