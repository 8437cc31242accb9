package claudecli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/usage"
)

// A turn reads one response. The CLI may need several requests to the API for
// it, for example if the structured output is invalid at first.
type turn struct {
	m     *Model
	c     *conversation
	yield func(*model.Delta, error) bool

	parts   []model.Part
	losses  provider.Losses
	tokens  usage.Tokens
	message *apiMessage // the one that arrives; nil between two
	id      string      // of the last message
	model   string
	size    int  // bytes of all messages
	heard   bool // the CLI has begun to answer

	trouble trouble
}

// A trouble is what the CLI reports about a failure before its result.
type trouble struct {
	message *message.Assistant // the CLI's own; may be nil
	limit   *message.RateLimit // the limit that is reached; nil for none
}

// run sends the input to a session and reads the response.
func (t *turn) run(ctx context.Context, s *session, in *input) error {
	t.losses = append(append(t.losses, t.c.tools.Losses()...), in.losses...)
	response, err := t.exchange(ctx, s, in)
	if err != nil {
		t.m.sessions.drop(s)
		return err
	}
	if t.waits(s, response) {
		s.said = append(append([]digest(nil), t.c.said...), digestOf(response.Message))
		t.m.sessions.keep(s)
	} else { // the CLI would go on in its own way
		t.m.sessions.drop(s)
	}
	return t.emit(&model.Delta{Response: response})
}

// waits reports whether the CLI waits for the next request after the response, and
// notes for which calls. It answers calls of tools that it does not have by itself; and
// of calls with the same id, none could be given its own result.
func (t *turn) waits(s *session, response *model.Response) bool {
	s.calls = nil
	ids := map[string]bool{}
	for _, call := range response.Message.Calls() {
		if ids[call.ID] {
			return false
		}
		if ids[call.ID] = true; t.c.tools.has(call) {
			s.calls = append(s.calls, call.ID)
		}
	}
	return response.Stop == model.StopEnd || response.Stop == model.StopCalls && len(s.calls) > 0
}

func (t *turn) exchange(ctx context.Context, s *session, in *input) (*model.Response, error) {
	s.desk.begin()
	if len(in.blocks) > 0 {
		prompt := &claude.Prompt{Blocks: in.blocks, Priority: "next"}
		if _, err := s.cli.SendPrompt(ctx, prompt); err != nil {
			return nil, err
		}
	}
	for _, a := range in.answers {
		s.desk.put(a.id, a.answer)
	}
	if t.c.request.NoCalls {
		s.desk.refuse()
	}
	for {
		response, err := t.read(ctx, s)
		bad := (*message.ParseError)(nil)
		if !errors.As(err, &bad) || isPartOfAnswer(bad) {
			return response, err
		}
		cmp.Or(t.m.opts.Logger, slog.Default()).Warn("skipped a malformed message", "error", err)
	}
}

// read reads messages up to the end of the response.
func (t *turn) read(ctx context.Context, s *session) (*model.Response, error) {
	for m, err := range s.cli.Messages(ctx) {
		if err != nil {
			return nil, err
		}
		response, err := t.take(m)
		if response != nil || err != nil {
			return response, err
		}
	}
	return nil, claude.ErrClosed
}

// isPartOfAnswer reports whether a line that cannot be read may be a part of the
// answer: without it, the rest is not what the model wrote.
func isPartOfAnswer(bad *message.ParseError) bool {
	return !json.Valid(bad.Line) || slices.Contains([]string{"assistant", "stream_event", "result"}, bad.Type)
}

// isUnanswered reports whether a session failed before it began to answer, so
// that another session can answer.
func (t *turn) isUnanswered(ctx context.Context, err error) bool {
	return err != nil && !t.heard && ctx.Err() == nil && !errors.Is(err, errLeft) && !t.m.sessions.isClosed()
}

// emit yields a delta.
func (t *turn) emit(d *model.Delta) error {
	if !t.yield(d, nil) {
		return errLeft
	}
	return nil
}

// take reads a message. It returns the response if it is complete.
func (t *turn) take(m message.Message) (*model.Response, error) {
	switch m := m.(type) {
	case *message.StreamEvent:
		if m.IsMain() {
			t.heard = true
			return t.event(m)
		}
	case *message.Assistant:
		if m.IsMain() {
			t.heard = true
			return t.frame(m)
		}
	case *message.APIRetry:
		t.heard = true
		return nil, t.restart(t.m.retryError(m))
	case *message.RateLimit:
		if m.Info.Status == "rejected" {
			t.trouble.limit = m
		}
	case *message.Result:
		if m.Origin == nil || m.Origin.Kind == "human" {
			t.heard = true
			return t.result(m)
		}
	}
	return nil, nil
}

// restart discards the message that arrives.
func (t *turn) restart(why *model.Error) error {
	t.discard()
	return t.emit(&model.Delta{Restart: why})
}

// discard discards the message that arrives. Its tokens, and those before, count as
// those of an attempt that failed.
func (t *turn) discard() {
	if t.message != nil {
		t.parts, t.message = t.parts[:t.message.first], nil
	}
	t.tokens = usage.Tokens{}
}

// result reads the end of the CLI's turn.
func (t *turn) result(r *message.Result) (*model.Response, error) {
	open := t.message
	if open != nil {
		t.count()
	}
	failed := r.IsError || r.Subtype != "success"
	if failed && (t.c.request.Output == nil || r.StructuredOutput == nil) {
		return nil, t.m.resultError(r, t.trouble)
	}
	if open != nil && hasCalls(t.parts[open.first:]) {
		return nil, t.earlyEndError()
	}
	text, only := t.finalText(r)
	if only {
		t.parts = removeText(t.parts)
	}
	if text != "" || len(t.parts) == 0 {
		origin := t.m.origin
		t.parts = append(t.parts, model.Part{Type: model.TypeText, Text: text, Origin: &origin})
		if err := t.emit(&model.Delta{Part: len(t.parts) - 1, Type: model.TypeText, Text: text}); err != nil {
			return nil, err
		}
	}
	return t.response(model.StopEnd), nil
}

// finalText returns the text that a result adds to the parts, and whether it takes
// the place of the other texts.
func (t *turn) finalText(r *message.Result) (text string, only bool) {
	switch {
	case t.c.request.Output == nil:
		if len(t.parts) == 0 && r.Result != nil {
			text = *r.Result
		}
		return text, false
	case r.StructuredOutput != nil:
		text = string(r.StructuredOutput)
	default:
		text = t.writtenOutput()
	}
	return text, text != ""
}

// writtenOutput returns the last text that is a structured output: a model may write it
// instead of calling the tool for it. It returns "" if there is none.
func (t *turn) writtenOutput() string {
	for _, p := range slices.Backward(t.parts) {
		if p.Type == model.TypeText && t.c.request.Output.Validate([]byte(p.Text)) == nil {
			return p.Text
		}
	}
	return ""
}

func removeText(parts []model.Part) (rest []model.Part) {
	for _, p := range parts {
		if p.Type != model.TypeText {
			rest = append(rest, p)
		}
	}
	return rest
}

func (t *turn) response(stop model.StopReason) *model.Response {
	return &model.Response{
		ID: t.id, Model: t.model, Stop: stop, Usage: t.tokens, Losses: t.losses,
		Message: &model.Message{Role: model.RoleAssistant, Parts: t.parts},
	}
}

// grow counts the bytes of a message and limits the response.
func (t *turn) grow(n int) error {
	if t.size += n; t.size <= provider.MaxResponse {
		return nil
	}
	return provider.ErrTooLarge
}
