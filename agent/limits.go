package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// Limits end a run. They count from the last prompt and are checked before the next
// request to the model, so a run may exceed them by one response and its calls. Time
// counts from the call of Run, and ends what runs: a request, a wait before the next
// one, a call. 0 means no limit, except for Turns.
type Limits struct {
	Turns  int         // responses of the model; 200 if 0, no limit if negative
	Calls  int         // calls of tools
	Tokens int         // read and written, also from caches and in sub-agents
	Cost   usage.Money // in total; only for models whose price is known
	Time   time.Duration
}

const defaultTurns = 200

// ErrTime is the cause of a context that ends a run as Limits.Time does: with StopTime
// instead of an error.
var ErrTime = errors.New("the limit of time is reached")

// context returns the context of a run.
func (l *Limits) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, l.Time, ErrTime)
}

var stopTexts = map[StopReason]string{
	StopApproval: "calls of tools wait for a decision; decide them with Session.Decide and run again",
	StopRefusal:  "the model refused to answer",
	StopLength:   "the answer is longer than a response may be; set Options.MaxTokens higher",
	StopTurns:    "the limit of turns is reached; a new prompt continues",
	StopTokens:   "the limit of tokens is reached; a new prompt continues",
	StopCost:     "the limit of costs is reached; a new prompt continues",
	StopCalls:    "the limit of calls is reached; a new prompt continues",
	StopTime:     "the limit of time is reached; a new prompt continues",
	StopRepeat:   "the model repeated the same call without progress",
}

// priceOf returns the price of a model, nil if the model is unknown.
func (r *run) priceOf(o model.Origin) *usage.Price {
	if r.lookups.origin != o {
		r.lookups.origin, r.lookups.price = o, r.agent.opts.Prices.Find(o.Provider, o.Model)
	}
	return r.lookups.price
}

// cost returns what the tokens of a request cost, nil if that is unknown.
func (r *run) cost(o model.Origin, t usage.Tokens) *usage.Money {
	if cost, known := r.priceOf(o).Cost(t); known {
		return &cost
	}
	return nil
}

// checkLimits returns an error for a limit that cannot be enforced.
func (r *run) checkLimits() error {
	o := r.agent.model.Origin()
	if _, known := r.priceOf(o).Cost(usage.Tokens{Input: 1, Output: 1}); !known && r.limitsCost() {
		return errNoPrice(o.String())
	}
	l := r.agent.opts.Limits
	if l.Cost < 0 || l.Tokens < 0 || l.Calls < 0 || l.Time < 0 {
		return errors.New("a limit is negative; use 0 for no limit")
	}
	return nil
}

func errNoTokens(models string) error {
	return fmt.Errorf("the provider of %s did not say how many tokens a response has, so a limit of tokens or costs cannot end the run; limit the turns or the time", models)
}

func errNoPrice(model string) error {
	return fmt.Errorf("the price of %s is not known, so Limits.Cost cannot end the run; add the price to Options.Prices, or limit the tokens", model)
}

// limitsCost reports whether the cost of the run, or of a run that it is inside of,
// is limited.
func (r *run) limitsCost() bool {
	return r.agent.opts.Limits.Cost > 0 || r.outer != nil && r.outer.run.limitsCost()
}

// limitsTokens reports whether the tokens of the run, or of a run that it is inside
// of, are limited.
func (r *run) limitsTokens() bool {
	return r.agent.opts.Limits.Tokens > 0 || r.outer != nil && r.outer.run.limitsTokens()
}

// checkCost refuses to go on after a response that no limit can count: one of a model
// without a price, such as the second model of a fallback, or one without its tokens.
func (r *run) checkCost(now *state) error {
	switch {
	case now.used.Unmeasured > 0 && (r.limitsCost() || r.limitsTokens()):
		return errNoTokens(strings.Join(now.used.UnmeasuredModels(), ", "))
	case now.used.Unpriced == 0 || !r.limitsCost():
		return nil
	}
	return errNoPrice(strings.Join(now.used.UnpricedModels(), ", "))
}

// exceededLimit returns the stop reason of a limit that is reached, or "".
func (r *run) exceededLimit(now *state) StopReason {
	l := &r.agent.opts.Limits
	turns := l.Turns
	if turns == 0 {
		turns = defaultTurns
	}
	switch {
	case turns > 0 && now.turns >= turns:
		return StopTurns
	case l.Calls > 0 && now.total().Calls >= l.Calls:
		return StopCalls
	case r.repeats.stop:
		return StopRepeat
	}
	return r.spentLimit(now)
}

// spentLimit returns the stop reason of a limit that is reached, or "", of those that
// this run and the runs that it is inside of have in common.
func (r *run) spentLimit(now *state) StopReason {
	if l := &r.agent.opts.Limits; l.Tokens > 0 || l.Cost > 0 { // the sum is a copy of all counts
		used := now.total()
		switch {
		case l.Tokens > 0 && used.Tokens.Context() >= l.Tokens:
			return StopTokens
		case l.Cost > 0 && used.Cost >= l.Cost:
			return StopCost
		}
	}
	if r.outer == nil {
		return ""
	}
	outer := r.outer.run.session.snapshot()
	return r.outer.run.spentLimit(&outer)
}

// repeats counts how often the model makes the same call without another one
// in between that may have changed something.
type repeats struct {
	counts map[string]int
	stop   bool
}

const (
	repeatWarning = 3
	repeatStop    = 5
)

// count counts a call. It returns a warning for the model when there are too
// many. Calls of tools that only read do not make others worth repeating.
func (c *repeats) count(call *callState, reads bool) (warning string) {
	key := call.call.Name + " " + call.canonicalArguments()
	n := c.counts[key] + 1
	if !reads || c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[key] = n
	switch {
	case n >= repeatStop:
		c.stop = true
		return ""
	case n >= repeatWarning:
		return fmt.Sprintf("You made this call with the same arguments %d times. The result does not change unless something else does: try another way, or say what prevents you.", n)
	}
	return ""
}
