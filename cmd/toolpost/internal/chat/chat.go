// Package chat shows the runs of an agent to a person at a terminal, or as JSON
// to a program, and asks about calls that need an approval.
//
//	prompt ─▶ Chat.Turn ─▶ agent.Run ─▶ events ─▶ view (a person) or JSON lines
//	              ▲                       │
//	              └── approver ◀── calls ─┘
package chat

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// Options determine a conversation.
type Options struct {
	Session *agent.Session
	Model   model.Model
	Tools   *toolpost.Set
	Agent   agent.Options // its Approve is set

	Rule string          // Ask, AllowAll or DenyAll
	Free []string        // tools that need no approval although they do not only read
	Ours map[string]bool // the standard tools of the current folder

	// ReadFile reads a file that a tool would replace, to show the difference. Its
	// error is [fs.ErrNotExist] for a new file. If it is nil, only the new content is
	// shown.
	ReadFile func(path string) ([]byte, error)

	// Files returns the files and folders of the current folder whose paths begin with a
	// text, to complete it. It may be nil.
	Files func(beginning string) []string

	// OpenModel opens another model, for the command /model.
	OpenModel func(name string) (model.Model, error)

	OpenURL func(address string) error // shows a web page to the user

	Suggestion string // the first prompt, if the user gives none

	JSON bool // events are written as JSON, and the user is not asked

	In       *terminal.Lines
	Out, Err io.Writer
}

// A Chat is a conversation of a person with an agent.
type Chat struct {
	opts     Options
	lines    *terminal.Lines
	view     *view
	json     *jsonView // nil if a person reads
	approver *approver
	last     *agent.Result // of the last turn of Loop; nil if it has none
	asking   chan struct{} // holds a token while the user is asked

	undecided atomic.Int64 // calls of a Layer

	mu       sync.Mutex
	cancel   context.CancelCauseFunc // of the turn that runs; nil if none does
	canceled bool
}

// New returns a conversation.
func New(o *Options) *Chat {
	c := &Chat{opts: *o, lines: o.In, view: newView(o.Out, o.Err), asking: make(chan struct{}, 1)}
	ask := c.askInTurn
	if o.JSON {
		c.json = &jsonView{out: o.Out}
	}
	if o.JSON || !o.In.Interactive || !terminal.Is(o.Err) {
		ask = nil
	}
	c.approver = newApprover(o.Rule, o.Free, ask)
	c.lines.Complete = c.complete
	c.view.window = c.window
	return c
}

// Confirm asks the user a question that a tool has. Without a terminal the
// answer is no.
func (c *Chat) Confirm(ctx context.Context, question string) (bool, error) {
	if c.opts.Rule != Ask || c.approver.ask == nil {
		return c.opts.Rule == AllowAll, nil
	}
	done, err := c.beginQuestion(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	c.view.say("\n%s", c.view.notes.fit(cleartext.Sanitize(question)))
	key, err := c.lines.Choose(ctx, "Run it? y yes · n no: ", "yn")
	if errors.Is(err, terminal.ErrInterrupt) {
		c.Interrupt()
	}
	return key == 'y' && err == nil, err
}

// beginQuestion reserves the terminal for a question until done is called. Nothing else is
// shown meanwhile.
func (c *Chat) beginQuestion(ctx context.Context) (done func(), err error) {
	free, err := c.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	c.view.pause()
	return func() {
		c.view.resume()
		free()
	}, nil
}

// takeTurn reserves the terminal until done is called.
func (c *Chat) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case c.asking <- struct{}{}:
		return func() { <-c.asking }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Interrupt cancels the turn that runs. It reports false if that was requested
// before. An interrupt that comes just after a turn has ended does nothing.
func (c *Chat) Interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.canceled {
		return false
	}
	c.canceled = true
	if c.cancel != nil {
		c.cancel(errCanceled)
	}
	return true
}

// withCancel returns a context that Interrupt ends, until end is called.
func (c *Chat) withCancel(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel, c.canceled = cancel, false
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel = nil
		cancel(nil)
	}
}

// Turn gives the agent a prompt and shows what happens until it answers, or has
// to stop. Without a prompt it continues the session. The result is nil if the
// user canceled the turn.
func (c *Chat) Turn(ctx context.Context, prompt string) (*agent.Result, error) {
	ctx, end := c.withCancel(ctx)
	defer end()
	defer c.lines.Echo(false)()                       // what is typed meanwhile is not part of the text
	if limit := c.opts.Agent.Limits.Time; limit > 0 { // of both runs, and of the questions between them
		limited, stop := context.WithTimeoutCause(ctx, limit, agent.ErrTime)
		defer stop()
		ctx = limited
	}
	var parts []model.Part
	if prompt != "" {
		parts = []model.Part{{Type: model.TypeText, Text: prompt}}
	}
	result, err := c.run(ctx, parts)
	for err == nil && result.Stop == agent.StopApproval && c.approver.canDecide() {
		if err = c.decideWaiting(ctx, result.Waiting); err == nil || errors.Is(context.Cause(ctx), agent.ErrTime) {
			result, err = c.run(ctx, nil)
		}
	}
	switch {
	case errors.Is(err, errCanceled):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return result, nil
}

// decideWaiting decides about calls that waited for it.
func (c *Chat) decideWaiting(ctx context.Context, calls []*agent.Request) error {
	for _, call := range calls {
		d, err := c.approver.decide(ctx, call)
		if err != nil {
			return err
		}
		d.Binding = call.Binding
		if err := c.opts.Session.Decide(d); err != nil {
			return err
		}
	}
	return nil
}

// newAgent returns an agent with the current model.
func (c *Chat) newAgent() *agent.Agent {
	o := c.opts.Agent
	o.Approve = c.approver.decide
	switch {
	case c.opts.Rule == Ask && c.approver.ask != nil:
		o.Caller = questioner{watcher{c}}
	case c.json == nil && c.view.isSeen():
		o.Caller = watcher{c}
	}
	return agent.New(c.opts.Model, c.opts.Tools, &o)
}

// run is one run of the agent.
func (c *Chat) run(ctx context.Context, prompt []model.Part) (*agent.Result, error) {
	if c.json == nil {
		c.view.begin()
		defer c.view.endTurn()
	}
	var result *agent.Result
	for event, err := range c.newAgent().Run(ctx, c.opts.Session, prompt...) {
		if err == nil {
			err = c.show(ctx, event)
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, err
		}
		if event.Type == agent.EventEnd {
			result = event.End
		}
	}
	return result, nil
}

// show shows an event once no question is open.
func (c *Chat) show(ctx context.Context, e *agent.Event) error {
	done, err := c.takeTurn(ctx)
	if err == nil {
		defer done()
	} // otherwise the turn has ended, and this is its end
	if e.Type == agent.EventEnd && e.End.Stop == agent.StopApproval && c.approver.canDecide() {
		return nil // the run continues
	}
	if c.json != nil {
		return c.json.Event(e)
	}
	return c.view.Event(e)
}

// window returns how many tokens the model reads at most, 0 if that is unknown.
func (c *Chat) window() int {
	o := c.opts.Model.Origin()
	prices := c.opts.Agent.Prices
	if prices == nil {
		prices = usage.Default()
	}
	if p := prices.Find(o.Provider, o.Model); c.opts.Agent.Window == 0 && p != nil {
		return p.Context
	}
	return c.opts.Agent.Window
}

// Watch returns what takes the output of the call of ctx while it runs: the last lines are
// shown.
func (c *Chat) Watch(ctx context.Context) io.Writer {
	return c.view.watch(toolpost.CallFrom(ctx).ID)
}
