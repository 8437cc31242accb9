package agents

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/chat"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/usage"
)

// runClaude has the claude command do the task, with its own loop.
func (f *agentFlags) runClaude(cmd *cobra.Command, cfg *config.Config, prompt string, allow []string) error {
	opts, err := f.claudeOptions(cmd, prompt, allow)
	if err != nil {
		return err
	}
	if _, err := (&claude.Command{Path: f.model.cli}).Find(); err != nil { // before servers start
		return err
	}
	asker := chat.New(&chat.Options{
		Rule: f.rule(), JSON: f.json, OpenURL: cli.OpenBrowser,
		In: newLines(cmd), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(),
	})
	f.target.Confirm = asker.Confirm
	s, err := f.target.Open(cmd, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
		return err
	}
	v := newRunView(cmd.OutOrStdout(), cmd.ErrOrStderr(), time.Now)
	opts.Logger = slog.New(slog.NewTextHandler(v, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	kept, _ := owner.OutputStore(opts.Logger)
	cache := outputs.New(kept, &outputs.Options{Logger: opts.Logger})
	server, err := claude.NewServer(ctx, "", asker.Layer(cache.Layer(s.Set), cancel), &claude.ServerOptions{SkipRefused: true, Logger: opts.Logger})
	if err != nil {
		return err
	}
	defer server.Close()
	opts.Servers = []*claude.Server{server}
	if err := f.showClaude(ctx, v, claude.Run(ctx, prompt, opts)); err != nil {
		return err
	}
	if n := asker.Undecided(); n > 0 {
		return &cli.ExitError{Code: cli.ExitWaiting, Text: terminal.Count(n, "call") + " did not run, because there was no terminal to approve them in: run this in a terminal, or add --yes, which approves all, or --deny"}
	}
	return nil
}

func (f *agentFlags) claudeOptions(cmd *cobra.Command, prompt string, allow []string) (*claude.Options, error) {
	for _, name := range []string{"tools", "root", "pass-env", "effort", "base-url", "api-key-env"} {
		if cmd.Flags().Changed(name) {
			return nil, cli.Usagef("--%s is not for --model claude, which has tools and settings of its own; leave it out, or use another model, such as claude-cli", name)
		}
	}
	_, name, named := strings.Cut(f.model.name, "/")
	switch {
	case named && name == "":
		return nil, cli.Usagef("there is no model %q; give claude, or claude/NAME such as claude/sonnet", f.model.name)
	case prompt == "" || f.session != sessionFlags{}:
		return nil, cli.Usagef("--model claude has sessions of its own; --resume and --session are for other models, such as claude-cli/%s", name)
	case f.limits.Calls > 0 || f.limits.Tokens > 0:
		return nil, cli.Usagef("--model claude takes the limits --max-turns, --max-cost and --max-time only; claude-cli/%s takes all", name)
	}
	return &claude.Options{
		CLI: f.model.cli, Model: name, SystemPrompt: f.system,
		Tools: builtIn(allow), AllowedTools: allow,
		StrictMCPConfig: true, SettingSources: []string{"user"},
		MaxTurns: f.limits.Turns, MaxBudgetUSD: float64(f.limits.Cost) / float64(usage.Dollar), PartialMessages: !f.json && terminal.Is(cmd.OutOrStdout()), // a program gets complete answers
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

// showClaude writes the messages as they come.
func (f *agentFlags) showClaude(ctx context.Context, v *runView, messages iter.Seq2[message.Message, error]) error {
	defer v.end()
	for m, err := range messages {
		switch {
		case err != nil:
			return err
		case f.json:
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
