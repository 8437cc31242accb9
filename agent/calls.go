package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
)

const interruptedText = "The program ended while this tool ran, so its outcome is unknown: it may or may not have taken effect. Find out before you call it again."

func errorMessage(c *callState, format string, args ...any) *toolpost.ToolMessage {
	return toolpost.Failed.Resultf(format, args...).Message(c.call.ID)
}

// A planned call is one that will run.
type plannedCall struct {
	state   *callState
	call    *Request
	warning string // for the model, because it repeats the call
}

// answerCalls gives every open call a result, except for those that wait for a
// decision. It returns the run's result if the run ends.
func (r *run) answerCalls(ctx context.Context, batch []*callState) (*Result, error) {
	var plan []*plannedCall
	var waiting []*Request
	for _, c := range batch {
		if c.result != nil {
			continue
		}
		p, wait, err := r.plan(ctx, c)
		if err != nil {
			return nil, err
		}
		if wait != nil {
			waiting = append(waiting, wait)
		}
		if p != nil {
			plan = append(plan, p)
		}
	}
	if waiting == nil || !r.agent.opts.Hold {
		if err := r.execute(ctx, plan); err != nil {
			return nil, err
		}
	}
	if waiting != nil && !r.session.completed() {
		result, err := r.result(&record{Stop: StopApproval})
		if result != nil {
			result.Waiting = waiting
		}
		return result, err
	}
	return nil, nil
}

// plan decides what happens with a call: it runs, it waits for a decision, or
// it is answered at once.
func (r *run) plan(ctx context.Context, c *callState) (*plannedCall, *Request, error) {
	tool := r.tools.Lookup(c.call.Name)
	switch {
	case c.call.Invalid != "":
		return nil, nil, r.refuseRepeated(c, c.call.Invalid)
	case tool == nil:
		return nil, nil, r.refuseRepeated(c, fmt.Sprintf("There is no tool %q. Call one of the tools you were given.", c.call.Name))
	}
	call := r.bind(c, tool)
	if call.Interrupted && r.agent.opts.Approve == nil {
		if !repeatable(tool) {
			return nil, nil, r.refuse(c, "%s", interruptedText)
		}
		return &plannedCall{state: c, call: call}, nil, nil
	}
	d, err := r.decide(ctx, c, call)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case d.Wait:
		return nil, call, nil
	case d.Allow && d.Arguments != nil:
		edited := *call
		edited.Arguments = d.Arguments
		return &plannedCall{state: c, call: &edited, warning: d.Change()}, nil, nil
	case d.Allow:
		p := &plannedCall{state: c, call: call}
		if !tool.Policy.Polled {
			p.warning = r.repeats.count(c, readsOnly(tool))
		}
		return p, nil, nil
	}
	text := d.Denial()
	if call.Interrupted {
		text = interruptedText + d.reason()
	}
	return nil, nil, r.refuseRepeated(c, text)
}

// decide returns the decision about a call: the recorded one if it is about the same
// call, otherwise that of Options.Approve. Without an Approve, a call still waits
// if it waited before, or if the decision was about another form of it.
func (r *run) decide(ctx context.Context, c *callState, call *Request) (*Decision, error) {
	approve := r.agent.opts.Approve
	d := Decision{Wait: true}
	switch {
	case c.decision != nil && c.decision.Binding == call.Binding:
		return c.decision, nil
	case approve == nil && c.decision == nil:
		return &Decision{Allow: true}, nil
	case approve != nil:
		var err error
		if d, err = approve(ctx, call); err == nil {
			err = d.check()
		}
		if err != nil {
			return nil, fmt.Errorf("approve the call of %q: %w", call.Name, err)
		}
	}
	if d.Wait && r.agent.asTool {
		d = Decision{Reason: "it needs a decision that the user gives later; go on without it, and report that"}
	}
	d.Binding = call.Binding
	c.decision = &d
	return &d, r.session.append(&record{Type: recordDecision, Call: c.index, Decision: &d})
}

func readsOnly(t *toolpost.Tool) bool {
	return t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly
}

// repeatable reports whether the tool is read-only or idempotent, or continues a
// call that was interrupted.
func repeatable(t *toolpost.Tool) bool {
	return t.Policy.Resumable || readsOnly(t) || t.Annotations.Idempotent != nil && *t.Annotations.Idempotent
}

// execute runs the calls. Calls of sequential tools run alone: those before
// them have ended, and those after them have not begun.
func (r *run) execute(ctx context.Context, plan []*plannedCall) error {
	for len(plan) > 0 {
		n := 1
		if !plan[0].call.Tool.Policy.Sequential {
			for n < len(plan) && !plan[n].call.Tool.Policy.Sequential {
				n++
			}
		}
		if err := r.together(ctx, plan[:n]); err != nil {
			return err
		}
		if r.session.completed() {
			return nil
		}
		plan = plan[n:]
	}
	return nil
}

// together runs calls at the same time, and yields what happens to them.
func (r *run) together(ctx context.Context, plan []*plannedCall) error {
	if len(plan) == 1 {
		return r.alone(ctx, plan[0])
	}
	return r.parallel(ctx, plan)
}

// alone runs one call on the goroutine of the run. Most responses have one call, and
// another goroutine would grow a stack for each of them.
func (r *run) alone(ctx context.Context, p *plannedCall) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended error
	err := r.perform(ctx, p, func(e *Event) {
		if ended == nil {
			if ended = r.emit(e); ended != nil {
				cancel()
			}
		}
	})
	return cmp.Or(ended, err)
}

// parallel runs calls on goroutines of their own, and yields what happens to them.
func (r *run) parallel(ctx context.Context, plan []*plannedCall) error {
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan *Event)
	defer func() {
		cancel()
		for range events { // after a panic of the consumer
		}
	}()
	slots := make(chan struct{}, r.agent.opts.Parallel)
	errs := make([]error, len(plan))
	go func() {
		defer close(events)
		var running sync.WaitGroup
		for i, p := range plan { // in order, so that a single slot is one
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				errs[i] = r.perform(ctx, p, func(e *Event) { events <- e })
			})
		}
		running.Wait()
	}()
	var ended error
	for e := range events {
		if ended == nil {
			if ended = r.emit(e); ended != nil {
				cancel()
			}
		}
	}
	return cmp.Or(ended, errors.Join(errs...))
}

// perform runs one call. Its intent is recorded before, its result after.
func (r *run) perform(ctx context.Context, p *plannedCall, emit func(*Event)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := p.state
	intent := &record{Type: recordIntent, Call: c.index, Definition: r.definitionHash(p.call.Tool), Arguments: p.call.Arguments}
	if err := r.session.append(intent); err != nil {
		return err
	}
	emit(&Event{Type: EventCall, Call: p.call})
	if ctx.Err() != nil { // the consumer has left
		return context.Cause(ctx)
	}
	began := time.Now()
	inside := &frame{run: r, response: r.session.responses(), call: c.index}
	m, outcome, err := r.runTool(ctx, inside, c, p.call)
	if err != nil {
		return err
	}
	complete := outcome == toolpost.Done
	if complete && r.agent.opts.Answer != nil {
		if _, err := decodeAnswer(r.agent.opts.Answer, text(m)); err != nil {
			m, complete = errorMessage(c, "The answer is not what was asked for: %v\nCall the tool again with nothing but the JSON.", err), false
		}
	}
	if p.warning != "" && !complete { // what completes the run is the answer
		m = withNote(m, p.warning)
	}
	if err := r.session.append(&record{Type: recordResult, Call: c.index, Result: m, Complete: complete, Duration: time.Since(began)}); err != nil {
		return err
	}
	inside.removeFiles()
	emit(&Event{Type: EventResult, Call: p.call, Result: m})
	return nil
}

// refuseRepeated answers a call that the model may make again and again.
func (r *run) refuseRepeated(c *callState, text string) error {
	if warning := r.repeats.count(c, true); warning != "" {
		text += "\n\n" + warning
	}
	return r.refuse(c, "%s", text)
}

// refuse answers a call that does not run.
func (r *run) refuse(c *callState, format string, args ...any) error {
	m := errorMessage(c, format, args...)
	if err := r.session.append(&record{Type: recordResult, Call: c.index, Result: m}); err != nil {
		return err
	}
	return r.emit(&Event{Type: EventResult, Call: &Request{ID: c.call.ID, Name: c.call.Name, Arguments: c.call.Arguments}, Result: m})
}

// storedResult is a result in the form that Options.Step keeps.
type storedResult struct {
	Result  *toolpost.ToolMessage `json:"result"`
	Outcome toolpost.Outcome      `json:"outcome"`
	Spent   []*record             `json:"spent,omitempty"` // by agents inside the call
}

// runTool runs the tool. An error means that the run cannot go on.
func (r *run) runTool(ctx context.Context, inside *frame, c *callState, call *Request) (*toolpost.ToolMessage, toolpost.Outcome, error) {
	do := func(ctx context.Context) (*storedResult, error) {
		ctx = context.WithValue(ctx, frameKey{}, inside)
		result, err := r.tools.Call(ctx, &toolpost.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments,
			Session: r.session.ID(), Caller: r.agent.opts.Caller})
		switch {
		case err == nil:
			return &storedResult{Result: result.Message(call.ID), Outcome: result.Outcome()}, nil
		case ctx.Err() != nil:
			return &storedResult{Result: errorMessage(c, "The run was ended while this tool ran: it may or may not have taken effect."), Outcome: toolpost.Failed}, nil
		}
		return &storedResult{Result: toolpost.Failed.Resultf("%v", err).Message(call.ID), Outcome: toolpost.Retry}, nil
	}
	step := r.agent.opts.Step
	if step == nil {
		s, err := do(ctx)
		return s.Result, s.Outcome, err
	}
	now := r.session.snapshot()
	executed := false
	raw, err := step(ctx, fmt.Sprintf("call %d.%d.%d", now.responses, c.index, c.intents), func(ctx context.Context) (json.RawMessage, error) {
		executed = true
		s, err := do(ctx)
		if err != nil {
			return nil, err
		}
		s.Spent = inside.spent
		return json.Marshal(s)
	})
	if err != nil {
		return nil, 0, err
	}
	var s storedResult
	if err := json.Unmarshal(raw, &s); err != nil || s.Result == nil {
		return nil, 0, fmt.Errorf("decode the stored result of %q: %w", call.Name, cmp.Or(err, errors.New("there is none")))
	}
	if executed {
		return s.Result, s.Outcome, nil
	}
	s.Result.CallID = call.ID   // for a call without one, the first execution chose another
	for _, e := range s.Spent { // the agents inside the call do not run again
		e.Response, e.Call = inside.response, c.index
		if err := cmp.Or(r.session.append(e), r.spend(e)); err != nil {
			return nil, 0, err
		}
	}
	return s.Result, s.Outcome, nil
}

// complete ends the run. Calls that have not begun get a result too, so that
// the conversation can continue.
func (r *run) complete(now *state) (*Result, error) {
	for _, c := range now.batch {
		if c.result == nil {
			if err := r.refuse(c, "This call was not run: another call of the same message completed the run."); err != nil {
				return nil, err
			}
		}
	}
	return r.end(StopDone, text(now.completed.Result))
}

// text returns the text of a result.
func text(m *toolpost.ToolMessage) string {
	if m.Parts == nil {
		return m.Text
	}
	var all string
	for _, p := range m.Parts {
		all += p.Text
	}
	return all
}

// withNote returns m with a text at its end.
func withNote(m *toolpost.ToolMessage, note string) *toolpost.ToolMessage {
	noted := *m
	if m.Parts == nil {
		noted.Text = m.Text + "\n\n" + note
	} else {
		noted.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], toolpost.Part{Type: "text", Text: note})
	}
	return &noted
}
