// Package claude runs the Claude Code CLI and serves Go tools to it inside this
// process, over the control protocol of the Claude Agent SDK.
//
//	Run, Open ──▶ cli.Process ◀─ lines ─▶ message.Parser ──▶ messages ──▶ Response
//	                   │
//	                   └─ control requests ──▶ tools (Server), Permission, Hooks
//
// A result ends a turn, not the run: sub-agents and shells may still run in the
// background, and call tools or cause another turn when they end. So Run keeps
// the CLI's input open until the CLI is idle and no background task is left.
package claude

import (
	"context"
	"iter"

	"github.com/toolpost/toolpost/claude/message"
)

// Run starts the CLI on prompt and yields its messages until the CLI has ended.
// It waits for sub-agents and shells that run in the background, up to
// Options.IdleTimeout. If a run fails, Run yields an error after the message
// that reports the failure: a *ResultError if the CLI reported it. When ctx
// ends or the loop is left, Run interrupts the CLI and ends it together with
// its background tasks.
//
// The model receives prompt verbatim; see Options.ExpandPrompts.
func Run(ctx context.Context, prompt string, opts *Options) iter.Seq2[message.Message, error] {
	if err := checkText(prompt); err != nil {
		return func(yield func(message.Message, error) bool) { yield(nil, err) }
	}
	return RunContent(ctx, []Block{Text(prompt)}, opts)
}
