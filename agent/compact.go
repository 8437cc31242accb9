package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

const (
	fullPercent = 80 // of the window: then old messages are summarized
	tailPercent = 20 // of the window: the newest messages, which remain

	mediaTokens = 1_500 // of an image or document, roughly

	summaryName = "summary" // the Name of texts in a user's message that the user did not write
)

const summaryPrompt = `The conversation is too long and will be replaced by your answer to this message. Write down everything that is needed to continue without it: the task and the user's wishes, decisions and their reasons, what was done and found (names, paths, values, references), what did not work, and what comes next. Do not call tools. Do not answer the task.`

// makeRoom replaces old outputs by references, and summarizes old messages if
// the conversation nearly fills the model's context.
func (r *run) makeRoom(ctx context.Context) error {
	if err := r.trim(ctx); err != nil {
		return err
	}
	window := r.window()
	if window == 0 {
		return nil // unknown: the model will refuse what is too long
	}
	now := r.session.snapshot()
	if r.tokens(&now) < window*fullPercent/100 {
		return nil
	}
	_, err := r.compact(ctx)
	if errors.Is(err, errNoSummary) { // there is room for some more turns
		return r.notice("the conversation nearly fills the model's context, and cannot be summarized: %v", err)
	}
	return err
}

// errNoSummary reports a model that answers a request for a summary with nothing
// or with calls.
var errNoSummary = errors.New("the model wrote no summary")

func (r *run) window() int {
	o := r.agent.model.Origin()
	if r.agent.opts.Window > 0 {
		return r.agent.opts.Window
	}
	if p := r.priceOf(o); p != nil {
		return p.Context
	}
	return 0
}

// tokens estimates the tokens of the conversation: those that the provider
// counted, and what followed.
func (r *run) tokens(now *state) int {
	if now.context == 0 {
		return estimate(now.messages)
	}
	last := len(now.messages)
	for last > 0 && now.messages[last-1].Role == model.RoleUser {
		last--
	}
	return now.context + estimate(now.messages[last:])
}

// estimate counts a token for every 3.5 bytes.
func estimate(messages []*model.Message) int {
	n := 0
	for _, m := range messages {
		for _, p := range m.Parts {
			n += (2*(len(p.Text)+len(p.Arguments)) + 6) / 7
			if len(p.Data) > 0 {
				n += mediaTokens
			}
			if p.Result == nil {
				continue
			}
			n += (2*len(p.Result.Text) + 6) / 7
			for _, part := range p.Result.Parts {
				n += (2*len(part.Text) + 6) / 7
				if len(part.Data) > 0 {
					n += mediaTokens
				}
			}
		}
	}
	return n
}

// trim replaces old outputs by references, see Options.Trim.
func (r *run) trim(ctx context.Context) error {
	if r.agent.opts.Trim == nil {
		return nil
	}
	now := r.session.snapshot()
	var results []*toolpost.ToolMessage
	var places []trimmedPart
	for i, m := range now.messages {
		for k, p := range m.Parts {
			if p.Result != nil {
				results = append(results, p.Result)
				places = append(places, trimmedPart{Message: i, Part: k})
			}
		}
	}
	outputs := *r.agent.opts.Trim
	outputs.Session = now.id
	var changed []trimmedPart
	for i, m := range outputs.Trim(ctx, results) {
		if m != results[i] {
			places[i].Result = m
			changed = append(changed, places[i])
		}
	}
	if changed == nil {
		return nil
	}
	if err := r.session.append(&record{Type: recordTrim, Trimmed: changed}); err != nil {
		return err
	}
	r.repeats.counts = nil // the model may read them again
	return r.notice("%d old outputs of tools are replaced by references", len(changed))
}

// shrink makes a conversation shorter that the model refuses as too long. Images and
// documents go first, if they are most of it; then comes a summary. If that was not
// enough, outputs lose their ends.
func (r *run) shrink(ctx context.Context, tooLong error) error {
	if dropped, err := r.dropMedia(); dropped > 0 || err != nil {
		return err
	}
	if !r.shrunk {
		r.shrunk = true
		if replaced, err := r.compact(ctx); replaced > 0 || err != nil {
			return err
		}
	}
	const most = 20_000
	now := r.session.snapshot()
	var changed []trimmedPart
	for i, m := range now.messages {
		for k, p := range m.Parts {
			if p.Result != nil && len(text(p.Result)) > most+1000 {
				short := withNote(beginning(p.Result, most), "[The rest does not fit into your context. Call the tool for a smaller part.]")
				changed = append(changed, trimmedPart{Message: i, Part: k, Result: short})
			}
		}
	}
	if changed == nil {
		return tooLong
	}
	if err := r.session.append(&record{Type: recordTrim, Trimmed: changed}); err != nil {
		return err
	}
	return r.notice("the ends of %d outputs of tools are removed, because the conversation is too long for the model", len(changed))
}

// beginning returns a result with the first bytes of its text only.
func beginning(m *toolpost.ToolMessage, most int) *toolpost.ToolMessage {
	return &toolpost.ToolMessage{CallID: m.CallID, IsError: m.IsError, OutputRef: m.OutputRef, Text: clip(text(m), most)}
}

// Compact has the model replace old messages of the session by a summary now,
// instead of when they nearly fill its context. It returns how many it replaced: 0 if
// nothing would be gained. The limits of the agent do not apply.
func (a *Agent) Compact(ctx context.Context, s *Session) (replaced int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("compact session: %w", err)
		}
	}()
	end, err := s.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	if s.snapshot().batch != nil {
		return 0, errOpenCalls
	}
	r := &run{agent: a, session: s, yield: func(*Event, error) bool { return true }}
	ctx, leave, err := r.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if r.tools, err = a.list(ctx); err != nil {
		return 0, err
	}
	return r.compact(ctx)
}

// errOpenCalls reports calls without results, which cannot be summarized.
var errOpenCalls = errors.New("calls have no results yet; continue the run first")

// compact replaces old messages by a summary that the model writes.
func (r *run) compact(ctx context.Context) (replaced int, err error) {
	now := r.session.snapshot()
	full := estimate(now.messages)
	until := splitIndex(now.messages, min(full, cmp.Or(r.window(), full))*tailPercent/100)
	if until < 2 {
		return 0, nil // nothing would be gained
	}
	old := now.messages[:until]
	response, err := r.summarize(ctx, old)
	if err == nil && ctx.Err() != nil {
		spent := &record{Type: recordRetry, Origin: r.originOf(response), Tokens: &response.Usage}
		err = cmp.Or(r.recordTokens(spent), context.Cause(ctx))
	}
	if err != nil {
		return 0, fmt.Errorf("summarize the conversation: %w", err)
	}
	summary := model.UserText("The conversation so far was replaced by this summary to make room.\n\n" + strings.TrimSpace(response.Message.Text()) +
		"\n\nThe user's messages follow, word for word.")
	summary.Parts = append(summary.Parts, prompts(old)...)
	if outputs := r.recall(ctx); outputs != "" {
		summary.Parts = append(summary.Parts, model.Part{Type: model.TypeText, Name: summaryName, Text: outputs})
	}
	summary.Parts[0].Name = summaryName
	if err := r.recordTokens(&record{Type: recordCompaction, Until: until, Messages: []*model.Message{summary}, Origin: r.originOf(response), Tokens: &response.Usage}); err != nil {
		return 0, err
	}
	r.repeats.counts = nil // the model has forgotten what it called
	return until, cmp.Or(r.reportLosses(response), r.notice("%d old messages are replaced by a summary", until))
}

// splitIndex returns how many messages to replace, so that about the given number of
// tokens remains. A call and its result are never separated, and the newest
// message remains.
func splitIndex(messages []*model.Message, tokens int) int {
	until := 0
	for i := len(messages) - 1; i > 0; i-- {
		if hasResults(messages[i]) {
			continue
		}
		if until > 0 && estimate(messages[i:]) > tokens {
			break
		}
		until = i
	}
	return until
}

func hasResults(m *model.Message) bool {
	for _, p := range m.Parts {
		if p.Type == model.TypeResult {
			return true
		}
	}
	return false
}

func (r *run) summarize(ctx context.Context, old []*model.Message) (*model.Response, error) {
	q := r.newRequest()
	q.Output, q.NoCalls = nil, true
	q.Messages = withInstruction(old)
	response, err := r.request(ctx, "summary", q)
	var failed *model.Error
	if errors.As(err, &failed) && failed.Kind == model.KindTooLong {
		if short := shortenOutputs(old); estimate(short) < estimate(old) {
			q.Messages = withInstruction(short)
			response, err = r.request(ctx, "short summary", q)
		}
	}
	if err == nil && strings.TrimSpace(response.Message.Text()) == "" {
		retry := &record{Type: recordRetry, Origin: r.originOf(response), Tokens: &response.Usage}
		return nil, cmp.Or(r.recordTokens(retry), errNoSummary)
	}
	return response, err
}

func withInstruction(old []*model.Message) []*model.Message {
	s := state{messages: append([]*model.Message(nil), old...)}
	s.add(model.UserText(summaryPrompt))
	return s.messages
}

// shortenOutputs returns the messages with the beginning of every output only.
func shortenOutputs(old []*model.Message) []*model.Message {
	const most = 400
	var all []*model.Message
	for _, m := range old {
		c := &model.Message{Role: m.Role, Parts: append([]model.Part(nil), m.Parts...)}
		for i, p := range c.Parts {
			if p.Result != nil {
				c.Parts[i].Result = beginning(p.Result, most)
			}
		}
		all = append(all, c)
	}
	return all
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// prompts returns what the user wrote, without the oldest texts if it is too
// much. Of the text that does not fit, the beginning remains; of an image or a
// document, a note.
func prompts(messages []*model.Message) []model.Part {
	const most = 8_000
	var all []model.Part
	size := 0
	for _, m := range slices.Backward(messages) {
		for _, p := range slices.Backward(m.Parts) {
			if m.Role == model.RoleUser && (p.Type == model.TypeImage || p.Type == model.TypeDocument) {
				p = model.Text(mediaNote(string(p.Type), p.Name, p.MIMEType))
			}
			if m.Role != model.RoleUser || p.Type != model.TypeText || p.Name == summaryName {
				continue
			}
			if p.Text = clip(p.Text, max(most-size, 0)); p.Text != "…" {
				all = append(all, p)
			}
			size += len(p.Text)
		}
	}
	slices.Reverse(all)
	return all
}

// recall returns the outputs of Options.SummaryTools, such as the list of todos.
func (r *run) recall(ctx context.Context) string {
	const most = 20_000 // bytes of one output
	var all string
	for _, name := range r.agent.opts.SummaryTools {
		tool := r.tools.Lookup(name)
		if tool == nil || !readsOnly(tool) {
			continue
		}
		m, err := r.recallOne(ctx, name)
		if err != nil || m.IsError {
			continue // the model can call it
		}
		if out := text(m); out != "" {
			all += "Output of " + name + ":\n\n" + clip(out, most) + "\n\n"
		}
	}
	return strings.TrimSpace(all)
}

// recallOne calls a tool for a summary.
func (r *run) recallOne(ctx context.Context, name string) (*toolpost.ToolMessage, error) {
	do := func(ctx context.Context) *toolpost.ToolMessage {
		result, err := r.tools.Call(ctx, &toolpost.Call{Name: name, Session: r.session.ID()})
		if err != nil {
			return toolpost.Failed.Resultf("%v", err).Message("")
		}
		return result.Message("")
	}
	step := r.agent.opts.Step
	if step == nil {
		return do(ctx), nil
	}
	raw, err := step(ctx, fmt.Sprintf("recall %d %s", r.session.snapshot().requests, name), func(ctx context.Context) (json.RawMessage, error) {
		m := do(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return json.Marshal(m)
	})
	if err != nil {
		return nil, err
	}
	m := new(toolpost.ToolMessage)
	return m, json.Unmarshal(raw, m)
}
