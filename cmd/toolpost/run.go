package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/cli"
	"github.com/toolpost/toolpost/claude/message"
	outputs "github.com/toolpost/toolpost/output"
)

func runCommand() *cobra.Command {
	var (
		t target
		r runner
	)
	cmd := &cobra.Command{
		Use:   "run [ADDRESS] PROMPT | - [-- COMMAND…]",
		Short: "Give a task to Claude, with the tools of the configuration",
		Long: `Start the claude command with a prompt and offer it the tools of this process.
With -, read the prompt from standard input. The answer goes to standard output
as the model writes it. Tool calls go to standard error, and at the end the
time, tokens and cost.

The model can use only the served tools; --allow adds tools of Claude Code. The
user's settings of Claude Code apply, those of the current folder do not. An
interrupt ends the run.
` + targetHelp,
		Example: `  toolpost run "What is in this folder?"
  toolpost run --model claude/haiku --max-budget 0.10 "Which files are about dialects?"
  toolpost run --allow Read --allow "Bash(git log:*)" "What changed last?"
  toolpost run --json "Add 2 and 3" -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, rest, err := t.split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			prompt, err := interruptible(cmd.Context(), func() (string, error) { return readPrompt(rest, cmd.InOrStdin()) })
			if err != nil {
				return err
			}
			opts, err := r.options()
			if err != nil {
				return err
			}
			if _, err := cli.Find(r.cli); err != nil { // before servers start
				return err
			}
			s, err := t.open(cmd, cfg)
			if err != nil {
				return err
			}
			defer s.close()
			if err := s.complain(cmd.ErrOrStderr()); err != nil {
				return err
			}
			return r.run(cmd, s, prompt, opts)
		},
	}
	t.addCallFlags(cmd)
	r.addFlags(cmd)
	return cmd
}

// A runner holds the options of a run.
type runner struct {
	model, cli, system string
	turns              int
	budget             float64
	allow              []string
	json               bool
}

func (r *runner) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.model, "model", "claude", "`MODEL`: claude, or claude/NAME such as claude/sonnet")
	cmd.Flags().StringVar(&r.cli, "cli", "", "`PATH` of the claude command")
	cmd.Flags().StringVar(&r.system, "system", "", "use `TEXT` as the system prompt")
	cmd.Flags().IntVar(&r.turns, "max-turns", 0, "stop after `N` turns of the model")
	cmd.Flags().Float64Var(&r.budget, "max-budget", 0, "stop when the run has cost `USD`")
	cmd.Flags().StringArrayVar(&r.allow, "allow", nil, "allow `TOOL` of Claude Code, such as Read; may be repeated")
	cmd.Flags().BoolVar(&r.json, "json", false, "write the messages of the claude command, one per line")
}

func readPrompt(words []string, in io.Reader) (string, error) {
	prompt := strings.Join(words, " ")
	if prompt == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		prompt = string(data)
	}
	if strings.TrimSpace(prompt) == "" {
		return "", usagef(`give a prompt, as in: toolpost run "What is in this folder?"`)
	}
	return prompt, nil
}

func (r *runner) options() (*claude.Options, error) {
	kind, name, named := strings.Cut(r.model, "/")
	switch {
	case kind != "claude" || named && name == "":
		return nil, usagef("there is no model %q; give claude, or claude/NAME such as claude/sonnet", r.model)
	case r.turns < 0 || r.budget < 0:
		return nil, usagef("--max-turns and --max-budget must be above 0; leave them out for no limit")
	}
	return &claude.Options{
		CLI: r.cli, Model: name, SystemPrompt: r.system,
		Tools: builtIn(r.allow), AllowedTools: r.allow,
		StrictMCPConfig: true, SettingSources: []claude.SettingSource{claude.UserSettings},
		MaxTurns: r.turns, MaxBudgetUSD: r.budget, PartialMessages: !r.json,
		AllowDropped: true, // the rest works
	}, nil
}

// builtIn returns the tools that rules such as "Bash(git log:*)" are about.
func builtIn(rules []string) []string {
	tools := []string{} // not nil, which would be all
	for _, rule := range rules {
		if name, _, _ := strings.Cut(rule, "("); !strings.HasPrefix(name, "mcp__") {
			tools = append(tools, name)
		}
	}
	return tools
}

func (r *runner) run(cmd *cobra.Command, s *session, prompt string, opts *claude.Options) error {
	v := newRunView(cmd.OutOrStdout(), cmd.ErrOrStderr(), time.Now)
	opts.Logger = slog.New(slog.NewTextHandler(v, &slog.HandlerOptions{Level: slog.LevelWarn}))
	kept, _ := outputStore(opts.Logger)
	cache := outputs.New(kept, &outputs.Options{Logger: opts.Logger})
	server, err := claude.NewServer(cmd.Context(), "", cache.Layer(s.set), &claude.ServerOptions{SkipRefused: true, Logger: opts.Logger})
	if err != nil {
		return err
	}
	defer server.Close()
	opts.Servers = []*claude.Server{server}
	return r.show(cmd.Context(), v, claude.Run(cmd.Context(), prompt, opts))
}

// show writes the messages as they come.
func (r *runner) show(ctx context.Context, v *runView, messages iter.Seq2[message.Message, error]) error {
	defer v.end()
	for m, err := range messages {
		switch {
		case err != nil:
			return err
		case r.json:
			err = v.line(m)
		default:
			err = v.show(m)
		}
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	return context.Cause(ctx)
}
