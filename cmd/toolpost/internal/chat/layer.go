package chat

import (
	"context"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
)

// Layer returns ts as a model with a loop of its own gets it: a call that needs an
// approval runs once it has one. Cancel ends the run when the user ends it at a
// question.
func (c *Chat) Layer(ts toolpost.Toolset, cancel context.CancelCauseFunc) toolpost.Toolset {
	return toolpost.Map(ts, func(t *toolpost.Tool) *toolpost.Tool {
		run := t.Handler
		t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			d, err := c.approver.decide(ctx, &agent.Request{Tool: t, Name: t.Name, Arguments: call.Arguments})
			switch {
			case err != nil:
				if errors.Is(err, errCanceled) { // otherwise only this call has ended
					cancel(err)
				}
				return nil, err
			case d.Wait:
				c.undecided.Add(1)
				return nil, toolpost.Denied.Errorf("This call needs the user's approval, and this run has no terminal to ask in. Go on without it, and report that.")
			case !d.Allow:
				return nil, toolpost.Denied.Errorf("%s", d.Denial())
			case d.Arguments != nil:
				edited := *call
				edited.Arguments = d.Arguments
				result, err := run(ctx, &edited)
				if err == nil {
					result = result.WithNotes(append(result.Notes(), d.Change())...)
				}
				return result, err
			}
			return run(ctx, call)
		}
		return t
	})
}

// Undecided is how many calls of a Layer were not run because there was no terminal to decide in.
func (c *Chat) Undecided() int { return int(c.undecided.Load()) }
