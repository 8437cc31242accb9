package agents

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
)

// Chat returns the command "chat".
func Chat() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "chat [ADDRESS] [PROMPT] [-- COMMAND…]",
		Short: "Talk to a model that has tools",
		Long: `Talk to a model in the terminal. It has the tools of the configuration, and
standard tools that read and change the files of the current folder and run
commands in it. Tools that only read run at once; for others you are asked:
y runs the call, n denies it with a reason, e edits its arguments, and a allows
the tool for the rest of the conversation.

/help lists the commands. Ctrl-C cancels the turn that runs; twice ends.
` + modelHelp + "\n" + sessionHelp + "\n" + connect.TargetHelp,
		Example: `  toolpost chat --model demo
  toolpost chat --model anthropic/claude-opus-5-5 --max-cost '$2'
  toolpost chat --model openai-compatible/qwen3 --base-url http://localhost:11434/v1
  toolpost chat --resume last`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, words, err := f.split(cmd, args)
			if err != nil {
				return err
			}
			if f.session.resume == listSessions {
				return f.session.list(cmd.OutOrStdout())
			}
			if err := f.check(); err != nil {
				return err
			}
			b, err := f.open(cmd, cfg)
			if err != nil {
				return err
			}
			return errors.Join(b.talk(cmd, strings.Join(words, " ")), b.close())
		},
	}
	f.add(cmd)
	return cmd
}

// talk holds the conversation.
func (b *bench) talk(cmd *cobra.Command, first string) error {
	defer cli.OnInterrupt(cmd.Context(), b.Interrupt)()
	b.Greet(cmd.Context())
	b.Recap()
	last, err := b.Loop(cmd.Context(), first)
	if err != nil {
		return err
	}
	return b.outcome("toolpost chat", last)
}
