package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

// errEnded reports that the consumer of the events has ended the iteration.
var errEnded = errors.New("the iteration ended")

// run is one run of an agent.
type run struct {
	agent     *Agent
	session   *Session
	tools     *toolpost.Set
	outer     *frame     // the call that this run is inside of, nil if there is none
	approving sync.Mutex // held while a person is asked about a call of an agent inside this run
	yield     func(*Event, error) bool
	repeats   repeats
	ended     bool      // the consumer of the events has ended the iteration
	asked     int       // how often in a row the answer had to be asked for again
	attempts  []*record // of the request that runs, that failed
	takeBack  bool      // the provider wants a refused turn to leave the conversation
	shrunk    bool      // the conversation was summarized because it was too long for the model
	lookups   lookups
}

// lookups caches the definition hashes and the price of one run.
type lookups struct {
	hashes sync.Map     // of definitions, by tool
	origin model.Origin // the model of price
	price  *usage.Price
}

func (r *run) emit(e *Event) error {
	if r.ended = r.ended || !r.yield(e, nil); r.ended {
		return errEnded
	}
	return nil
}

func (r *run) notice(format string, args ...any) error {
	return r.emit(&Event{Type: EventNotice, Text: fmt.Sprintf(format, args...)})
}

// run continues the session until an answer, a limit or an error.
func (r *run) run(ctx context.Context, prompt []model.Part) (_ *Result, err error) {
	ctx, leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if r.tools, err = r.agent.list(ctx); err != nil {
		return nil, err
	}
	if err := r.checkLimits(); err != nil {
		return nil, err
	}
	if err := r.prompt(ctx, prompt); err != nil {
		return nil, err
	}
	for {
		result, err := r.step(ctx)
		if result != nil || err != nil {
			return result, err
		}
	}
}

// prompt records what the user wrote, if it is something.
func (r *run) prompt(ctx context.Context, prompt []model.Part) error {
	if len(prompt) == 0 {
		return nil
	}
	if err := checkPrompt(prompt); err != nil {
		return err
	}
	if err := r.session.abandon(ctx); err != nil {
		return err
	}
	return r.session.append(&record{Type: recordPrompt, Message: &model.Message{Role: model.RoleUser, Parts: prompt}})
}

// checkPrompt refuses parts that no provider accepts from a user. In the session,
// they would end every later run.
func checkPrompt(prompt []model.Part) error {
	empty := true
	for i, p := range prompt {
		switch p.Type {
		case model.TypeText, model.TypeImage, model.TypeDocument:
			empty = empty && p.Type == model.TypeText && strings.TrimSpace(p.Text) == ""
		default:
			return fmt.Errorf("part %d of the prompt has the type %q; it must be %q, %q or %q", i, p.Type, model.TypeText, model.TypeImage, model.TypeDocument)
		}
	}
	if empty {
		return errors.New("the prompt has no text; give one, or call Run without a prompt to continue")
	}
	return nil
}

// step does what comes next: it runs the open calls, or asks the model.
func (r *run) step(ctx context.Context) (*Result, error) {
	now := r.session.snapshot()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case now.ended != nil && isFinal(now.ended.Stop):
		return r.result(now.ended)
	case now.completed != nil:
		return r.complete(&now)
	case now.batch != nil && wasCut(now.stop):
		return r.leaveCalls(&now)
	case now.batch != nil:
		return r.answerCalls(ctx, now.batch)
	case len(now.messages) == 0:
		return nil, errors.New("the session is empty; give a prompt")
	}
	if limit := r.exceededLimit(&now); limit != "" {
		return r.end(limit, "")
	}
	if err := r.checkCost(&now); err != nil {
		return nil, err
	}
	if last := now.messages[len(now.messages)-1]; last.Role == model.RoleAssistant && now.stop != model.StopPause {
		return r.finish(last, now.stop, "")
	}
	if err := r.makeRoom(ctx); err != nil {
		return nil, err
	}
	if after := r.session.snapshot(); after.requests > now.requests {
		if limit := r.exceededLimit(&after); limit != "" { // by the summary
			return r.end(limit, "")
		}
	}
	return r.ask(ctx)
}

// finish ends the run with the model's last message, of which no call runs.
func (r *run) finish(m *model.Message, stop model.StopReason, refusal string) (*Result, error) {
	switch stop {
	case model.StopRefusal:
		return r.endWithRefusal(cmp.Or(refusal, m.Text()))
	case model.StopLength:
		return r.end(StopLength, m.Text())
	}
	return r.answer(m)
}

// ask requests the model's next message and records it.
func (r *run) ask(ctx context.Context) (*Result, error) {
	response, err := r.request(ctx, "request", r.newRequest())
	var failed *model.Error
	if errors.As(err, &failed) && failed.Kind == model.KindTooLong {
		return nil, r.shrink(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	r.shrunk, r.takeBack = false, response.TakeBack
	if isEmpty(response.Message) {
		return r.withoutAnswer(response)
	}
	if err := r.recordResponse(response, response.Message); err != nil {
		return nil, err
	}
	if err := cmp.Or(r.reportLosses(response), r.emit(&Event{Type: EventResponse, Response: response})); err != nil {
		return nil, err
	}
	if len(response.Message.Calls()) > 0 || response.Stop == model.StopPause {
		r.asked = 0
		return nil, nil
	}
	return r.finish(response.Message, response.Stop, response.Refusal)
}

// isEmpty reports whether a message contains nothing but thinking, and parts of the
// types that do not count.
func isEmpty(m *model.Message, others ...model.PartType) bool {
	for _, p := range m.Parts {
		switch {
		case p.Type == model.TypeThinking, slices.Contains(others, p.Type):
		case p.Type != model.TypeText || strings.TrimSpace(p.Text) != "":
			return false
		}
	}
	return true
}

// withoutAnswer handles a response that is empty. It does not become part of the
// conversation: some providers would refuse it.
func (r *run) withoutAnswer(response *model.Response) (*Result, error) {
	if err := r.recordTokens(&record{Type: recordRetry, Origin: r.originOf(response), Tokens: &response.Usage}); err != nil {
		return nil, err
	}
	if response.Stop == model.StopRefusal || response.Stop == model.StopLength {
		return r.finish(response.Message, response.Stop, response.Refusal)
	}
	return r.askAgain("Your last message was empty. Continue with the task, or answer.")
}

// recordResponse records a message of the model. Calls without an id, or with the
// same one, which some compatible servers send, get ids of their own: otherwise
// no provider would accept the conversation again. Arguments that are not JSON
// cannot be recorded.
func (r *run) recordResponse(response *model.Response, m *model.Message) error {
	ids := map[string]bool{}
	for _, c := range m.Calls() {
		if c.ID == "" || ids[c.ID] {
			c.ID, c.Raw = "call_"+rand.Text(), nil
		}
		ids[c.ID] = true
		if len(c.Arguments) > 0 && !json.Valid(c.Arguments) {
			c.Invalid, c.Arguments = cmp.Or(c.Invalid, "The arguments are not valid JSON. Call the tool again with a JSON object."), nil
		}
	}
	return r.recordTokens(&record{Type: recordResponse, Message: m, Origin: r.originOf(response), Stop: StopReason(response.Stop), Text: response.Refusal, TakeBack: response.TakeBack, Tokens: &response.Usage})
}

// originOf returns the model that wrote a response.
func (r *run) originOf(response *model.Response) *model.Origin {
	origin := cmp.Or(response.Origin, r.agent.model.Origin())
	for _, p := range response.Message.Parts {
		if p.Origin != nil {
			origin = *p.Origin
		}
	}
	return &origin
}

// recordTokens records what a request used, also in the runs that this one is
// inside of.
func (r *run) recordTokens(e *record) error {
	e.Cost = r.cost(*e.Origin, *e.Tokens)
	if err := r.session.append(e); err != nil {
		return err
	}
	return r.spend(e)
}

// answer ends the run with a message, if it is what was asked for.
func (r *run) answer(m *model.Message) (*Result, error) {
	if isEmpty(m, model.TypeOpaque) {
		return r.askAgain("Your last message has no text. Continue with the task, or answer.")
	}
	if r.agent.opts.Answer == nil {
		return r.end(StopAnswer, m.Text())
	}
	if _, err := decodeAnswer(r.agent.opts.Answer, m.Text()); err != nil {
		return r.askAgain(fmt.Sprintf("Your answer is not what was asked for: %v\nAnswer again, with nothing but the JSON.", err))
	}
	return r.end(StopAnswer, m.Text())
}

// askAgain has the model answer again.
func (r *run) askAgain(why string) (*Result, error) {
	const tries = 3
	if r.asked++; r.asked >= tries {
		return nil, fmt.Errorf("the model did not answer properly after %d tries: %s", tries, why)
	}
	note := model.UserText(why)
	note.Parts[0].Name = summaryName
	if err := r.session.append(&record{Type: recordNote, Message: note}); err != nil {
		return nil, err
	}
	return nil, r.notice("the model is asked again: %s", why)
}

// decodeAnswer returns the JSON of an answer, which some models put into a
// Markdown fence.
func decodeAnswer(s *schema.Schema, text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if inner, fenced := strings.CutPrefix(text, "```"); fenced {
		inner = strings.TrimPrefix(inner, "json")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
	}
	return s.ValidateInput([]byte(text))
}

// end records that the run has ended.
func (r *run) end(stop StopReason, text string) (*Result, error) {
	e := &record{Type: recordEnd, Stop: stop, Text: text}
	if err := r.session.append(e); err != nil {
		return nil, err
	}
	return r.result(e)
}

func (r *run) result(e *record) (*Result, error) {
	now := r.session.snapshot()
	result := &Result{Stop: e.Stop, Text: e.Text, Turns: now.turns, Usage: now.total()}
	if out := r.agent.opts.Answer; out != nil && (e.Stop == StopAnswer || e.Stop == StopDone) {
		var err error
		if result.Output, err = decodeAnswer(out, e.Text); err != nil {
			return nil, fmt.Errorf("the answer is not what was asked for: %w", err)
		}
	}
	return result, nil
}

// isFinal reports whether a run that ended for this reason stays ended without
// a new prompt. Limits are checked again.
func isFinal(stop StopReason) bool {
	return stop == StopAnswer || stop == StopDone || stop == StopRefusal || stop == StopLength
}
