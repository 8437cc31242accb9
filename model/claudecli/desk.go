package claudecli

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
)

// A desk is where the calls of a session wait for their results. A result may
// also arrive before its call does.
type desk struct {
	mu      sync.Mutex
	calls   map[string]*deskCall // by id
	refuses bool                 // calls without a result are refused
}

// A deskCall is a call on the desk.
type deskCall struct {
	answered chan struct{}
	answer   *answer
}

// An answer is the result of a call for the CLI.
type answer struct {
	result *toolpost.Result
	blocks json.RawMessage // replaces the result, if it is not only text
}

func newDesk() *desk { return &desk{calls: map[string]*deskCall{}} }

// call returns the call with that id. The caller holds the lock.
func (d *desk) call(id string) *deskCall {
	c := d.calls[id]
	if c == nil {
		c = &deskCall{answered: make(chan struct{})}
		d.calls[id] = c
	}
	return c
}

// put gives a call its result.
func (d *desk) put(id string, a *answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.call(id).give(a)
}

// give gives the call its result, unless it has one. The caller holds the lock.
func (c *deskCall) give(a *answer) {
	if c.answer == nil {
		c.answer = a
		close(c.answered)
	}
}

// begin prepares the desk for the results of another message. Results that are
// still there were not asked for.
func (d *desk) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuses = false
	maps.DeleteFunc(d.calls, func(_ string, c *deskCall) bool { return c.answer != nil })
}

// refuse refuses calls without a result from now on, also those that wait: the model
// may have called before its request was written to the end.
func (d *desk) refuse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuses = true
	for _, c := range d.calls {
		c.give(refusal())
	}
}

func refusal() *answer {
	return &answer{result: toolpost.Failed.Resultf("Tools cannot be called now. Answer with what you know.")}
}

// wait is the handler of all tools.
func (d *desk) wait(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	d.mu.Lock()
	c := d.call(call.ID)
	if d.refuses {
		c.give(refusal())
	}
	d.mu.Unlock()
	select {
	case <-c.answered:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.answer.blocks == nil {
		d.remove(call.ID)
	}
	return c.answer.result, nil
}

func (d *desk) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.calls, id)
}

// replace is a hook that puts images and documents in the place of a result.
// The CLI would write them into files if they were in the result of the tool.
func (d *desk) replace(_ context.Context, in *claude.HookInput) (*claude.HookOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[in.ToolUseID]
	if c == nil || c.answer == nil || c.answer.blocks == nil {
		return nil, nil
	}
	delete(d.calls, in.ToolUseID)
	return &claude.HookOutput{Output: c.answer.blocks}, nil
}
