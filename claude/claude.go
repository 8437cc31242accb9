// Package claude runs the Claude Code CLI and serves Go tools to it inside this
// process, over the control protocol of the Claude Agent SDK.
//
//	Run, Open ──▶ cli.Process ◀─ lines ─▶ message.Parser ──▶ messages ──▶ Response
//	                   │
//	                   └─ control requests ──▶ tools (Server), Permission, Hooks
//
// A result ends a turn, not the run: sub-agents may still work, and call tools.
// So the CLI's input is kept open until it says that it is idle.
package claude

import (
	"context"
	"iter"

	"github.com/toolpost/toolpost/claude/message"
)

// Run starts the CLI on prompt and yields its messages until it has ended, with
// the sub-agents it left working. A run that fails ends with an error, after the
// message that tells it: a *ResultError if the CLI said so. When ctx ends, the
// run is interrupted and closed, as it is when the loop is left.
func Run(ctx context.Context, prompt string, opts *Options) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		if err := checkText(prompt); err != nil {
			yield(nil, err)
			return
		}
		r, err := start(ctx, opts, true)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &Session{r}
		defer s.Close()
		if _, err := s.Send(ctx, prompt); err != nil {
			yield(nil, s.because(err))
			return
		}
		for m, err := range s.Messages(context.WithoutCancel(ctx)) {
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}
