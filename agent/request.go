package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

func (r *run) newRequest() *model.Request {
	o := &r.agent.opts
	now := r.session.snapshot()
	return &model.Request{System: o.System, Messages: slices.Clone(now.messages), Tools: r.tools, Output: o.Answer,
		MaxTokens: o.MaxTokens, Effort: o.Effort, CacheKey: now.id}
}

// emitDelta yields a delta, unless it belongs to a summary, which is not for the
// user.
func (r *run) emitDelta(q *model.Request, d *model.Delta) error {
	if q.NoCalls {
		return nil
	}
	return r.emit(&Event{Type: EventDelta, Delta: d})
}

// request sends a request to the model, and yields its deltas. Purpose is the
// beginning of the name for Options.Step.
func (r *run) request(ctx context.Context, purpose string, q *model.Request) (*model.Response, error) {
	step := r.agent.opts.Step
	if step == nil {
		response, err := r.stream(ctx, q)
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		return response, nil
	}
	ran := false
	raw, err := step(ctx, fmt.Sprintf("%s %d", purpose, r.session.snapshot().requests), func(ctx context.Context) (json.RawMessage, error) {
		ran = true
		response, err := r.stream(ctx, q)
		if err != nil {
			return nil, err
		}
		return json.Marshal(storedResponse{response, r.attempts})
	})
	if err != nil {
		return nil, err
	}
	var kept storedResponse
	if err := json.Unmarshal(raw, &kept); err != nil || kept.Response == nil || kept.Message == nil {
		return nil, fmt.Errorf("decode the stored response %.100q: %w", raw, cmp.Or(err, errors.New("it has no message")))
	}
	for _, attempt := range kept.Attempts {
		if !ran {
			if err := r.recordTokens(attempt); err != nil {
				return nil, err
			}
		}
	}
	return kept.Response, nil
}

// A storedResponse is a response in the form that Options.Step keeps.
type storedResponse struct {
	*model.Response
	Attempts []*record `json:"attempts,omitempty"` // that failed before
}

// stream yields the deltas of a response, and returns it. Attempts without a response
// are counted, as far as the provider has counted their tokens.
func (r *run) stream(ctx context.Context, q *model.Request) (response *model.Response, err error) {
	a := attempt{run: r}
	r.attempts = nil
	for delta, err := range r.agent.model.Stream(ctx, q) {
		switch {
		case err != nil:
			return nil, cmp.Or(a.recordFailure(), err)
		case delta == nil:
			continue
		case delta.Response != nil:
			response = delta.Response
		}
		shown, err := a.take(delta)
		if err == nil && shown {
			err = r.emitDelta(q, delta)
		}
		if err != nil {
			return nil, cmp.Or(a.recordFailure(), err)
		}
	}
	if response == nil || response.Message == nil {
		return nil, cmp.Or(a.recordFailure(), errors.New("the model's stream ended without a response"))
	}
	return response, nil
}

// An attempt is a request to a model that has no response yet.
type attempt struct {
	run    *run
	tokens usage.Tokens
	origin model.Origin
}

// take takes what a delta says about the attempt, and reports whether it has more.
func (a *attempt) take(d *model.Delta) (more bool, err error) {
	if d.Restart != nil {
		err = a.recordFailure()
	}
	a.origin = cmp.Or(d.Origin, a.run.agent.model.Origin())
	if d.Tokens != nil {
		a.tokens = *d.Tokens
	}
	switch {
	case d.Tokens != nil && d.Restart == nil:
		return false, err
	case d.Response != nil:
		a.tokens = usage.Tokens{} // those of the response count
		return false, err         // it is reported after its record
	}
	return true, err
}

// recordFailure records the tokens of an attempt that has failed.
func (a *attempt) recordFailure() error {
	t, o := a.tokens, a.origin
	if a.tokens = (usage.Tokens{}); t == a.tokens {
		return nil
	}
	e := &record{Type: recordAttempt, Origin: &o, Tokens: &t}
	a.run.attempts = append(a.run.attempts, e)
	return a.run.recordTokens(e)
}

func (r *run) reportLosses(response *model.Response) error {
	if len(response.Losses) == 0 {
		return nil
	}
	var all []string
	for _, l := range response.Losses {
		all = append(all, l.String())
	}
	return r.notice("the model did not receive the conversation as it is: %s", strings.Join(all, "; "))
}
