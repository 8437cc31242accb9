// Package claude runs the Claude Code CLI and serves Go tools to it inside this
// process, over the control protocol of the Claude Agent SDK.
//
//	Run, Open ──▶ Command ◀── lines ───▶ message.Parser ──▶ messages ──▶ Response
//	                   │
//	                   └─ control requests ──▶ tools (Server), Permission, Hooks
//
// A result ends a turn, not the run: sub-agents and shells may still run in the
// background, and call tools or cause another turn when they end. So Run keeps
// the CLI's input open until the CLI is idle and no background task is left.
package claude

import (
	"context"
	"errors"
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
// The model receives prompt verbatim (see Options.ExpandPrompts), and after it the
// blocks, such as images.
func Run(ctx context.Context, prompt string, opts *Options, blocks ...Block) iter.Seq2[message.Message, error] {
	p := Prompt{Text: prompt, Blocks: blocks}
	if _, err := p.content(); err != nil {
		return func(yield func(message.Message, error) bool) { yield(nil, err) }
	}
	return RunPrompts(ctx, func(yield func(Prompt) bool) { yield(p) }, opts)
}

// RunPrompts is Run for prompts that come one after the other: each is sent when
// the sequence yields it, also while the CLI works. The run ends once the sequence
// has ended and the CLI is done. The sequence runs on a goroutine of its own; its
// yield returns false after the run has ended.
func RunPrompts(ctx context.Context, prompts iter.Seq[Prompt], opts *Options) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		r, err := start(ctx, opts, true)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &Session{r}
		defer s.Close()
		go s.feed(ctx, prompts)
		s.Messages(context.WithoutCancel(ctx))(yield)
	}
}

// feed sends prompts to a run that ends by itself.
func (s *Session) feed(ctx context.Context, prompts iter.Seq[Prompt]) {
	ended := false
	defer func() {
		if !ended { // by runtime.Goexit
			s.abort(errors.New("the sequence of prompts ended its goroutine"))
		}
	}()
	_, err := callGuarded(func() (any, error) {
		for p := range prompts {
			if _, err := s.SendPrompt(ctx, &p); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	ended = true
	switch {
	case err != nil && !errors.Is(err, ErrClosed): // else its reader knows why the CLI has ended
		s.abort(err)
	case s.turns.endFeed():
		s.retire()
	default:
		s.alive()
	}
}
