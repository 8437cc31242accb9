// Package agent runs a model with tools until the task is done.
//
//	prompt ─▶ Session ─▶ Model.Stream ─▶ response ─▶ answer ─▶ Result
//	             ▲                          │
//	             └──── results ◀── Tools ◀─ calls ◀─ Approve
//
// Everything that happens is recorded in a [Session] before it is reported. A
// run that a crash ended continues with [Agent.Run] on the same session: what
// has finished is not done again.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

// An Agent is a model with tools and rules. It keeps no state of its runs, so
// it can run many sessions at the same time.
type Agent struct {
	model  model.Model
	tools  toolpost.Toolset
	opts   Options
	asTool bool // it runs inside a call, which must end: its own calls cannot wait for a decision

	set *atomic.Pointer[toolpost.Set] // the tools of the last run
}

// Options are the optional parts of an agent.
type Options struct {
	System    string         // the system prompt
	Answer    *schema.Schema // the answer is JSON of this schema; see DoAs
	MaxTokens int            // of one response
	Effort    string         // how much the model thinks, see model.Request

	Limits Limits

	// Approve decides about every call before it runs; nil allows all calls. It
	// is not called for two calls of a run at the same time.
	Approve func(ctx context.Context, call *Request) (Decision, error)

	// Key is a secret of the program or its user. A decision that a session file has
	// counts only if it was made with the same Key, so that a file of others cannot
	// bring decisions of its own. Without a Key, those in the file count.
	Key []byte

	// Hold lets all calls of a response wait if one of them waits for a
	// decision. Otherwise the others run.
	Hold bool

	Parallel int // how many calls run at the same time; 8 if 0

	Window       int             // the model's context in tokens; that of usage.Default if 0
	Trim         *output.Trimmer // replaces old outputs of tools by references; its Session is set by the run
	SummaryTools []string        // tools without arguments whose output a summary repeats; read_todos if nil

	Prices *usage.Prices // usage.Default() if nil

	// Retry determines how requests are sent again after temporary errors; nil means
	// the defaults of model.Retry. It is for a model that does not do so itself.
	Retry *model.RetryOptions

	// Step, if set, runs every request to the model and every call of a tool,
	// so that an engine for durable execution can store and replay its result.
	// Name is unique in the session. Do returns JSON; Step returns that of an
	// earlier execution or calls do.
	Step func(ctx context.Context, name string, do func(ctx context.Context) (json.RawMessage, error)) (json.RawMessage, error)

	Caller toolpost.Caller // answers questions of tools to the user; nil if they cannot be answered
}

// New returns an agent; tools may be nil. Tools that are for MCP Apps only are left out.
// After temporary errors of the model, requests are sent again; see Options.Retry.
func New(m model.Model, tools toolpost.Toolset, opts *Options) *Agent {
	a := &Agent{model: m, tools: tools, set: new(atomic.Pointer[toolpost.Set])}
	if opts != nil {
		a.opts = *opts
	}
	if !model.Retries(m) {
		a.model = model.Retry(m, a.opts.Retry)
	}
	if a.tools == nil {
		a.tools = toolpost.Tools(nil)
	}
	a.tools = toolpost.Filter(a.tools, func(t *toolpost.Tool) bool { return !wire.ForAppsOnly(t.Meta) })
	if a.opts.SummaryTools == nil {
		a.opts.SummaryTools = []string{"read_todos"}
	}
	a.opts.Parallel = cmp.Or(max(a.opts.Parallel, 0), 8)
	if a.opts.Prices == nil {
		a.opts.Prices = usage.Default()
	}
	return a
}

// list returns the tools as they are now. While they are the same, it returns the
// same set, so that a provider adapts the tools only once.
func (a *Agent) list(ctx context.Context) (*toolpost.Set, error) {
	set, err := toolpost.NewSet(ctx, a.tools)
	if err != nil {
		return nil, err
	}
	if last := a.set.Load(); last != nil {
		old, _ := last.Tools(ctx) // a Set does not fail
		if now, _ := set.Tools(ctx); slices.Equal(old, now) {
			return last, nil
		}
	}
	a.set.Store(set)
	return set, nil
}

// An Event is something that happened in a run. Except for a Delta, it is already
// recorded in the session.
type Event struct {
	Type     EventType
	Delta    *model.Delta          // EventDelta
	Response *model.Response       // EventResponse
	Call     *Request              // EventCall, EventResult
	Result   *toolpost.ToolMessage // EventResult: as the model receives it
	Text     string                // EventNotice: written for a person
	End      *Result               // EventEnd
}

// An EventType says what an Event is about, and which of its fields are set.
type EventType string

// The types of events.
const (
	EventDelta    EventType = "delta"    // a piece of the model's message
	EventResponse EventType = "response" // the model's whole message
	EventCall     EventType = "call"     // a tool call starts
	EventResult   EventType = "result"   // a tool call has ended, or did not begin: denied, unknown, invalid; calls that run in parallel end in any order
	EventNotice   EventType = "notice"   // a repeated request, a summary, a loss, a warning
	EventEnd      EventType = "end"      // the last event
)

// A Result is how a run ended.
type Result struct {
	Stop    StopReason      `json:"stop"`
	Text    string          `json:"text"`              // the answer
	Output  json.RawMessage `json:"output,omitempty"`  // the answer, if Options.Answer is set
	Waiting []*Request      `json:"waiting,omitempty"` // StopApproval: the calls to decide with Session.Decide
	Turns   int             `json:"turns"`             // responses of the model since the prompt
	Usage   *usage.Ledger   `json:"usage"`             // tokens, costs and calls since the prompt
}

// A StopReason is why a run ended.
type StopReason string

// The reasons why a run ended.
const (
	StopAnswer   StopReason = "answer"   // the model answered without calling tools
	StopDone     StopReason = "done"     // a tool completed the run
	StopApproval StopReason = "approval" // calls wait for a decision
	StopRefusal  StopReason = "refusal"  // the model refused to answer
	StopLength   StopReason = "length"   // the answer is longer than a response may be
	StopTurns    StopReason = "turns"    // Limits.Turns
	StopTokens   StopReason = "tokens"   // Limits.Tokens
	StopCost     StopReason = "cost"     // Limits.Cost
	StopCalls    StopReason = "calls"    // Limits.Calls
	StopTime     StopReason = "time"     // Limits.Time
	StopRepeat   StopReason = "repeat"   // the model repeated the same call
)

// A StopError is the error of [Agent.Do] for a run that ended without an answer.
type StopError struct{ Result *Result }

func (e *StopError) Error() string {
	text := stopTexts[e.Result.Stop]
	if text == "" {
		text = string(e.Result.Stop)
	}
	return "the run ended without an answer: " + text
}

// Run continues the session with a prompt, and yields what happens. Without a
// prompt it continues a run that was cancelled, that crashed, or that waited for
// a decision; see [Session.Unfinished]. The last event is EventEnd, unless there
// is an error. Ending the iteration cancels the run.
func (a *Agent) Run(ctx context.Context, s *Session, prompt ...model.Part) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		end, err := s.begin()
		if err != nil {
			yield(nil, fmt.Errorf("run agent: %w", err))
			return
		}
		defer end()
		ctx, cancel := a.opts.Limits.context(ctx)
		defer cancel()
		r := &run{agent: a, session: s, yield: yield}
		result, err := r.run(ctx, prompt)
		if err != nil && !r.ended && errors.Is(context.Cause(ctx), ErrTime) {
			result, err = r.end(StopTime, "")
		}
		switch {
		case errors.Is(err, errEnded):
		case err != nil:
			yield(nil, fmt.Errorf("run agent: %w", err))
		default:
			yield(&Event{Type: EventEnd, End: result}, nil)
		}
	}
}

// Do runs the agent and returns how the run ended. If it ended without an
// answer, the error is a [*StopError], and the result is there too.
func (a *Agent) Do(ctx context.Context, s *Session, prompt ...model.Part) (*Result, error) {
	var result *Result
	for event, err := range a.Run(ctx, s, prompt...) {
		if err != nil {
			return nil, err
		}
		if event.Type == EventEnd {
			result = event.End
		}
	}
	if result.Stop != StopAnswer && result.Stop != StopDone {
		return result, &StopError{result}
	}
	return result, nil
}

// DoAs runs the agent and decodes its answer. The answer's schema is that of T.
func DoAs[T any](ctx context.Context, a *Agent, s *Session, prompt ...model.Part) (answer T, result *Result, err error) {
	typed := *a
	if typed.opts.Answer, err = schema.ForInput[T](); err != nil {
		return answer, nil, fmt.Errorf("run agent: schema of the answer: %w", err)
	}
	if result, err = typed.Do(ctx, s, prompt...); err != nil {
		return answer, result, err
	}
	if err := json.Unmarshal(result.Output, &answer); err != nil {
		return answer, result, fmt.Errorf("run agent: decode the answer: %w", err)
	}
	return answer, result, nil
}
